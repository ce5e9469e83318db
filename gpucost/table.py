"""The rows of one or several raw CSVs, column by column, each distinct text kept and parsed once.

A measurement repeats itself: of 38 columns most hold a handful of distinct texts. A column is therefore
kept as its distinct texts and one code per row. A rule that reads k columns looks at each distinct
combination of their texts once, and its answer holds for every row that has this combination.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from gpucost.cells import Cell, CellType, are_canonical, parse_cells
from gpucost.columns import BY_NAME, NAMES, Column
from gpucost.findings import NO_ROWS, Rows

Codes = npt.NDArray[np.int32]

MANY_TEXTS = 1_000
"""Distinct texts of a column past which they are first examined all at once."""
TIMED = "timed"
"""A derived column: `true` where `elapsed_seconds` holds something."""
EXPLAINED = "explained"
"""A derived column: `true` where `notes` holds something."""


@dataclass(frozen=True)
class CodedColumn:
    """One column: `texts[codes[row]]` is the original text of a row's cell."""

    column: Column
    texts: list[str]
    codes: Codes

    @cached_property
    def cells(self) -> "LazyCells":
        """The parsed cell of each distinct text, by code."""
        return LazyCells(self.column, self.texts)

    @cached_property
    def irregular(self) -> list[int]:
        """The codes of the texts that are faulty, or not the canonical spelling of their value."""
        column = self.column
        if len(self.texts) > MANY_TEXTS and are_canonical(self.texts, column.cell_type):
            return []
        return [code for code, cell in enumerate(self.cells) if cell.fault or cell.respelled]

    @cached_property
    def faults(self) -> list[int]:
        """The codes of the texts that have no value though they hold something."""
        return [code for code in self.irregular if self.cells[code].fault]

    @cached_property
    def recorded(self) -> npt.NDArray[np.bool_]:
        """For each row, whether its cell holds anything."""
        if "" not in self.texts:
            return np.ones(len(self.codes), np.bool_)
        filled: npt.NDArray[np.bool_] = self.codes != self.texts.index("")
        return filled

    @cached_property
    def canonical_codes(self) -> Codes:
        """One code per row in which equal values share a code, however they are spelled (`8`, `8.0`; `0.9`, `0.90`)."""
        if self.column.cell_type is not CellType.DECIMAL and not self.irregular:
            return self.codes
        known: dict[object, int] = {}
        keys = [(cell.text,) if cell.fault or isinstance(cell.value, str | None) else cell.value for cell in self.cells]
        recoded = np.fromiter((known.setdefault(key, len(known)) for key in keys), np.int32, len(keys))
        return recoded[self.codes] if keys else self.codes

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The nearest float of each distinct text, NaN where it has no number: to sort and to draw, never to judge."""
        if self.irregular:
            return np.fromiter((_nearest_float(cell) for cell in self.cells), np.float64, len(self.texts))
        return np.fromiter((float(text or "nan") for text in self.texts), np.float64, len(self.texts))

    @cached_property
    def ranks(self) -> npt.NDArray[np.int64]:
        """The rank of each distinct text among the numbers of the column, exact; texts without a number come last."""
        order = np.argsort(self.numbers, kind="stable")
        ordered = self.numbers[order]
        for start in np.flatnonzero(ordered[1:] == ordered[:-1]):
            # Equal floats may be different decimals: put the run in exact order.
            run = slice(int(start), int(np.searchsorted(ordered, ordered[start], side="right")))
            order[run] = sorted(order[run].tolist(), key=lambda code: Decimal(str(self.cells[code].value)))
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        return ranks


class LazyCells(Sequence[Cell]):
    """The parsed cells of a column's distinct texts, each parsed when it is first asked for."""

    def __init__(self, column: Column, texts: list[str]) -> None:
        """Nothing is parsed yet."""
        self._column = column
        self._texts = texts
        self._parsed: dict[int, Cell] = {}
        self._all: list[Cell] | None = None

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[Cell]:
        if self._all is None:
            self._all = parse_cells(self._texts, self._column.cell_type, money=self._column.is_money)
        return iter(self._all)

    @overload
    def __getitem__(self, code: int) -> Cell: ...
    @overload
    def __getitem__(self, code: slice) -> list[Cell]: ...
    def __getitem__(self, code: int | slice) -> Cell | list[Cell]:
        if isinstance(code, slice):
            return [self[one] for one in range(*code.indices(len(self)))]
        if self._all is not None:
            return self._all[code]
        cell = self._parsed.get(code)
        if cell is None:
            cell = self._parsed[code] = self._column.parse(self._texts[code])
        return cell


def _nearest_float(cell: Cell) -> float:
    value = cell.value
    return float(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else math.nan


@dataclass(frozen=True)
class UnreadableRow:
    """A row that could not be separated into 38 cells: its cells as far as they go."""

    cells: tuple[str, ...]


class Cells:
    """The parsed cells that a rule asked for, of one distinct combination."""

    __slots__ = ("_cells",)

    def __init__(self, cells: dict[str, Cell]) -> None:
        self._cells = cells

    def text(self, name: str) -> str:
        """The original text, empty where nothing was recorded."""
        return self._cells[name].text

    def has(self, name: str) -> bool:
        """Whether something was recorded."""
        return self._cells[name].text != ""

    def integer(self, name: str) -> int | None:
        """The whole number, None where not recorded."""
        value = self._cells[name].value
        return value if isinstance(value, int) else None

    def decimal(self, name: str) -> Decimal | None:
        """The number as a decimal, None where not recorded."""
        value = self._cells[name].value
        return value if isinstance(value, Decimal) else None

    def flag(self, name: str) -> bool | None:
        """True or false, None where not recorded."""
        value = self._cells[name].value
        return value if isinstance(value, bool) else None


@dataclass(frozen=True)
class Combinations:
    """The distinct combinations of some columns: `members[i]` holds one code per column; `which[k]` is the
    combination of row `rows[k]`."""

    members: npt.NDArray[np.int64]
    which: npt.NDArray[np.int64]
    rows: Rows

    def rows_of(self, wanted: Sequence[int]) -> list[Rows]:
        """The rows of each wanted combination, ascending."""
        if len(wanted) <= 8:
            return [self.rows[np.flatnonzero(self.which == index)] for index in wanted]
        order = np.argsort(self.which, kind="stable")
        starts = np.searchsorted(self.which[order], np.asarray(wanted))
        ends = np.searchsorted(self.which[order], np.asarray(wanted), side="right")
        return [self.rows[order[start:end]] for start, end in zip(starts, ends, strict=True)]


@dataclass(frozen=True)
class Table:
    """All rows, in file order. `files`, `row_numbers` and `line_numbers` say where each row stands.

    Unreadable rows keep their position; their cells read as empty and no rule looks at them.
    """

    columns: dict[str, CodedColumn]
    files: npt.NDArray[np.int32]
    row_numbers: npt.NDArray[np.int64]
    line_numbers: npt.NDArray[np.int64]
    unreadable: dict[int, UnreadableRow] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, name: str) -> CodedColumn:
        return self.columns[name]

    def text(self, row: int, name: str) -> str:
        """The original text of one cell."""
        column = self.columns[name]
        return column.texts[int(column.codes[row])]

    def cell(self, row: int, name: str) -> Cell:
        """One parsed cell."""
        column = self.columns[name]
        return column.cells[int(column.codes[row])]

    @cached_property
    def readable(self) -> npt.NDArray[np.bool_]:
        """For each row, whether it was separated into 38 cells."""
        mask = np.ones(len(self), np.bool_)
        mask[list(self.unreadable)] = False
        return mask

    @cached_property
    def readable_rows(self) -> Rows:
        """The rows that were separated into 38 cells."""
        return np.flatnonzero(self.readable)

    def combinations(self, names: Sequence[str], rows: Rows | None = None, *, canonical: bool = False) -> Combinations:
        """The distinct combinations of some columns (`TIMED` and `EXPLAINED` included) over some rows
        (default: the readable ones). With `canonical`, equal values count as one, however they are spelled."""
        chosen = self.readable_rows if rows is None else rows
        parts: list[npt.NDArray[np.int64]] = []
        for name in names:
            codes, _ = self._coded(name, canonical=canonical)
            parts.append((codes if len(chosen) == len(self) else codes[chosen]).astype(np.int64, copy=False))
        which = np.zeros(len(chosen), np.int64)
        for part in parts:
            if len(part) and (part[0] != part).any():
                which = _dense(which * (int(part.max()) + 1) + part)
        count = int(which.max()) + 1 if len(which) else 0
        first = np.zeros(count, np.int64)
        first[which[::-1]] = np.arange(len(which) - 1, -1, -1)
        members = np.stack([part[first] for part in parts], axis=1) if parts else np.zeros((count, 0), np.int64)
        return Combinations(members, which, chosen)

    def cells_of(self, names: Sequence[str], members: npt.NDArray[np.int64]) -> Iterator[Cells | None]:
        """The parsed cells of each distinct combination; None where one of them is faulty, so that no rule
        takes a cell that could not be read for one that was not recorded."""
        parsed = [self._coded(name)[1] for name in names]
        for codes in members.tolist():
            cells = {name: column[code] for name, column, code in zip(names, parsed, codes, strict=True)}
            yield None if any(cell.fault for cell in cells.values()) else Cells(cells)

    def cells_at(self, row: int, names: Sequence[str]) -> Cells | None:
        """The parsed cells of one row; None where one of them is faulty."""
        codes = np.array([[self._coded(name)[0][row] for name in names]], np.int64)
        return next(self.cells_of(names, codes))

    def _coded(self, name: str, *, canonical: bool = False) -> tuple[Codes, Sequence[Cell]]:
        if name in (TIMED, EXPLAINED):
            source = self.columns["elapsed_seconds" if name == TIMED else "notes"]
            return source.recorded.astype(np.int32), _FLAGS
        column = self.columns[name]
        return (column.canonical_codes if canonical else column.codes), column.cells

    @cached_property
    def identities(self) -> Combinations:
        """The groups of rows of one experiment, variant and phase; each name in the order of its first row."""
        return self.combinations(("experiment_id", "variant_id", "phase"))

    @cached_property
    def faulty(self) -> npt.NDArray[np.bool_]:
        """For each row, whether a cell of it has no value though it holds something."""
        mask = np.zeros(len(self), np.bool_)
        for column in self.columns.values():
            if column.faults:
                mask |= np.isin(column.codes, column.faults)
        return mask

    def irregular_cells(self) -> Iterator[tuple[str, Cell, Rows]]:
        """Every distinct faulty or respelled cell, column by column, with its rows."""
        for name in NAMES:
            column = self.columns[name]
            if wanted := column.irregular:
                groups = Combinations(NO_ROWS, column.codes.astype(np.int64), np.arange(len(self)))
                for code, rows in zip(wanted, groups.rows_of(wanted), strict=True):
                    yield name, column.cells[code], rows

    @classmethod
    def join(cls, tables: Sequence["Table"]) -> "Table":
        """One table of several, in order; equal texts share a code again."""
        if len(tables) < 2:
            return tables[0] if tables else empty_table()
        offsets = np.cumsum([0, *(len(table) for table in tables)])
        return cls(
            {name: _join_columns([table[name] for table in tables]) for name in NAMES},
            np.concatenate([np.full(len(t), position, np.int32) for position, t in enumerate(tables)]),
            np.concatenate([table.row_numbers for table in tables]),
            np.concatenate([table.line_numbers for table in tables]),
            {
                int(offset) + row: raw
                for offset, table in zip(offsets, tables, strict=False)
                for row, raw in table.unreadable.items()
            },
        )


_FLAGS = [Cell("", None, ""), Cell("true", True, "true")]
_NO_FILES = np.empty(0, np.int32)


def _dense(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The same partition, numbered from 0 without gaps, in the order of the keys."""
    size = int(keys.max()) + 1
    if size > 4 * len(keys) + 1024:
        return np.unique(keys, return_inverse=True)[1].astype(np.int64)
    present = np.zeros(size, np.bool_)
    present[keys] = True
    numbers = np.cumsum(present) - 1
    return numbers[keys].astype(np.int64)


def _join_columns(columns: Sequence[CodedColumn]) -> CodedColumn:
    known: dict[str, int] = {}
    codes: list[Codes] = []
    for column in columns:
        recoded = np.fromiter(
            (known.setdefault(text, len(known)) for text in column.texts), np.int32, len(column.texts)
        )
        codes.append(recoded[column.codes] if len(recoded) else column.codes)
    return CodedColumn(columns[0].column, list(known), np.concatenate(codes))


def empty_table() -> Table:
    """A table without a row."""
    columns = {name: CodedColumn(BY_NAME[name], [], _NO_FILES) for name in NAMES}
    return Table(columns, _NO_FILES, NO_ROWS, NO_ROWS)
