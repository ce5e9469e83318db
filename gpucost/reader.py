"""The strict reader: bytes in, a table and findings out.

It never raises on a user's data, and never drops, reorders or repairs a row silently. Every cell keeps its
original text. A row that cannot be separated into 38 cells stays in the table, unreadable, at its place.
Contract, section 2.
"""

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from gpucost.bulk import read_plain
from gpucost.cells import visible
from gpucost.columns import BY_NAME, HEADER, NAMES
from gpucost.dialect import Dialect, sniff
from gpucost.findings import Detail, Finding, Phrase, Rule
from gpucost.language import N_
from gpucost.rules import format as rules
from gpucost.table import CodedColumn, Codes, Table, UnreadableRow, empty_table

CHUNK_ROWS = 256
"""Rows transposed at a time. Small enough that a column that repeats itself is one text in most chunks."""
LARGEST_CELL = 2**31 - 1
WIDTH = len(NAMES)
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_CONTAINERS = {"xlsx": "XLSX", "xls": "XLS"}


@dataclass(frozen=True)
class RawFile:
    """One CSV as it was received. `table` holds its rows only; findings refer to them by position."""

    name: str
    sha256: str
    size_bytes: int
    table: Table
    findings: tuple[Finding, ...]

    @property
    def rows(self) -> int:
        """Data rows, the unreadable ones included."""
        return len(self.table)


def read_csv(name: str, data: bytes) -> RawFile:
    """Read one raw CSV. `name` is shown, never opened."""
    table, findings = _read(data, sniff(data))
    return RawFile(name, hashlib.sha256(data).hexdigest(), len(data), table, tuple(findings))


def _read(data: bytes, dialect: Dialect) -> tuple[Table, list[Finding]]:
    if refusal := _refusal(data, dialect):
        return empty_table(), [refusal]
    if (plain := read_plain(data)) is not None:
        return plain, [_about_file(rules.FILE_BOM, line=1)] if dialect.bom else []
    rows = _Rows(data)
    first = rows.header()
    if first is None:
        return empty_table(), [_about_file(rules.FILE_EMPTY)]
    header, line = first
    if isinstance(header, _Broken):
        return empty_table(), [_unclosed_quote(header, data)]
    if mismatch := _header_mismatch(header, line, dialect):
        return empty_table(), [mismatch]
    table = rows.table()
    return table, [*_remarks(dialect, rows), *rows.findings, *_row_findings(table)]


def _about_file(rule: Rule, *, line: int | None = None, value: str | None = None, **details: Detail) -> Finding:
    return Finding(rule=rule, file=0, line=line, value=value, details=details)


def _refusal(data: bytes, dialect: Dialect) -> Finding | None:
    """Why nothing of the file can be read as UTF-8 text, if so."""
    if not data:
        return _about_file(rules.FILE_EMPTY)
    if dialect.container:
        return _about_file(rules.FILE_NOT_CSV, kind=_CONTAINERS.get(dialect.container, dialect.container))
    if dialect.encoding == "utf-8":
        return None
    bad = dialect.first_bad_byte
    evidence = f"0x{bad.value:02X}, line {bad.line}" if bad else visible(repr(data[:4]))
    return _about_file(
        rules.FILE_ENCODING,
        line=bad.line if bad else 1,
        encoding=(dialect.encoding or "?").upper(),
        evidence=evidence,
    )


def _remarks(dialect: Dialect, rows: "_Rows") -> Iterator[Finding]:
    if dialect.bom:
        yield _about_file(rules.FILE_BOM, line=1)
    if "\r" in dialect.line_ends:
        yield _about_file(rules.FILE_LONE_CR, line=1)
    if rows.blank_lines:
        first = rows.blank_lines[0]
        yield _about_file(rules.FILE_BLANK_LINES, line=first, count=str(len(rows.blank_lines)))
    if not rows.count:
        yield _about_file(rules.FILE_NO_ROWS)


def _header_mismatch(header: list[str], line: int, dialect: Dialect) -> Finding | None:
    if tuple(header) == NAMES:
        return None
    if dialect.delimiter != ",":
        shown = {"\t": "TAB (U+0009)"}.get(dialect.delimiter, f"`{dialect.delimiter}`")
        return _about_file(rules.FILE_DELIMITER, line=line, value=shown)
    return _about_file(rules.HEADER_NAMES, line=line, difference=header_difference(header))


def header_difference(header: list[str]) -> tuple[Phrase, ...]:
    """How a header differs from the 38 names: repeated, unknown and missing names, else the first that moved."""
    parts = []
    for name in dict.fromkeys(header):
        places = [str(position) for position, other in enumerate(header, 1) if other == name]
        if len(places) > 1:
            details = {"name": visible(name, 60), "count": str(len(places)), "places": ", ".join(places)}
            parts.append(Phrase(N_("`{name}` stands {count} times (columns {places}): keep one"), details))
    strange = [f"{position}: `{visible(name, 60)}`" for position, name in enumerate(header, 1) if name not in BY_NAME]
    missing = [f"`{name}`" for name in NAMES if name not in header]
    if strange:
        parts.append(Phrase(N_("not one of the names, by column: {names}"), {"names": _some(strange)}))
    if missing:
        parts.append(Phrase(N_("missing: {names}"), {"names": _some(missing)}))
    if not parts:
        moved = next(i for i, (name, due) in enumerate(zip(header, NAMES, strict=True)) if name != due)
        details = {"column": str(moved + 1), "name": header[moved], "due": NAMES[moved]}
        parts.append(Phrase(N_("column {column} is `{name}` where `{due}` is due"), details))
    parts.append(Phrase(N_("{count} columns of {due}"), {"count": str(len(header)), "due": str(WIDTH)}))
    return tuple(parts)


def _some(items: list[str], limit: int = 6) -> str:
    return ", ".join(items[:limit]) + (f", … (+{len(items) - limit})" if len(items) > limit else "")


@dataclass(frozen=True, slots=True)
class _Broken:
    """A record that the CSV grammar refuses. It spans the physical lines `first` to `last`."""

    first: int
    last: int
    at_end: bool


class _Codes(dict[str, int]):
    """Numbers texts in the order in which they first appear."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code


class _Rows:
    """Separates UTF-8 bytes into records, and records into coded columns, a chunk at a time."""

    def __init__(self, data: bytes) -> None:
        csv.field_size_limit(LARGEST_CELL)  # the module's own default, 131,072 characters, refuses a long note
        # newline="" keeps the line ends inside quoted cells, and reads CR, LF and CRLF all as line ends.
        self._reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline=""), strict=True)
        self._data = data
        self.findings: list[Finding] = []
        self.blank_lines: list[int] = []
        self.count = 0
        self._lines: list[int] = []
        self._unreadable: dict[int, UnreadableRow] = {}

    def header(self) -> "tuple[list[str] | _Broken, int] | None":
        """The first record that is no blank line, and the physical line where it starts; None in an empty file."""
        while (first := self._reader.line_num + 1) and (record := self._next(first)) is not None:
            if record:
                return record, first
            self.blank_lines.append(first)
        return None

    def _next(self, first: int) -> "list[str] | _Broken | None":
        try:
            return next(self._reader, None)
        except csv.Error as error:
            return _Broken(first, self._reader.line_num, at_end="end of data" in str(error))

    def table(self) -> Table:
        """The table of all records after the header."""
        codes: list[list[Codes]] = [[] for _ in NAMES]
        known = [_Codes() for _ in NAMES]
        readable = self._readable()
        while chunk := list(islice(readable, CHUNK_ROWS)):
            for position, cells in enumerate(zip(*chunk, strict=True)):
                numbers = known[position]
                size = len(cells)
                if cells.count(cells[0]) == size:  # comparing is cheaper than hashing, and most columns repeat
                    codes[position].append(np.full(size, numbers[cells[0]], np.int32))
                else:
                    codes[position].append(np.fromiter(map(numbers.__getitem__, cells), np.int32, size))
        if not self._lines:
            return empty_table()
        count = len(self._lines)
        self.count = count
        return Table(
            {
                name: CodedColumn(BY_NAME[name], list(known[position]), np.concatenate(codes[position]))
                for position, name in enumerate(NAMES)
            },
            np.zeros(count, np.int32),
            np.arange(1, count + 1, dtype=np.int64),
            np.array(self._lines, np.int64),
            self._unreadable,
        )

    def _readable(self) -> Iterator[list[str]]:
        """Every row as 38 cells; those of an unreadable row are empty here and kept beside the table."""
        lines, reader, read = self._lines, self._reader, self._next
        while True:
            line = reader.line_num + 1
            record = read(line)
            if record is None:
                return
            if isinstance(record, _Broken) and (record.at_end or record.last > record.first):
                self.findings.append(_unclosed_quote(record, self._data))
                return
            if not record:
                self.blank_lines.append(line)
                continue
            if isinstance(record, _Broken) or len(record) != WIDTH or record[0] == NAMES[0]:
                record = self._examined(record, line)
            lines.append(line)
            yield record

    def _examined(self, record: "list[str] | _Broken", line: int) -> list[str]:
        """The cells of an unusual record: its own where it is a row after all, empty ones where it is set aside."""
        if isinstance(record, _Broken):
            self._set_aside(rules.ROW_QUOTES, (line_texts(self._data, line, line),))
        elif len(record) != WIDTH:
            self._set_aside(rules.ROW_CELL_COUNT, tuple(record), count=str(len(record)))
        elif tuple(record) == NAMES:
            self._set_aside(rules.ROW_HEADER_AGAIN, tuple(record))
        else:
            return record
        return [""] * WIDTH

    def _set_aside(self, rule: Rule, cells: tuple[str, ...], **details: str) -> None:
        position = len(self._lines)
        self._unreadable[position] = UnreadableRow(cells)
        self.findings.append(
            Finding(rule=rule, rows=np.array([position], np.int64), each_row=True, file=0, details=details)
        )


def line_texts(data: bytes, first: int, last: int) -> str:
    """The text of some physical lines of a UTF-8 file, counted from 1."""
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", errors="replace", newline="")
    return "".join(islice(lines, first - 1, last)).rstrip("\r\n")


def _unclosed_quote(broken: _Broken, data: bytes) -> Finding:
    lines = sum(1 for _ in io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="")) - broken.first + 1
    opened = broken.first
    return Finding(
        rule=rules.FILE_UNCLOSED_QUOTE,
        file=0,
        line=opened,
        value=visible(line_texts(data, opened, opened), 80),
        details={"line": str(opened), "lines": str(lines)},
    )


def _row_findings(table: Table) -> Iterator[Finding]:
    """What the texts of the cells say against their rows: NUL bytes and swallowed rows."""
    for name, column in table.columns.items():
        suspects = [code for code, text in enumerate(column.texts) if "\0" in text or "\n" in text or "\r" in text]
        for code in suspects:
            text = column.texts[code]
            where = np.flatnonzero(column.codes == code)
            if "\0" in text:
                yield Finding(rule=rules.CELL_NUL, column=name, value=text, file=0, rows=where, each_row=True)
            if swallowed := _swallowed_lines(text):
                line = str(int(table.line_numbers[where[0]]))
                yield Finding(
                    rule=rules.ROW_SWALLOWED, column=name, value=text, file=0, rows=where, each_row=True,
                    details={"line": line, "lines": str(swallowed)},
                )  # fmt: skip


def _swallowed_lines(text: str) -> int:
    """How many lines a cell runs over, if one of them has the commas of a whole row; otherwise 0."""
    lines = _LINE_BREAK.split(text)
    return len(lines) if any(line.count(",") >= WIDTH - 3 for line in lines[1:]) else 0


def write_csv(rows: Iterable[tuple[str, ...]]) -> bytes:
    """The canonical CSV of rows of 38 texts: UTF-8, comma, LF, quotes only where they are needed."""
    out = io.StringIO()
    out.write(HEADER + "\n")
    plain = csv.writer(out, lineterminator="\n")
    quoted = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        # Before Python 3.13 the writer leaves a bare carriage return unquoted where lines end in LF.
        (quoted if any("\r" in text for text in row) else plain).writerow(row)
    return out.getvalue().encode()
