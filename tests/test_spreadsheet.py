"""Tables for a spreadsheet: no live formula, no changed number, and a French copy that converts back."""

import csv
import importlib.util
import io
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucost.columns import NAMES
from gpucost.language import translator
from gpucost.reader import RawFile, read_csv
from gpucost.spreadsheet import (
    DerivedCell,
    FrenchCopy,
    PrefixedCell,
    derived_csv,
    french_copy,
    neutralised,
    prefixed_cells,
    restored,
)
from tests.rows import csv_of, failed, loading, row

TRICKY = st.sampled_from("'=+-@ \t\r\n\";,1\uff1d\ufeff\u200b\u00a0")
TEXT = st.text(st.one_of(TRICKY, st.characters(exclude_categories=["Cs"])))


def cells(data: bytes, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter, strict=True))


# Derived tables


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "\ttext", "\rtext", "\ntext", "  =1", "\u00a0=1",
     "\u200b=1", "\ufeff=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20A", " \uff1d1", "-", "'=1", '"=1', "-1,5",
     "- relancé"],
)  # fmt: skip
def test_a_text_that_could_run_begins_with_an_apostrophe(text: str) -> None:
    assert neutralised(text) == f"'{text}"


@pytest.mark.parametrize(
    "text",
    ["", "0", "-5", "-0.25", "-6.7e-05", "2026-09-24", "a=b", "a - b", "user@host", "'quoted'", "12,5 °C; VRAI"],
)  # fmt: skip
def test_other_texts_and_plain_numbers_stay(text: str) -> None:
    assert neutralised(text) == text


def test_what_another_separator_would_cut_off_is_neutralised_too() -> None:
    assert neutralised("a;=B1") == "a;'=B1"
    assert neutralised("\t=1") == "'\t'=1"
    assert neutralised("a, -b\r\n@c\t+d") == "a,' -b\r\n'@c\t'+d"


@given(TEXT)
def test_every_text_comes_back_exactly(text: str) -> None:
    assert restored(neutralised(text)) == text


@given(TEXT, st.sampled_from([",", ";", "\t"]))
def test_no_cell_begins_a_formula_whatever_separator_is_expected(text: str, delimiter: str) -> None:
    data = derived_csv(["before", "text", "after"], [["a", text, "b"]])
    found = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter)
    begun = [cell for cut in found for cell in cut if cell.strip(' "\u00a0\u200b\ufeff')[:1] in tuple("=+-@\uff1d")]
    assert begun == [] or re.fullmatch(r"-[0-9.e-]+", text)


def test_numbers_are_written_as_they_are() -> None:
    row_of_numbers: list[DerivedCell] = [-5, 2**60, Decimal("-0.000067"), -1.5, None, True, False]
    data = derived_csv(list("abcdefg"), [row_of_numbers])
    assert data == b"\xef\xbb\xbfa,b,c,d,e,f,g\r\n-5,1152921504606846976,-0.000067,-1.5,,true,false\r\n"
    assert prefixed_cells(data) == ()


def test_reading_an_export_again_says_what_was_prefixed() -> None:
    data = derived_csv(["=head", "notes"], [["a", "=1+1"], ["-5", "plain"], ["'=x", "b;@c"]])
    assert cells(data) == [["'=head", "notes"], ["a", "'=1+1"], ["-5", "plain"], ["''=x", "b;'@c"]]
    assert prefixed_cells(data) == (
        PrefixedCell(0, "=head", "=head"),
        PrefixedCell(1, "notes", "=1+1"),
        PrefixedCell(3, "=head", "'=x"),
        PrefixedCell(3, "notes", "b;@c"),
    )


@given(st.lists(st.tuples(TEXT, TEXT), max_size=5))
def test_a_derived_table_holds_every_text_and_names_every_prefix(rows: list[tuple[str, str]]) -> None:
    data = derived_csv(["one", "two"], rows)
    assert [[restored(cell) for cell in found] for found in cells(data)[1:]] == [list(pair) for pair in rows]
    assert prefixed_cells(data) == tuple(
        PrefixedCell(number, name, text)
        for number, pair in enumerate(rows, 1)
        for name, text in zip(("one", "two"), pair, strict=True)
        if neutralised(text) != text
    )


# The French copy


def raw(*rows: dict[str, str]) -> RawFile:
    return read_csv("results.csv", csv_of(rows))


def copied(*rows: dict[str, str]) -> FrenchCopy:
    copy = french_copy(raw(*rows))
    if copy is None:
        pytest.fail("no copy was made")
    return copy


SAMPLE = (
    row(experiment_id="007", model_revision="model-1,5b", notes="température 12,5 °C; VRAI"),
    failed(run_index="2", notes='out of memory:\r\n"8 GiB", then 2\rlines'),
    loading(quality_threshold="0.90", elapsed_seconds="0.000067", peak_reserved_bytes="9007199254740993"),
)


def test_the_copy_is_what_a_french_spreadsheet_reads() -> None:
    copy = copied(*SAMPLE)
    assert copy.name == "results-fr-not-canonical.csv"
    assert copy.data.startswith(b"\xef\xbb\xbfexperiment_id;variant_id;")
    header, *rows = cells(copy.data, ";")
    assert header == list(NAMES)
    found = [dict(zip(NAMES, texts, strict=True)) for texts in rows]
    assert found[0] == {
        **SAMPLE[0], "ids_match": "VRAI", "format_valid": "VRAI", "corpus_accepted": "VRAI", "quality_threshold": "0,9",
        "quality_value": "0,912", "elapsed_seconds": "12,481",
    }  # fmt: skip
    assert (found[1]["ids_match"], found[1]["elapsed_seconds"]) == ("FAUX", "")
    assert (found[2]["quality_threshold"], found[2]["elapsed_seconds"]) == ("0,90", "0,000067")
    assert found[2]["peak_reserved_bytes"] == "9007199254740993"


def test_the_copy_names_what_a_double_click_would_alter() -> None:
    assert copied(*SAMPLE).fragile == (("experiment_id", "007"), ("peak_reserved_bytes", "9007199254740993"))


def test_spellings_are_canonical_in_the_copy() -> None:
    copy = copied(row(ids_match="True", batch="8.0", elapsed_seconds="6.7e-05"))
    found = dict(zip(NAMES, cells(copy.data, ";")[1], strict=True))
    assert (found["ids_match"], found["batch"], found["elapsed_seconds"]) == ("VRAI", "8", "0,000067")


def test_formulas_are_neutralised_in_the_copy_and_named() -> None:
    copy = copied(row(notes="=HYPERLINK(A1)", quality_tolerance="-0.5"), row(run_index="2"))
    assert copy.prefixed == (PrefixedCell(1, "notes", "=HYPERLINK(A1)"),)
    found = dict(zip(NAMES, cells(copy.data, ";")[1], strict=True))
    assert (found["notes"], found["quality_tolerance"]) == ("'=HYPERLINK(A1)", "-0,5")


@pytest.mark.parametrize("changes", [{"elapsed_seconds": "12,5"}, {"ids_match": "VRAI"}, {"notes": "a\0b"}])
def test_a_file_with_faults_gets_no_copy_that_would_hide_them(changes: dict[str, str]) -> None:
    assert french_copy(raw(row(**changes))) is None


def test_a_row_that_could_not_be_separated_gets_no_copy() -> None:
    assert french_copy(read_csv("results.csv", csv_of([row()]) + b"a,b\n")) is None


def test_a_file_without_rows_gives_a_header() -> None:
    assert cells(copied().data, ";") == [list(NAMES)]


def test_the_reader_refuses_the_copy_and_points_to_convert() -> None:
    copy = copied(*SAMPLE)
    read = read_csv(copy.name, copy.data)
    assert [(finding.rule.code, finding.line, finding.value) for finding in read.findings] == [
        ("file-delimiter", 1, "`;`"),
    ]  # fmt: skip
    assert "gpucost convert" in read.findings[0].remedy(translator("en"))
    assert read.rows == 0


@pytest.mark.skipif(
    importlib.util.find_spec("gpucost.conversion") is None, reason="the explicit conversion is not built yet"
)
def test_convert_gives_the_canonical_cells_back() -> None:
    from gpucost.conversion import convert

    rows = (*SAMPLE, row(run_index="3", notes="=HYPERLINK(A1)"), row(run_index="4", notes="'=x;-1"))
    copy = copied(*rows)
    back = convert(copy.name, copy.data).canonical
    if back is None:
        pytest.fail("the conversion refused the copy")
    assert cells(back) == cells(csv_of(rows))
