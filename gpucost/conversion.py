"""The explicit conversion: a spreadsheet's export in, the canonical CSV and every changed cell out.

Only spellings are converted: a value that is well spelled and out of range passes as it stands, for `check` to judge.
What may be read in two ways, and what has lost digits, is refused, and then nothing is written. Identifiers and texts
are never touched. Contract, sections 2 and 4.
"""

import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from gpucost.cells import SPREADSHEET_NUMBER, CellType, Fault, visible
from gpucost.columns import COLUMNS, NAMES, Column
from gpucost.dialect import Dialect, decode_text, sniff
from gpucost.findings import Detail, Finding, Phrase, Rule
from gpucost.language import N_, Translator
from gpucost.reader import LARGEST_CELL, WIDTH, header_difference, write_csv
from gpucost.rules import conversion as rules
from gpucost.rules import format as format_rules
from gpucost.spreadsheet import FRENCH_SUFFIX, restored


class Change(NamedTuple):
    """One cell that is spelled anew. `row` counts data rows from 1; `line` is where the row starts."""

    row: int
    line: int
    column: str
    before: str
    after: str


@dataclass(frozen=True)
class Conversion:
    """What a conversion gives: the canonical file or what it refuses, and every change.

    `canonical` is None where anything was refused. `remarks` are the changes to the file as a whole. `changes` are
    the cells that are spelled anew, or would be, in the order of the file; `sha256` is that of the original bytes.
    """

    name: str
    sha256: str
    rows: int
    canonical: bytes | None
    remarks: tuple[Phrase, ...]
    changes: tuple[Change, ...]
    refused: tuple[Finding, ...]

    @property
    def unchanged(self) -> bool:
        """Whether the original is canonical already, so that `canonical` is the original, byte for byte."""
        return not (self.refused or self.changes or self.remarks)

    def to_json(self, to: Translator) -> dict[str, Any]:
        """The JSON object of `convert --json`."""
        return {
            "name": self.name,
            "sha256": self.sha256,
            "rows": self.rows,
            "file": [remark.render(to) for remark in self.remarks],
            "changes": [change._asdict() for change in self.changes],
            "refused": [
                {
                    "row": refusal.row,
                    "line": refusal.line,
                    "column": refusal.column,
                    "value": refusal.value,
                    "code": refusal.rule.code,
                    "message": refusal.message(to),
                    "remedy": refusal.remedy(to),
                    "section": refusal.rule.section,
                }
                for refusal in self.refused
            ],
        }


def convert(name: str, data: bytes) -> Conversion:
    """Convert one file. Never raises; `name` is shown, never opened."""
    sha256 = hashlib.sha256(data).hexdigest()
    dialect = sniff(data)
    text = _text(data, dialect)
    if isinstance(text, Finding):
        return Conversion(name, sha256, 0, None, (), (), (text,))
    sheet = _Sheet(text, dialect.delimiter)
    notation = _Notation.of(sheet.rows, dialect.delimiter)
    spellings = [_Spelling(column, notation, dialect.delimiter, copy=FRENCH_SUFFIX in name) for column in COLUMNS]
    changes, refused, rows = _respell(sheet.rows, spellings)
    refused = sorted([*sheet.refused, *refused], key=lambda refusal: refusal.line or 0)
    remarks = (*_remarks(dialect, text), *sheet.remarks)
    canonical: bytes | None = None
    if not refused:
        canonical = write_csv(rows) if remarks or changes else data
    return Conversion(name, sha256, sheet.count, canonical, remarks, tuple(changes), tuple(refused))


# The bytes


_UTF8_INSIDE = re.compile(rb"[\xc2\xc3](?:[\x80-\xbf]|\Z)|\xe2[\x80\x82][\x80-\xbf]")
"""Accents and dashes as UTF-8 writes them. Text in cp1252 holds none of these pairs."""


def _text(data: bytes, dialect: Dialect) -> str | Finding:
    """The text of the file, or why it cannot be told."""
    if not data:
        return Finding(rule=format_rules.FILE_EMPTY)
    if dialect.container:
        return Finding(rule=format_rules.FILE_NOT_CSV, details={"kind": dialect.container.upper()})
    if doubt := _doubt(data, dialect):
        line = dialect.first_bad_byte.line if dialect.first_bad_byte else 1
        return Finding(rule=rules.ENCODING_UNCERTAIN, line=line, details={"why": doubt})
    try:
        return decode_text(data, dialect)
    except UnicodeDecodeError as error:
        details = {"encoding": dialect.encoding.upper(), "offset": str(error.start)}
        why = Phrase(N_("they look like {encoding}, and byte {offset} does not fit it"), details)
        line = len(_LINE_BREAK.findall(data[: error.start].decode(dialect.encoding))) + 1
        return Finding(rule=rules.ENCODING_UNCERTAIN, line=line, details={"why": why})


def _doubt(data: bytes, dialect: Dialect) -> Phrase | None:
    """Why bytes that are not UTF-8 are no text in cp1252 either, if so."""
    bad = dialect.first_bad_byte
    if bad is None:
        return None
    details = {"byte": f"0x{bad.value:02X}", "line": str(bad.line)}
    if dialect.bom or _UTF8_INSIDE.search(data):
        return Phrase(N_("part of them is UTF-8, and {byte} on line {line} is not"), details)
    if dialect.line_ends == {"\r"}:
        return Phrase(
            N_("{byte} on line {line} is not UTF-8, and lines end in a lone CR: Mac Roman or Windows-1252?"), details
        )
    return None


def _remarks(dialect: Dialect, text: str) -> Iterator[Phrase]:
    """What changes in the file as a whole, from its bytes to its lines."""
    if bad := dialect.first_bad_byte:
        near = text[max(0, bad.offset - 20) : bad.offset + 20]
        details = {"byte": f"0x{bad.value:02X}", "line": str(bad.line), "near": visible(near)}
        yield Phrase(
            N_("Encoding: Windows-1252 (cp1252) becomes UTF-8. It is likely, not certain: {byte} on line {line} was"
               " read as in {near}"),
            details,
        )  # fmt: skip
    elif dialect.encoding != "utf-8":
        yield Phrase(N_("Encoding: {encoding} becomes UTF-8"), {"encoding": dialect.encoding.upper()})
    elif dialect.bom:
        yield Phrase(N_("The byte order mark (U+FEFF) at the beginning is left out"))
    if dialect.delimiter != ",":
        shown = {"\t": "TAB (U+0009)"}.get(dialect.delimiter, f"`{dialect.delimiter}`")
        yield Phrase(N_("Separator: {separator} becomes a comma"), {"separator": shown})


# The rows


class _Row(NamedTuple):
    number: int
    line: int
    cells: list[str]


_LONE_CR = re.compile(r"\r(?!\n)")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class _Sheet:
    """The text separated into rows of 38 cells, what could not be separated, and what is left out on the way.

    `count` counts data rows, those that are refused included.
    """

    def __init__(self, text: str, delimiter: str) -> None:
        self.rows: list[_Row] = []
        self.refused: list[Finding] = []
        self.remarks: list[Phrase] = []
        self.count = 0
        self._text = text
        self._blank_lines: list[int] = []
        records = _records(text, delimiter)
        if self._header(records):
            self._read(records)
        self._remark_lines()

    def _header(self, records: "Iterator[tuple[int, list[str] | Rule]]") -> bool:
        for line, record in records:
            if isinstance(record, Rule):
                self._refuse(record, None, line)
                return False
            if record == ["sep=", ""]:
                self.remarks.append(Phrase(N_("The line `sep=` before the header is left out")))
                continue
            if not record:
                self._blank_lines.append(line)
                continue
            names = [name.strip(_SPACES) for name in record]
            if tuple(names) != NAMES:
                difference = {"difference": header_difference(names)}
                self.refused.append(Finding(rule=format_rules.HEADER_NAMES, line=line, details=difference))
                return False
            if names != record:
                self.remarks.append(Phrase(N_("Spaces around the names of the header are left out")))
            return True
        self.refused.append(Finding(rule=format_rules.FILE_EMPTY))
        return False

    def _read(self, records: "Iterator[tuple[int, list[str] | Rule]]") -> None:
        for line, record in records:
            if not record:
                self._blank_lines.append(line)
                continue
            self.count += 1
            if isinstance(record, Rule):
                self._refuse(record, self.count, line)
            elif len(record) != WIDTH:
                self._refuse(format_rules.ROW_CELL_COUNT, self.count, line, count=str(len(record)))
            elif record[0] == NAMES[0] and tuple(record) == NAMES:
                self._refuse(format_rules.ROW_HEADER_AGAIN, self.count, line)
            else:
                self.rows.append(_Row(self.count, line, record))

    def _refuse(self, rule: Rule, row: int | None, line: int, **details: str) -> None:
        shown = visible(self._lines[line - 1].rstrip("\r\n"), 80)
        said = {"line": str(line), "lines": str(len(self._lines) - line + 1), **details}
        self.refused.append(Finding(rule=rule, row=row, line=line, value=shown, details=said))

    @cached_property
    def _lines(self) -> list[str]:
        return list(io.StringIO(self._text, newline=""))

    def _remark_lines(self) -> None:
        if self._blank_lines:
            details = {"count": str(len(self._blank_lines)), "line": str(self._blank_lines[0])}
            self.remarks.append(Phrase(N_("Blank lines: {count}, the first on line {line}, are left out"), details))
        if "\r" not in self._text:
            return
        # A carriage return inside a quoted cell belongs to it; every other lone one ends a line.
        inside = sum(len(_LONE_CR.findall(cell)) for row in self.rows for cell in row.cells if "\r" in cell)
        if len(_LONE_CR.findall(self._text)) > inside:
            self.remarks.append(Phrase(N_("Line ends: a lone carriage return (CR) becomes a line feed (LF)")))


def _records(text: str, delimiter: str) -> "Iterator[tuple[int, list[str] | Rule]]":
    """Every record with the line on which it starts, a blank line as an empty list; the rule that refuses it where
    the CSV grammar does. Nothing follows a quotation mark that stays open."""
    csv.field_size_limit(LARGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "end of data" in str(error) or reader.line_num > line:
                yield line, format_rules.FILE_UNCLOSED_QUOTE
                return
            yield line, format_rules.ROW_QUOTES


# The cells


class _Refused(NamedTuple):
    """Why a cell has no canonical spelling."""

    rule: Rule
    details: Mapping[str, Detail]


def _fault(fault: Fault) -> _Refused:
    return _Refused(format_rules.FAULT_RULES[fault], {})


_SPACES = " \u00a0\u202f"
"""Spaces that a spreadsheet puts between thousands, and around a number that it aligns."""
_GROUPED = re.compile(rf"-?[1-9][0-9]{{0,2}}([{_SPACES}][0-9]{{3}})+([.,][0-9]+)?", re.ASCII)
_MARKED = re.compile(r"-?[0-9]+([.,])[0-9]+(?:e-[0-9]{1,3})?", re.ASCII)
_THOUSANDS = re.compile(r"-?[1-9][0-9]{0,2}[.,][0-9]{3}", re.ASCII)
_TRUE_WORDS = ("true", "vrai", "oui", "yes", "1")
_FALSE_WORDS = ("false", "faux", "non", "no", "0")
_WORDS = dict.fromkeys(_TRUE_WORDS, "true") | dict.fromkeys(_FALSE_WORDS, "false")
_OUT_OF_RANGE = (Fault.NEGATIVE, Fault.NOT_FINITE)
"""Faults of a value, not of its spelling."""


def _without_spaces(text: str) -> str:
    """A number without the spaces around it, and without those between groups of exactly three digits."""
    bare = text.strip(_SPACES)
    return re.sub(f"[{_SPACES}]", "", bare) if _GROUPED.fullmatch(bare) else bare


@dataclass(frozen=True, slots=True)
class _Notation:
    """How a file writes decimals: its mark, empty where that cannot be told; and for each mark how many cells of the
    decimal columns hold it, with an example."""

    mark: str
    counts: Mapping[str, int]
    examples: Mapping[str, str]

    @classmethod
    def of(cls, rows: Sequence[_Row], delimiter: str) -> "_Notation":
        counts = {".": 0, ",": 0}
        examples: dict[str, str] = {}
        certain = False
        for position, column in enumerate(COLUMNS):
            if column.cell_type is not CellType.DECIMAL:
                continue
            for text, count in Counter(row.cells[position] for row in rows).items():
                number = _without_spaces(text)
                if found := _MARKED.fullmatch(number):
                    counts[found[1]] += count
                    examples.setdefault(found[1], text)
                    certain |= found[1] == "," and not _THOUSANDS.fullmatch(number)
        return cls(_mark(counts, delimiter, certain_comma=certain), counts, examples)

    def doubt(self, number: str, mark: str, *, whole: bool) -> _Refused | None:
        """Why a number with this mark cannot be read in this file, if so. In a column of whole numbers, all of the
        decimals are zeros, and `3.000` is 3 only where decimals have a point."""
        usual = mark == self.mark
        if _THOUSANDS.fullmatch(number) and not (usual and (mark == "." or not whole)):
            readings = {"decimal": number.replace(",", "."), "whole": re.sub("[.,]", "", number)}
            return _Refused(rules.NUMBER_AMBIGUOUS, readings)
        if usual or (whole and mark == "."):
            return None
        other = "," if mark == "." else "."
        if not self.counts[other]:
            return _fault(Fault.DECIMAL_COMMA)
        example = visible(self.examples[other])
        return _Refused(rules.DECIMALS_MIXED, {"count": str(self.counts[other]), "example": example})


def _mark(counts: Mapping[str, int], delimiter: str, *, certain_comma: bool) -> str:
    """The decimal mark of a file. Where it holds both marks, the rarer one is refused; between commas it is the
    comma, for a comma among decimal points may stand between thousands."""
    points, commas = counts["."], counts[","]
    if points and commas:
        if delimiter == ",":
            return "."
        return "" if points == commas else max(counts, key=lambda mark: counts[mark])
    if points:
        return "."
    if delimiter != ",":
        return ","
    if commas:
        return "," if certain_comma else ""
    return "."


class _Spelling(dict[str, "str | _Refused"]):
    """The canonical spelling of each distinct text of a column, found out once; `copy` marks our own French copy,
    whose neutralised formulas are restored."""

    def __init__(self, column: Column, notation: _Notation, delimiter: str, *, copy: bool) -> None:
        super().__init__()
        self._column = column
        self._notation = notation
        self._delimiter = delimiter
        self._copy = copy

    def __missing__(self, text: str) -> "str | _Refused":
        spelled = self[text] = self._damage(text) or self._spell(text)
        return spelled

    def _damage(self, text: str) -> _Refused | None:
        if "\0" in text:
            return _Refused(format_rules.CELL_NUL, {})
        if "\n" in text or "\r" in text:
            lines = _LINE_BREAK.split(text)
            if any(line.count(self._delimiter) >= WIDTH - 3 for line in lines[1:]):
                return _Refused(format_rules.ROW_SWALLOWED, {"lines": str(len(lines))})
        return None

    def _spell(self, text: str) -> "str | _Refused":
        kind = self._column.cell_type
        if kind is CellType.BOOLEAN:
            word = text.strip(_SPACES).lower()
            return _WORDS.get(word) or (_fault(Fault.NOT_BOOLEAN) if word else "")
        if kind in (CellType.INTEGER, CellType.DECIMAL):
            return self._number(text)
        if kind is CellType.IDENTIFIER and SPREADSHEET_NUMBER.fullmatch(text):
            return _fault(Fault.LOST_DIGITS)
        return restored(text) if self._copy else text

    def _number(self, text: str) -> "str | _Refused":
        number = _without_spaces(text)
        if (found := _MARKED.fullmatch(number)) and not self._column.is_money:
            whole = self._column.cell_type is CellType.INTEGER
            if doubt := self._notation.doubt(number, found[1], whole=whole):
                return doubt
            number = number.replace(",", ".")
        cell = self._column.parse(number)
        if cell.fault is None:
            return cell.canonical
        return number if cell.fault in _OUT_OF_RANGE else _fault(cell.fault)


def _respell(
    rows: Iterable[_Row], spellings: Sequence[_Spelling]
) -> tuple[list[Change], list[Finding], list[tuple[str, ...]]]:
    """Every changed cell and every refused one, in the order of the file, and the rows that are canonical now."""
    changes: list[Change] = []
    refused: list[Finding] = []
    canonical: list[tuple[str, ...]] = []
    for row in rows:
        spelled = [spelling[text] for spelling, text in zip(spellings, row.cells, strict=True)]
        if spelled == row.cells:
            canonical.append(tuple(row.cells))
            continue
        cells: list[str] = []
        for name, before, after in zip(NAMES, row.cells, spelled, strict=True):
            if isinstance(after, _Refused):
                refused.append(_refusal(row, name, before, after))
                continue
            cells.append(after)
            if after != before:
                changes.append(Change(row.number, row.line, name, before, after))
        canonical.append(tuple(cells))
    return changes, refused, canonical


def _refusal(row: _Row, column: str, value: str, refused: _Refused) -> Finding:
    details = {"line": str(row.line), **refused.details}
    return Finding(rule=refused.rule, row=row.number, line=row.line, column=column, value=value, details=details)
