"""What a CSV is written in: encoding, separator, line ends. It is found out, and never repaired here.

`sniff` takes any bytes and never raises. Contract, section 2.
"""

import codecs
import csv
import io
from dataclasses import dataclass

DELIMITERS = (",", ";", "\t", "|")
_SLICE_BYTES = 1 << 20
_SIGNATURES = (
    (b"PK\x03\x04", "xlsx"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "xls"),
    (b"\x1f\x8b", "gzip"),
    (b"%PDF", "pdf"),
    (b"SQLite format 3", "sqlite"),
    (b"PAR1", "parquet"),
)
_HTML = (b"<!doctype html", b"<html")
_BOMS = (
    # UTF-32 first: its little-endian mark begins like that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class BadByte:
    """The first byte that is not UTF-8: its offset from 0, the physical line it stands on, and its value."""

    offset: int
    line: int
    value: int


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file is written. `container` is set where the bytes are no text at all (a workbook, an archive).

    `encoding` is `cp1252` where the bytes are not valid UTF-8 and nothing better is known: the likely one, not a
    certain one. `line_ends` are those that occur anywhere, in quoted cells too, a lone CR told from CRLF.
    """

    encoding: str
    bom: bool
    delimiter: str
    line_ends: frozenset[str]
    container: str | None = None
    first_bad_byte: BadByte | None = None


def sniff(data: bytes) -> Dialect:
    """How some bytes are written."""
    if container := _container(data):
        return Dialect("binary", bom=False, delimiter=",", line_ends=frozenset(), container=container)
    encoding, bom = _marked_encoding(data)
    bad = _first_bad_byte(data) if encoding == "utf-8" else None
    if bad is not None:
        encoding = "cp1252"
    return Dialect(encoding, bom, _delimiter(data, encoding), _line_ends(data, encoding), None, bad)


def decode_text(data: bytes, dialect: Dialect) -> str:
    """The text of a file without its byte order mark. Raises UnicodeDecodeError where the encoding does not fit."""
    return data.decode(dialect.encoding).removeprefix("\ufeff")


def _container(data: bytes) -> str | None:
    """What the first bytes say the file is, where it is no CSV: a saved page of a login is a common one."""
    if data[:256].lstrip(codecs.BOM_UTF8 + b" \t\r\n").lower().startswith(_HTML):
        return "html"
    return next((container for signature, container in _SIGNATURES if data.startswith(signature)), None)


def _marked_encoding(data: bytes) -> tuple[str, bool]:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding, True
    head = data[:64]
    if len(head) >= 4:
        # Latin text in UTF-16 has a NUL at every second byte.
        if head[1::2].count(0) > len(head) // 3 and not any(byte == 0 for byte in head[0::2]):
            return "utf-16-le", False
        if head[0::2].count(0) > len(head) // 3 and not any(byte == 0 for byte in head[1::2]):
            return "utf-16-be", False
    return "utf-8", False


def _first_bad_byte(data: bytes) -> BadByte | None:
    if data.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _SLICE_BYTES):
        pending = len(decoder.getstate()[0])
        piece = data[start : start + _SLICE_BYTES]
        try:
            decoder.decode(piece, final=start + _SLICE_BYTES >= len(data))
        except UnicodeDecodeError as error:
            offset = start - pending + error.start
            return BadByte(offset, _line_of(data, offset), data[offset])
    return None


def _line_of(data: bytes, offset: int) -> int:
    before = data[:offset]
    return before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n") + 1


def _delimiter(data: bytes, encoding: str) -> str:
    """The separator that splits the first line into the most cells; a comma where none splits it."""
    text = data[:65_536].decode(encoding, "replace").removeprefix("\ufeff")
    first = next(iter(io.StringIO(text, newline="")), "")
    return max(DELIMITERS, key=lambda mark: (_cells(first, mark), mark == ","))


def _cells(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return line.count(delimiter) + 1


def _line_ends(data: bytes, encoding: str) -> frozenset[str]:
    if encoding.startswith(("utf-16", "utf-32")):
        data = data.decode(encoding, "replace").encode()
    returns = data.count(b"\r")
    pairs = data.count(b"\r\n") if returns else 0
    newlines = data.count(b"\n")
    alone = {"\r\n": pairs, "\r": returns - pairs, "\n": newlines - pairs}
    return frozenset(end for end, count in alone.items() if count > 0)
