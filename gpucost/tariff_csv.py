"""A tariff CSV separated into its rows of 7 texts, before any price is read. Contract, section 5.

It has the conventions of the raw CSV: UTF-8, comma, RFC 4180. What cannot be separated is said and left aside.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gpucost.cells import visible
from gpucost.dialect import Dialect, sniff
from gpucost.findings import Finding, Rule
from gpucost.reader import LARGEST_CELL, line_texts
from gpucost.rules import tariffs as rules

TARIFF_NAMES = (
    "provider", "gpu_model", "gpus_per_lot", "duration_days", "price_usd_minor_per_lot", "valid_from", "source",
)  # fmt: skip
"""The header of a tariff CSV, in order."""

_CONTAINERS = {"xlsx": "XLSX", "xls": "XLS"}
_DELIMITERS = {"\t": "TAB (U+0009)"}


@dataclass(frozen=True, slots=True)
class TariffLine:
    """One row of 7 texts: `row` counts data rows from 1, `line` is the physical line where it starts."""

    row: int
    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TariffLines:
    """The rows that could be separated, and what was found on the way."""

    lines: tuple[TariffLine, ...]
    findings: tuple[Finding, ...]


def separate(name: str, data: bytes) -> TariffLines:
    """Separate the bytes of a tariff CSV into rows. Never raises; `name` is shown, never opened."""
    dialect = sniff(data)
    if refusal := _refusal(name, data, dialect):
        return TariffLines((), (refusal,))
    records = _records(data)
    header, first_line = next(records, ([], 1))
    if header != list(TARIFF_NAMES):
        return TariffLines((), (_wrong_header(name, header, first_line, dialect),))
    separated = _Separation(name, data)
    separated.remark(dialect)
    separated.read(records)
    return TariffLines(tuple(separated.lines), tuple(separated.findings))


def write_tariffs(rows: Iterable[Mapping[str, str]]) -> bytes:
    """The canonical CSV of some rows, each a text under each of the 7 names; a name that is missing is left empty."""
    out = io.StringIO()
    # With CRLF, the writer quotes a cell that holds either of the two; with LF alone it would leave a CR bare.
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(TARIFF_NAMES)
    writer.writerows([row.get(name, "") for name in TARIFF_NAMES] for row in rows)
    return out.getvalue().encode()


def _finding(
    name: str, rule: Rule, *, row: int | None = None, line: int | None = None, column: str | None = None,
    value: str | None = None, **details: str,
) -> Finding:  # fmt: skip
    named = {"tariffs": visible(name, 80), **details}
    return Finding(rule=rule, row=row, line=line, column=column, value=value, details=named)


def _refusal(name: str, data: bytes, dialect: Dialect) -> Finding | None:
    if not data:
        return _finding(name, rules.TARIFF_EMPTY)
    if dialect.container:
        return _finding(name, rules.TARIFF_NOT_CSV, kind=_CONTAINERS.get(dialect.container, dialect.container))
    if dialect.encoding != "utf-8":
        line = dialect.first_bad_byte.line if dialect.first_bad_byte else 1
        return _finding(name, rules.TARIFF_ENCODING, line=line, encoding=dialect.encoding.upper())
    return None


@dataclass(frozen=True, slots=True)
class _Broken:
    """A record that the CSV grammar refuses. It spans the physical lines `first` to `last`."""

    first: int
    last: int
    at_end: bool


def _records(data: bytes) -> Iterator[tuple[list[str] | _Broken, int]]:
    """Every record, blank lines as empty lists, with the line on which it starts."""
    csv.field_size_limit(LARGEST_CELL)
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline=""), strict=True)
    while True:
        first = reader.line_num + 1
        try:
            record: list[str] | _Broken = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            record = _Broken(first, reader.line_num, at_end="end of data" in str(error))
        yield record, first


def _wrong_header(name: str, header: list[str] | _Broken, line: int, dialect: Dialect) -> Finding:
    if dialect.delimiter != ",":
        shown = _DELIMITERS.get(dialect.delimiter, dialect.delimiter)
        return _finding(name, rules.TARIFF_DELIMITER, line=line, value=shown)
    value = "" if isinstance(header, _Broken) else ",".join(header)
    return _finding(name, rules.TARIFF_HEADER, line=line, value=value, due=",".join(TARIFF_NAMES))


class _Separation:
    """Gathers the rows after the header, and what is said of those that are none."""

    def __init__(self, name: str, data: bytes) -> None:
        self.lines: list[TariffLine] = []
        self.findings: list[Finding] = []
        self._name = name
        self._data = data

    def _say(
        self, rule: Rule, row: int | None, line: int, column: str | None = None, value: str | None = None,
        **details: str,
    ) -> None:  # fmt: skip
        self.findings.append(_finding(self._name, rule, row=row, line=line, column=column, value=value, **details))

    def remark(self, dialect: Dialect) -> None:
        """What the file is written in, where it is worth knowing."""
        if dialect.bom:
            self._say(rules.TARIFF_BOM, None, 1)
        if "\r" in dialect.line_ends:
            self._say(rules.TARIFF_LONE_CR, None, 1)

    def read(self, records: Iterator[tuple[list[str] | _Broken, int]]) -> None:
        """Take every record, up to one after which nothing can be separated any more."""
        row = 0
        blank: list[int] = []
        for record, line in records:
            if isinstance(record, _Broken) and (record.at_end or record.last > record.first):
                value = visible(line_texts(self._data, line, line), 80)
                self._say(rules.TARIFF_UNCLOSED_QUOTE, None, line, value=value, at=str(line))
                break
            if record:
                row += 1
                self._take(record, row, line)
            else:
                blank.append(line)
        else:
            if not row:
                self._say(rules.TARIFF_NO_ROWS, None, 1)
        if blank:
            self._say(rules.TARIFF_BLANK_LINES, None, blank[0], count=str(len(blank)), at=str(blank[0]))

    def _take(self, record: list[str] | _Broken, row: int, line: int) -> None:
        if isinstance(record, _Broken):
            self._say(rules.TARIFF_ROW_QUOTES, row, line, value=line_texts(self._data, line, line))
        elif record == list(TARIFF_NAMES):
            self._say(rules.TARIFF_HEADER_AGAIN, row, line)
        elif len(record) != len(TARIFF_NAMES):
            self._say(rules.TARIFF_CELL_COUNT, row, line, value=",".join(record), count=str(len(record)))
        elif swallowed := next((pair for pair in zip(TARIFF_NAMES, record, strict=True) if _swallows(pair[1])), None):
            self._say(rules.TARIFF_SWALLOWED, row, line, swallowed[0], swallowed[1])
        else:
            self.lines.append(TariffLine(row, line, dict(zip(TARIFF_NAMES, record, strict=True))))


def _swallows(text: str) -> bool:
    """Whether a cell runs over several lines, one of which has nearly the commas of a whole row."""
    return any(line.count(",") >= len(TARIFF_NAMES) - 2 for line in text.splitlines()[1:])
