"""What a file is written in, found out from its bytes alone."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucost.columns import HEADER
from gpucost.dialect import BadByte, Dialect, decode_text, sniff


def utf8(delimiter: str = ",", *ends: str, bom: bool = False) -> Dialect:
    return Dialect("utf-8", bom, delimiter, frozenset(ends))


@pytest.mark.parametrize(
    ("data", "dialect"),
    [
        (b"", utf8()),
        (b"a", utf8()),
        (b"a,b\n1;2;3;4,5\n", utf8(",", "\n")),
        (b"a;b;c\r\n1,5;2;3\r\n", utf8(";", "\r\n")),
        (b"a\tb,c\td\r", utf8("\t", "\r")),
        (b"a|b|c", utf8("|")),
        (b'"a;b;c",d\n', utf8(",", "\n")),
        (b"a;b,c\n", utf8(",", "\n")),
        (b"a,b\r\nc\rd\n", utf8(",", "\r\n", "\r", "\n")),
        (b"a,b\n\r", utf8(",", "\n", "\r")),
        (b"\xef\xbb\xbfa;b\n", utf8(";", "\n", bom=True)),
        ("é;b\n".encode(), utf8(";", "\n")),
    ],
)
def test_utf8(data: bytes, dialect: Dialect) -> None:
    assert sniff(data) == dialect


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_encodings_with_their_mark(encoding: str) -> None:
    dialect = sniff(("\ufeffa\tb\r\n" + "é€\t2\r\n" * 40).encode(encoding))
    assert dialect == Dialect(encoding, bom=True, delimiter="\t", line_ends=frozenset({"\r\n"}))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_shows_by_its_nul_bytes(encoding: str) -> None:
    text = HEADER.replace(",", "\t") + "\n"
    dialect = sniff(text.encode(encoding))
    assert dialect == Dialect(encoding, bom=False, delimiter="\t", line_ends=frozenset({"\n"}))
    assert decode_text(text.encode(encoding), dialect) == text


def test_some_nul_bytes_make_no_utf16() -> None:
    assert sniff(b"a\0b,c\0d\n" * 9).encoding == "utf-8"


@pytest.mark.parametrize(
    ("before", "line"),
    [(b"", 1), (b"a\nb\n", 3), (b"a\r\nb\r\n", 3), (b"a\rb\r", 3), (b"a\r\nb\rc\nd", 4), ("é\n".encode(), 2)],
)
def test_the_first_byte_that_is_not_utf8(before: bytes, line: int) -> None:
    dialect = sniff(before + b"cha\xeene \xe9\n")
    assert dialect.encoding == "cp1252"
    assert dialect.first_bad_byte == BadByte(len(before) + 3, line, 0xEE)


@pytest.mark.parametrize("shift", range(4))
def test_a_letter_across_two_slices_is_no_bad_byte(shift: int) -> None:
    head = b"a" * ((1 << 20) - shift)
    assert sniff(head + "€\n".encode()).first_bad_byte is None
    # Cut off: the first byte of the letter is the bad one, wherever the slices part it.
    assert sniff(head + "€".encode()[:2] + b"\n").first_bad_byte == BadByte(len(head), 1, 0xE2)


def test_a_letter_cut_off_at_the_end_is_a_bad_byte() -> None:
    assert sniff(b"a,b\n\xc3").first_bad_byte == BadByte(4, 2, 0xC3)


@pytest.mark.parametrize(
    ("data", "container"),
    [
        (b"PK\x03\x04\x14", "xlsx"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "xls"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"%PDF-1.7", "pdf"),
        (b"\xef\xbb\xbf\r\n<!DOCTYPE html><p>", "html"),
        (b"<HTML>", "html"),
        (b"PK,a", None),
        (b"experiment <html>", None),
    ],
)
def test_what_is_no_text_at_all(data: bytes, container: str | None) -> None:
    assert sniff(data).container == container


def test_the_text_comes_without_its_mark() -> None:
    for encoding in ("utf-8", "utf-16-le", "utf-32-be"):
        data = "\ufeffé,\ufeffb\n".encode(encoding)
        assert decode_text(data, sniff(data)) == "é,\ufeffb\n"
    assert decode_text(b"\xe9,\x80", sniff(b"\xe9,\x80")) == "é,€"


@given(st.one_of(st.binary(), st.sampled_from([codecs.BOM_UTF16_LE, codecs.BOM_UTF32_LE, b'"']).flatmap(
    lambda head: st.binary().map(lambda rest: head + rest)
)))  # fmt: skip
def test_no_bytes_make_it_raise(data: bytes) -> None:
    dialect = sniff(data)
    assert (dialect.first_bad_byte is not None) == (dialect.encoding == "cp1252")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_bad_byte_is_found_exactly_where_utf8_ends(text: str) -> None:
    data = "a" + text
    dialect = sniff(data.encode() + b"\xff")
    if dialect.encoding == "cp1252":
        assert dialect.first_bad_byte == BadByte(len(data.encode()), len(_lines(data)), 0xFF)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
