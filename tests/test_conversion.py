"""The explicit conversion: every changed cell is listed, and what it would have to invent is refused."""

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpucost.cells import CellType
from gpucost.columns import BY_NAME, COLUMNS, HEADER, NAMES
from gpucost.conversion import Change, Conversion, convert
from gpucost.language import translator
from gpucost.reader import write_csv
from tests.rows import csv_of, failed, row

EN = translator("en")
FRENCH_NUMBERS = {"quality_threshold": "0,9", "quality_value": "0,912", "elapsed_seconds": "12,481"}
FRENCH = {**FRENCH_NUMBERS, "ids_match": "VRAI", "format_valid": "VRAI", "corpus_accepted": "VRAI"}


def written(*rows: Mapping[str, str], delimiter: str = ";", end: str = "\r\n") -> str:
    """Rows as a spreadsheet writes them."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(NAMES)
    writer.writerows([cells[name] for name in NAMES] for cells in rows)
    return out.getvalue()


def converted(text: str | bytes, name: str = "export.csv") -> Conversion:
    return convert(name, text.encode() if isinstance(text, str) else text)


def cells(data: bytes | None) -> list[dict[str, str]]:
    """The rows of a canonical file, which must be there."""
    if data is None:
        pytest.fail("nothing was written")
    return list(csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True))


def remarks(conversion: Conversion) -> list[str]:
    return [remark.render(EN) for remark in conversion.remarks]


def refused(conversion: Conversion) -> list[tuple[str, int | None, int | None, str | None, str | None]]:
    """Every refusal: code, row, line, column, value. Nothing is written beside one."""
    if conversion.refused and conversion.canonical is not None:
        pytest.fail("something was refused, and a file was written")
    return [(found.rule.code, found.row, found.line, found.column, found.value) for found in conversion.refused]


def respelled(column: str, text: str, *, others: Mapping[str, str] | None = None, delimiter: str = ",") -> str:
    """What one cell becomes, among others that are canonical unless said; a refusal as its code."""
    conversion = converted(written(row(**{**(others or {}), column: text}), delimiter=delimiter))
    if codes := [found.rule.code for found in conversion.refused if found.column == column]:
        return f"refused: {', '.join(codes)}"
    return cells(conversion.canonical)[0][column]


# A French spreadsheet's export


def test_every_change_of_a_french_export_is_listed() -> None:
    export = "\ufeff" + written(
        row(**FRENCH, peak_reserved_bytes="3\u202f758\u202f096\u202f384", model_revision="model-1,5b"),
        failed(ids_match="FAUX", corpus_accepted="FAUX", quality_threshold="0,90", notes="12,5 °C; VRAI\r\n1 000"),
    )
    conversion = converted(export)
    assert conversion.changes == (
        Change(1, 2, "ids_match", "VRAI", "true"),
        Change(1, 2, "format_valid", "VRAI", "true"),
        Change(1, 2, "quality_threshold", "0,9", "0.9"),
        Change(1, 2, "quality_value", "0,912", "0.912"),
        Change(1, 2, "corpus_accepted", "VRAI", "true"),
        Change(1, 2, "elapsed_seconds", "12,481", "12.481"),
        Change(1, 2, "peak_reserved_bytes", "3\u202f758\u202f096\u202f384", "3758096384"),
        Change(2, 3, "ids_match", "FAUX", "false"),
        Change(2, 3, "quality_threshold", "0,90", "0.90"),
        Change(2, 3, "corpus_accepted", "FAUX", "false"),
    )
    assert remarks(conversion) == [
        "The byte order mark (U+FEFF) at the beginning is left out",
        "Separator: `;` becomes a comma",
    ]
    assert conversion.canonical == csv_of([
        row(peak_reserved_bytes="3758096384", model_revision="model-1,5b"),
        failed(quality_threshold="0.90", notes="12,5 °C; VRAI\r\n1 000"),
    ])  # fmt: skip
    assert (conversion.rows, conversion.refused, conversion.unchanged) == (2, (), False)
    assert conversion.sha256 == hashlib.sha256(export.encode()).hexdigest()


def test_the_json_object() -> None:
    accepted = converted(written(row(**FRENCH_NUMBERS))).to_json(EN)
    assert accepted["changes"][0] == {
        "row": 1, "line": 2, "column": "quality_threshold", "before": "0,9", "after": "0.9",
    }  # fmt: skip
    assert (accepted["refused"], accepted["file"]) == ([], ["Separator: `;` becomes a comma"])
    doubtful = converted(written(row(elapsed_seconds="1,234"), delimiter=",")).to_json(EN)
    assert doubtful["refused"] == [
        {
            "row": 1, "line": 2, "column": "elapsed_seconds", "value": "1,234", "code": "conversion-ambiguous",
            "message": "`elapsed_seconds` holds 1,234: 1.234 or 1234? The rest of the file does not tell which.",
            "remedy": "Write this number again from its source, with a decimal point and no separator between"
            " thousands, in a file whose other decimals have a point too.",
            "section": "4",
        }
    ]  # fmt: skip


# A canonical file


@pytest.mark.parametrize(
    "data",
    [
        csv_of([]),
        HEADER.encode(),
        csv_of([row(), failed()]),
        csv_of([row(), failed()]).replace(b"\n", b"\r\n"),
        csv_of([row(notes="one\rtwo\r\nthree")]),
        ('"' + HEADER.replace(",", '","') + '"\n').encode(),
        csv_of([row(experiment_id="NA", variant_id="null", model_revision="5e310427", notes="'=A1")]),
        csv_of([row(elapsed_seconds="0.30000000000000004", quality_value="0.9120", notes=" é ")]),
        csv_of([row(duration_days="31", elapsed_seconds="-1", batch="-8", quality_value="nan")]),
    ],
)
def test_a_canonical_file_passes_byte_for_byte(data: bytes) -> None:
    conversion = converted(data)
    assert conversion.unchanged
    assert conversion.canonical is data


_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0,;\t|"), max_size=12)
_DIGITS = st.integers(0, 2**70).map(str)
_DECIMALS = st.decimals(0, 10**6, places=4).map(str)
_STRATEGIES = {
    CellType.IDENTIFIER: _TEXTS,
    CellType.TEXT: _TEXTS,
    CellType.INTEGER: st.one_of(st.just(""), _DIGITS),
    CellType.DECIMAL: st.one_of(st.just(""), _DECIMALS, _DIGITS),
    CellType.BOOLEAN: st.sampled_from(["", "true", "false"]),
}
_ROWS = st.lists(st.tuples(*(_STRATEGIES[column.cell_type] for column in COLUMNS)), max_size=3)


def in_french(name: str, text: str, space: str) -> str:
    """A canonical cell as a French spreadsheet shows it."""
    kind = BY_NAME[name].cell_type
    if kind is CellType.BOOLEAN:
        return {"true": "VRAI", "false": "FAUX", "": ""}[text]
    if kind is CellType.INTEGER and text:
        return f"{int(text):,}".replace(",", space)
    return text.replace(".", ",") if kind is CellType.DECIMAL else text


@settings(max_examples=60, deadline=None)
@given(_ROWS)
def test_canonical_rows_are_never_changed(rows: list[tuple[str, ...]]) -> None:
    data = write_csv(rows)
    assert converted(data).canonical is data


@settings(max_examples=60, deadline=None)
@given(
    _ROWS,
    st.sampled_from([";", "\t"]),
    st.sampled_from([" ", "\u00a0", "\u202f"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_the_cells_come_back_from_french(
    rows: list[tuple[str, ...]], delimiter: str, space: str, encoding: str
) -> None:
    french = [{name: in_french(name, text, space) for name, text in zip(NAMES, cells, strict=True)} for cells in rows]
    conversion = converted(written(*french, delimiter=delimiter).encode(encoding))
    assert conversion.canonical == write_csv(rows)
    assert [(change.row, change.column, change.before, change.after) for change in conversion.changes] == [
        (number, name, before[name], text)
        for number, (before, cells) in enumerate(zip(french, rows, strict=True), 1)
        for name, text in zip(NAMES, cells, strict=True)
        if before[name] != text
    ]


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([b"", csv_of([row()]), HEADER.encode("utf-16"), b"\xff\xfe\x00\x00"]),
    st.one_of(st.binary(), st.text().map(lambda text: text.encode("utf-8", "surrogatepass"))),
)
def test_no_bytes_make_it_raise(head: bytes, rest: bytes) -> None:
    conversion = converted(head + rest)
    conversion.to_json(EN)
    assert (conversion.canonical is None) == bool(conversion.refused)
    if conversion.canonical is not None:
        assert converted(conversion.canonical).unchanged


# Spellings of one cell, each refusal beside what is nearest to it and is read


@pytest.mark.parametrize(
    ("column", "text", "after"),
    [
        ("ids_match", "vrai", "true"), ("ids_match", "Oui", "true"), ("ids_match", "YES", "true"),
        ("ids_match", "1", "true"), ("ids_match", "True", "true"), ("ids_match", "FAUX", "false"),
        ("ids_match", "non", "false"), ("ids_match", "No", "false"), ("ids_match", "0", "false"),
        ("ids_match", " VRAI\u00a0", "true"), ("ids_match", " ", ""),
        ("ids_match", "vra", "refused: cell-not-boolean"), ("ids_match", "1.0", "refused: cell-not-boolean"),
        ("ids_match", "2", "refused: cell-not-boolean"),
        ("batch", "1000.0", "1000"), ("batch", "1000.5", "refused: cell-not-integer"),
        ("batch", "1 000", "1000"), ("batch", "1\u00a0000\u202f000", "1000000"), ("batch", " 8 ", "8"),
        ("batch", "1 00", "refused: cell-not-integer"), ("batch", "1000 000", "refused: cell-not-integer"),
        ("batch", "0 123", "refused: cell-grouped-digits"), ("batch", "1_000", "refused: cell-grouped-digits"),
        ("batch", "1,000", "refused: conversion-ambiguous"), ("batch", "1,000,000", "refused: cell-grouped-digits"),
        ("batch", "1E+03", "refused: cell-digits-lost"), ("batch", "1e3", "refused: cell-digits-lost"),
        ("batch", "１０", "refused: cell-not-integer"), ("batch", "08", "8"), ("batch", "1.000", "1"),
        ("elapsed_seconds", "6.7e-05", "0.000067"), ("elapsed_seconds", "6.7E-05", "refused: cell-digits-lost"),
        ("elapsed_seconds", "1 234.5", "1234.5"), ("elapsed_seconds", "1,234.5", "refused: cell-grouped-digits"),
        ("elapsed_seconds", "1,234", "refused: conversion-ambiguous"), ("elapsed_seconds", "1.234", "1.234"),
        ("elapsed_seconds", "12,5", "refused: conversion-mixed-decimals"), ("elapsed_seconds", "12.5", "12.5"),
        ("elapsed_seconds", "12.5 s", "refused: cell-not-decimal"), ("elapsed_seconds", "inf", "inf"),
        ("elapsed_seconds", "-1.5", "-1.5"), ("elapsed_seconds", "9" * 401, "refused: cell-too-long"),
        ("package_total_usd_minor", "129 600", "129600"),
        ("package_total_usd_minor", "1296.00", "refused: cell-currency"),
        ("package_total_usd_minor", "129600.0", "refused: cell-currency"),
        ("package_total_usd_minor", "1 296 $", "refused: cell-currency"),
        ("model_revision", "7.20415E+15", "refused: cell-digits-lost"), ("model_revision", "7204E15", "7204E15"),
        ("variant_id", "1E+03", "refused: cell-digits-lost"), ("variant_id", "1 000", "1 000"),
        ("gpu_model", "VRAI", "VRAI"), ("notes", "1,5; 7.20415E+15; OUI", "1,5; 7.20415E+15; OUI"),
        ("notes", "half\0written", "refused: cell-nul"),
    ],
)  # fmt: skip
def test_a_cell_among_decimal_points(column: str, text: str, after: str) -> None:
    assert respelled(column, text) == after


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize(
    ("column", "text", "after"),
    [
        ("elapsed_seconds", "12,490", "12.490"), ("elapsed_seconds", "1,234", "1.234"),
        ("elapsed_seconds", "1.234", "refused: conversion-ambiguous"),
        ("elapsed_seconds", "1234.5", "refused: conversion-mixed-decimals"), ("elapsed_seconds", "1234", "1234"),
        ("elapsed_seconds", "1 234,5", "1234.5"), ("elapsed_seconds", "1.234,5", "refused: cell-grouped-digits"),
        ("elapsed_seconds", "1,234.5", "refused: cell-grouped-digits"),
        ("elapsed_seconds", "6,7e-05", "0.000067"), ("elapsed_seconds", "6,7E-05", "refused: cell-digits-lost"),
        ("batch", "1000,0", "1000"), ("batch", "1000,5", "refused: cell-not-integer"), ("batch", "1000.0", "1000"),
        ("batch", "1,000", "refused: conversion-ambiguous"), ("batch", "1.000", "refused: conversion-ambiguous"),
        ("batch", "1000,000", "1000"), ("batch", "1.000.000", "refused: cell-grouped-digits"),
        ("package_total_usd_minor", "1296,00", "refused: cell-currency"),
        ("package_total_usd_minor", "129\u202f600", "129600"),
        ("model_revision", "7,20415E+15", "refused: cell-digits-lost"), ("model_revision", "1,5b", "1,5b"),
    ],
)  # fmt: skip
def test_a_cell_among_decimal_commas(column: str, text: str, after: str, delimiter: str) -> None:
    assert respelled(column, text, others=FRENCH, delimiter=delimiter) == after


def test_decimal_points_between_semicolons_stay() -> None:
    conversion = converted(written(row()))
    assert (conversion.canonical, conversion.changes) == (csv_of([row()]), ())


def test_one_comma_among_decimal_points_is_refused_between_semicolons_too() -> None:
    export = written(row(), row(run_index="2", elapsed_seconds="1,234"), row(run_index="3", elapsed_seconds="12,5"))
    assert refused(converted(export)) == [
        ("conversion-ambiguous", 2, 3, "elapsed_seconds", "1,234"),
        ("conversion-mixed-decimals", 3, 4, "elapsed_seconds", "12,5"),
    ]


def test_as_many_points_as_commas_are_all_refused() -> None:
    export = written(row(quality_threshold="", quality_value="0.912", elapsed_seconds="12,48"))
    assert refused(converted(export)) == [
        ("conversion-mixed-decimals", 1, 2, "quality_value", "0.912"),
        ("conversion-mixed-decimals", 1, 2, "elapsed_seconds", "12,48"),
    ]


def test_quoted_decimal_commas_between_commas_need_a_proof() -> None:
    proven = converted(written(row(**FRENCH_NUMBERS), delimiter=","))
    assert proven.canonical == csv_of([row()])
    bare = row(quality_threshold="", quality_value="", elapsed_seconds="12,481")
    assert refused(converted(written(bare, delimiter=","))) == [
        ("conversion-ambiguous", 1, 2, "elapsed_seconds", "12,481"),
    ]  # fmt: skip
    assert cells(converted(written(bare)).canonical)[0]["elapsed_seconds"] == "12.481"


def test_everything_refused_is_listed_beside_what_would_change() -> None:
    export = written(
        row(**FRENCH_NUMBERS, ids_match="peut-être", batch="1E+03"),
        row(**FRENCH_NUMBERS, run_index="2", package_total_usd_minor="1296,00"),
    )
    conversion = converted(export)
    assert refused(conversion) == [
        ("cell-digits-lost", 1, 2, "batch", "1E+03"),
        ("cell-not-boolean", 1, 2, "ids_match", "peut-être"),
        ("cell-currency", 2, 3, "package_total_usd_minor", "1296,00"),
    ]
    assert [change.after for change in conversion.changes] == ["0.9", "0.912", "12.481"] * 2


# Files, headers and rows


def test_tabs_in_utf16_as_a_spreadsheet_saves_unicode_text() -> None:
    conversion = converted(written(row(**FRENCH, notes="été, à Liège"), delimiter="\t").encode("utf-16"))
    assert conversion.canonical == csv_of([row(notes="été, à Liège")])
    assert remarks(conversion) == [
        "Encoding: UTF-16-LE becomes UTF-8",
        "Separator: TAB (U+0009) becomes a comma",
    ]


def test_cp1252_is_read_and_said_to_be_likely_only() -> None:
    export = written(row(**FRENCH, batch="1\u00a0024", notes="chaîne « été » — 12 €"))
    conversion = converted(export.encode("cp1252"))
    assert conversion.canonical == csv_of([row(batch="1024", notes="chaîne « été » — 12 €")])
    encoding, separator = remarks(conversion)
    assert encoding.startswith(
        "Encoding: Windows-1252 (cp1252) becomes UTF-8. It is likely, not certain: 0xA0 on line 2"
    )
    assert encoding.endswith(" was read as in 3.0;CUDA 12.8;bf16;1⟨U+00A0⟩024;512;warm;1;2;10")
    assert separator == "Separator: `;` becomes a comma"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (written(row(notes="été")).encode() + b"\xe9", 3),
        (b"\xef\xbb\xbf" + written(row(notes="été")).encode("cp1252"), 2),
        (written(row(notes="café")).encode()[:-3], 2),
        (written(row(notes="été"), end="\r").encode("mac-roman"), 2),
        (written(row(notes="Ťava")).encode("cp1250"), 2),
        (written(row()).encode("utf-16")[:-3], 2),
    ],
)
def test_letters_that_cannot_be_told_are_refused(data: bytes, line: int) -> None:
    assert refused(converted(data)) == [("conversion-encoding", None, line, None, None)]


def test_lone_carriage_returns_become_line_feeds() -> None:
    conversion = converted(csv_of([row(), row(run_index="2")]).replace(b"\n", b"\r"))
    assert conversion.canonical == csv_of([row(), row(run_index="2")])
    assert remarks(conversion) == ["Line ends: a lone carriage return (CR) becomes a line feed (LF)"]


def test_blank_lines_and_the_separator_line_are_left_out() -> None:
    first, second = written(row(**FRENCH)).splitlines()
    conversion = converted(f"sep=;\r\n{first}\r\n\r\n{second}\r\n\r\n")
    assert conversion.canonical == csv_of([row()])
    assert remarks(conversion) == [
        "Separator: `;` becomes a comma",
        "The line `sep=` before the header is left out",
        "Blank lines: 2, the first on line 3, are left out",
    ]
    assert {change.line for change in conversion.changes} == {4}


def test_spaces_around_the_names_are_left_out_and_nothing_else_is_guessed() -> None:
    spaced = csv_of([row()]).replace(b",batch,", b", batch ,", 1)
    conversion = converted(spaced)
    assert conversion.canonical == csv_of([row()])
    assert remarks(conversion) == ["Spaces around the names of the header are left out"]
    for wrong in (b",Batch,", b",batch\xe2\x80\x8b,", b",batch,batch,", b","):
        assert refused(converted(csv_of([row()]).replace(b",batch,", wrong, 1))) == [
            ("header-names", None, 1, None, None)
        ]
    moved = converted(csv_of([row()]).replace(b",batch,context,", b",context,batch,", 1))
    assert "column 15 is `context` where `batch` is due" in moved.refused[0].message(EN)


LINE = csv_of([row()]).decode().splitlines()[1]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([LINE, LINE + ","], [("row-cell-count", 2, 3)]),
        ([LINE.replace(",8,", ",", 1)], [("row-cell-count", 1, 2)]),
        ([LINE, HEADER, LINE.replace(",8,", ",1E+03,", 1)], [("row-header-again", 2, 3), ("cell-digits-lost", 3, 4)]),
        ([LINE.replace("whole", '"whole" or'), LINE + ","], [("row-quotes", 1, 2), ("row-cell-count", 2, 3)]),
        ([LINE.replace("whole", '"""whole"""')[:-1] + '"', LINE], [("row-quotes", 1, 2)]),
        ([LINE, LINE.replace("whole", '"whole'), LINE], [("file-unclosed-quote", 2, 3)]),
        ([LINE.replace("whole", '"whole'), LINE + '"'], [("row-swallowed", 1, 2)]),
        ([LINE.replace("whole", '"whole') + '"', LINE], []),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_separated(lines: Sequence[str], expected: list[tuple[str, int, int]]) -> None:
    conversion = converted("\n".join([HEADER, *lines]) + "\n")
    assert [found[:3] for found in refused(conversion)] == expected


def test_a_row_that_cannot_be_separated_counts_as_a_row() -> None:
    conversion = converted("\n".join([HEADER, LINE + ",", LINE, LINE.replace("whole", '"whole'), LINE]))
    assert (conversion.rows, [found.row for found in conversion.refused]) == (3, [1, 3])


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "file-empty"), (b"\n\r\n", "file-empty"), (b"PK\x03\x04", "file-not-csv"), (b"hello", "header-names"),
        (b'"experiment_id', "file-unclosed-quote"), (b"\xff\xfe", "file-empty"), (HEADER.encode(), None),
    ],
)  # fmt: skip
def test_files_that_are_no_results(data: bytes, code: str | None) -> None:
    assert [found[0] for found in refused(converted(data))] == ([code] if code else [])


# Our own French copy


def test_neutralised_formulas_are_restored_in_our_own_copy_only() -> None:
    text = written(row(**FRENCH, notes="'=A1", variant_id="'-b8"))
    assert cells(converted(text).canonical)[0]["notes"] == "'=A1"
    own = converted(text, "results-fr-not-canonical (1).csv")
    assert own.changes[0] == Change(1, 2, "variant_id", "'-b8", "-b8")
    assert own.changes[-1] == Change(1, 2, "notes", "'=A1", "=A1")
