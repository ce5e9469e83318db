"""The short way for long, plain files gives what the careful reader gives, and takes nothing else."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpucost import bulk
from gpucost.columns import HEADER, NAMES
from gpucost.reader import read_csv, write_csv
from gpucost.table import Table
from tests.rows import csv_of, five

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters='\0"\r\n'), max_size=12)
ROWS = st.lists(st.tuples(*[TEXTS] * len(NAMES)), min_size=1, max_size=8)


def texts_of(table: Table) -> list[tuple[str, ...]]:
    return [tuple(table.text(row, name) for name in NAMES) for row in range(len(table))]


@settings(max_examples=60)
@given(ROWS, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_both_ways_give_the_same_table(rows: list[tuple[str, ...]], end: str, bom: bool) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator=end).writerows([NAMES, *rows])
    data = out.getvalue().encode("utf-8-sig" if bom else "utf-8")
    careful = read_csv("a.csv", data).table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "SHORT_BYTES", 0)
        plain = bulk.read_plain(data)
    assert plain is not None
    assert texts_of(plain) == texts_of(careful) == rows
    assert plain.line_numbers.tolist() == careful.line_numbers.tolist()
    assert np.array_equal(plain.row_numbers, careful.row_numbers)


GOOD = csv_of(five()).decode()
LINE = GOOD.splitlines()[1]


@pytest.mark.parametrize(
    "text",
    [
        GOOD + "\n",
        GOOD.replace("\n", "\r"),
        GOOD.replace("\n", "\r\n", 2),
        GOOD + LINE + ",more\n",
        GOOD + HEADER + "\n",
        GOOD + LINE.rsplit(",", 1)[0] + ',"two\nlines"\n',
        GOOD + LINE.rsplit(",", 1)[0] + ',"a ""word"""\n',
        GOOD + LINE.rsplit(",", 1)[0] + ',a "word"\n',
        GOOD + LINE.rsplit(",", 1)[0] + ',"open\n',
        GOOD + LINE.rsplit(",", 1)[0] + ',"closed"then\n',
        GOOD.replace("b8", "b\0", 1),
        GOOD.replace("batch,context", "context,batch", 1),
        HEADER + "\n",
        HEADER,
    ],
)
def test_what_needs_a_careful_look_is_left_to_the_careful_reader(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "SHORT_BYTES", 0)
    assert bulk.read_plain(text.encode()) is None


def test_a_quoted_note_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "SHORT_BYTES", 0)
    rows = [tuple(cells[name] for name in NAMES) for cells in five(notes="read, classify, write")]
    read = bulk.read_plain(write_csv(rows))
    assert read is not None
    assert texts_of(read) == rows
