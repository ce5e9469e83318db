"""The reader: every byte that came in is accounted for, and nothing is repaired."""

import csv
import io
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpucost.columns import COLUMNS, HEADER, NAMES
from gpucost.passes import typed_pass
from gpucost.reader import read_csv, write_csv
from tests.rows import ACCEPTED, csv_of, five, row

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
ROWS = st.lists(st.tuples(*[TEXTS] * len(NAMES)), max_size=5)


def cells_of(data: bytes) -> list[tuple[str, ...]]:
    table = read_csv("a.csv", data).table
    return [tuple(table.text(position, name) for name in NAMES) for position in range(len(table))]


@given(ROWS)
def test_what_was_written_is_read_again_cell_by_cell(rows: list[tuple[str, ...]]) -> None:
    assert cells_of(write_csv(rows)) == rows


@given(ROWS)
def test_an_independent_reader_finds_the_same_cells(rows: list[tuple[str, ...]]) -> None:
    written = write_csv(rows).decode()
    assert [tuple(cells) for cells in csv.reader(io.StringIO(written, newline=""))] == [NAMES, *rows]


@settings(max_examples=300)
@given(st.binary(max_size=400))
def test_any_bytes_give_findings_and_never_an_exception(data: bytes) -> None:
    for document in (data, HEADER.encode() + b"\n" + data):
        read = read_csv("a.csv", document)
        assert read.size_bytes == len(document)
        assert read.rows == len(read.table)


@given(ROWS, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_line_ends_and_byte_order_mark_change_no_cell(rows: list[tuple[str, ...]], end: str, bom: bool) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([NAMES, *rows])
    data = out.getvalue().encode("utf-8-sig" if bom else "utf-8")
    read = read_csv("a.csv", data)
    assert [tuple(read.table.text(i, name) for name in NAMES) for i in range(read.rows)] == rows
    assert ("file-bom" in {f.rule.code for f in read.findings}) == bom


def test_lines_count_the_lines_inside_notes_and_blank_ones() -> None:
    data = (
        csv_of([row(notes="one\ntwo\r\nthree"), row(run_index="2")]).decode()
        + "\n"
        + csv_of(five()).decode().split("\n")[1]
    )
    table = read_csv("a.csv", data.encode()).table
    assert table.line_numbers.tolist() == [2, 5, 7]
    assert table.row_numbers.tolist() == [1, 2, 3]


def test_an_unreadable_row_keeps_its_place_and_its_text() -> None:
    lines = csv_of(five()).decode().splitlines()
    lines.insert(3, "exp-1,b8,too,short")
    read = read_csv("a.csv", "\n".join(lines).encode())
    assert read.rows == 6
    assert read.table.unreadable[2].cells == ("exp-1", "b8", "too", "short")
    assert [(f.rule.code, f.rows.tolist()) for f in read.findings] == [("row-cell-count", [2])]


def test_a_quote_left_open_stops_the_reading_where_it_opens() -> None:
    lines = csv_of(five()).decode().splitlines()
    lines[2] = lines[2] + ',"never closed'
    read = read_csv("a.csv", "\n".join(lines).encode())
    (finding,) = read.findings
    assert (finding.rule.code, finding.line, read.rows) == ("file-unclosed-quote", 3, 1)
    assert finding.details["lines"] == "4"


def test_a_quotation_mark_inside_one_line_costs_that_line_only() -> None:
    lines = csv_of(five()).decode().splitlines()
    lines[2] = lines[2].replace("whole chain", '"whole" chain')
    read = read_csv("a.csv", "\n".join(lines).encode())
    assert [(f.rule.code, f.rows.tolist()) for f in read.findings] == [("row-quotes", [1])]
    assert read.table.unreadable[1].cells == (lines[2],)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda names: [*names, "more"], "39"),
        (lambda names: names[:-1], "`notes`"),
        (lambda names: [names[0], *names], "×"),
        (lambda names: [name.upper() for name in names], "`VARIANT_ID`"),
        (lambda names: [*names[1:], names[0]], "variant_id"),
        (lambda names: [f" {names[0]}", *names[1:]], "␣experiment_id"),
    ],
)
def test_a_wrong_header_is_one_finding_that_shows_the_difference(change: object, says: str) -> None:
    from gpucost.language import translator

    data = csv_of(five()).decode().replace(HEADER, ",".join(change(list(NAMES))), 1)  # type: ignore[operator]
    read = read_csv("a.csv", data.encode())
    (finding,) = read.findings
    message = finding.message(translator("en")).replace("stands 2 times", "×")
    assert finding.rule.code == "header-names"
    assert says in message
    assert read.rows == 0


def test_the_typed_row_holds_exact_values() -> None:
    table = read_csv(
        "a.csv", csv_of([row(peak_reserved_bytes="9007199254740993", elapsed_seconds="0.30000000000000004")])
    ).table
    typed = typed_pass(table, 0)
    values = typed.model_dump()
    assert list(values) == [column.name for column in COLUMNS]
    assert values["peak_reserved_bytes"] == 9007199254740993
    assert values["elapsed_seconds"] == Decimal("0.30000000000000004")
    assert values["ids_match"] is True
    assert values["quality_tolerance"] is None
    assert values["experiment_id"] == ACCEPTED["experiment_id"]
