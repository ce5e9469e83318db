"""What is handed to a spreadsheet: derived tables without live formulas, and a French copy of a raw CSV.

Neither is canonical. The original file is always offered beside them, byte for byte.
Contract, sections 2 and 6.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePath
from typing import TypeAlias

from gpucost.cells import Cell, CellType
from gpucost.columns import NAMES
from gpucost.findings import Severity
from gpucost.reader import LARGEST_CELL, RawFile

DerivedCell: TypeAlias = str | int | Decimal | float | bool | None
"""A cell of a derived table. Numbers are written as numbers; None is an empty cell."""

FRENCH_SUFFIX = "-fr-not-canonical"
"""Stands in the name of every French copy."""

_BLANK = r'(?:(?![\t\r\n])[\s"\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff])*'
_STARTS_FORMULA = _BLANK + "[=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]"
_LIVE = rf"'*(?:{_STARTS_FORMULA})"
_LIVE_AT_START = rf"'*(?:[\t\r\n]|{_STARTS_FORMULA})"
# A spreadsheet that expects another separator cuts a cell where that one stands, and what follows begins a cell of
# its own: a French one opens `a;=B1` of a comma-separated file as two cells, in spite of the quotation marks.
_CUT = r"(?<=[,;\t\r\n])"
_TO_PREFIX = re.compile(rf"\A(?={_LIVE_AT_START})|{_CUT}(?={_LIVE})")
_PREFIXED = re.compile(rf"\A'(?={_LIVE_AT_START})|{_CUT}'(?={_LIVE})")
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?", re.ASCII)
_FRAGILE = re.compile(
    r"0[0-9]+|[0-9]{16,}|[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]+|[0-9]{1,4}[-/][0-9]{1,2}([-/][0-9]{1,4})?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class PrefixedCell:
    """A cell that was neutralised: `row` counts from 1, the header is row 0; `text` is what it was before."""

    row: int
    column: str
    text: str


def neutralised(text: str) -> str:
    """The text with an apostrophe wherever a spreadsheet could begin to read a formula; a plain number stays.

    An apostrophe that already stands there is doubled, so that `restored` gives every text back exactly.
    """
    return text if _PLAIN_NUMBER.fullmatch(text) else _TO_PREFIX.sub("'", text)


def restored(text: str) -> str:
    """The text that `neutralised` was given."""
    return _PREFIXED.sub("", text)


def derived_csv(header: Sequence[str], rows: Iterable[Sequence[DerivedCell]]) -> bytes:
    """A derived table as CSV for a spreadsheet: UTF-8 with a byte order mark (without it, accents are misread),
    commas, decimal points, CRLF. Formulas in texts are neutralised; numbers are written as they are."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([neutralised(name) for name in header])
    writer.writerows([_written(cell) for cell in row] for row in rows)
    return out.getvalue().encode("utf-8-sig")


def _written(cell: DerivedCell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return neutralised(cell)
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return format(cell, "f") if isinstance(cell, Decimal) else str(cell)


def prefixed_cells(data: bytes, delimiter: str = ",") -> tuple[PrefixedCell, ...]:
    """Which cells of a table that `derived_csv` or `french_copy` wrote are prefixed, with their text before."""
    csv.field_size_limit(LARGEST_CELL)
    rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter, strict=True)
    header = [restored(name) for name in next(rows, [])]
    found = [PrefixedCell(0, name, name) for name in header if neutralised(name) != name]
    for number, row in enumerate(rows, 1):
        for name, text in zip(header, row, strict=True):
            before = restored(text)
            if before != text:
                found.append(PrefixedCell(number, name, before))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class FrenchCopy:
    """A raw CSV written for a French spreadsheet. `check` refuses it for its separator and points to `convert`.

    `fragile` are the distinct texts, with their column, that a spreadsheet alters when the file is opened by a
    double click (`007`, a number of more than 15 digits, `1e5`, `3-4`). A CSV has no way to say that a cell is
    text: only an import in which these columns are declared as text keeps them.
    """

    name: str
    data: bytes
    prefixed: tuple[PrefixedCell, ...]
    fragile: tuple[tuple[str, str], ...]


def french_copy(raw: RawFile) -> FrenchCopy | None:
    """The copy of a raw CSV for a French spreadsheet: byte order mark, semicolons, decimal commas, VRAI and FAUX.

    Every cell is written in its canonical spelling, so that `convert` gives the canonical file back. None where the
    file holds anything that could not be read: the copy would hide what is wrong with it.
    """
    table = raw.table
    if table.faulty.any() or any(finding.severity is Severity.ERROR for finding in raw.findings):
        return None
    columns: list[list[str]] = []
    fragile: list[tuple[str, str]] = []
    for name in NAMES:
        column = table[name]
        kind = column.column.cell_type
        written = [_french(cell, kind) for cell in column.cells]
        columns.append([written[code] for code in column.codes.tolist()])
        if kind is not CellType.DECIMAL:
            fragile += [(name, cell.canonical) for cell in column.cells if _FRAGILE.fullmatch(cell.canonical)]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";", lineterminator="\r\n")
    writer.writerow(NAMES)
    writer.writerows(zip(*columns, strict=True))
    data = out.getvalue().encode("utf-8-sig")
    name = f"{PurePath(raw.name).stem}{FRENCH_SUFFIX}.csv"
    return FrenchCopy(name, data, prefixed_cells(data, ";"), tuple(fragile))


def _french(cell: Cell, kind: CellType) -> str:
    if isinstance(cell.value, bool):
        return "VRAI" if cell.value else "FAUX"
    if kind is CellType.DECIMAL:
        return cell.canonical.replace(".", ",")
    return neutralised(cell.canonical)
