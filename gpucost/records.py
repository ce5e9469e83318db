"""Reading lists of IDs, individual outputs, references and splits: JSON Lines, CSV or one ID a line.

A record that cannot be used is kept with its line, its text and the reason; nothing is repaired and nothing raises.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from gpucost.cells import visible
from gpucost.dialect import sniff
from gpucost.findings import Phrase
from gpucost.language import N_


@dataclass(frozen=True, slots=True)
class Document:
    """A file by its name, which is shown and never opened, and its bytes."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that cannot be used as it stands. `row` counts records from 1; `line` is the physical line."""

    row: int
    line: int
    value: str
    reason: Phrase


@dataclass(frozen=True, slots=True)
class Record:
    """One record. `id` and `label` are texts; an integer in JSON is its digits. `label` and `text` are None where
    the record has no such field. `bad` says why the record is not valid; `id` is None where it has no usable ID."""

    row: int
    line: int
    id: str | None
    label: str | None
    text: str | None
    bad: BadRecord | None = None


NOT_JSON = N_("it is not valid JSON")
CUT = N_("it is not valid JSON and it is the last line: the file looks cut; write it again")
NOT_OBJECT = N_("it is not a JSON object")
NO_ID = N_("it has no `id`")
BAD_ID = N_("its `id` is neither a text nor a whole number")
EMPTY_ID = N_("its `id` is empty")
NO_LABEL = N_("it has no `label`")
BAD_LABEL = N_("its `label` is neither a text nor a whole number")
EMPTY_LABEL = N_("its `label` is empty")
KEY_TWICE = N_("one of its keys stands twice")
CELL_COUNT = N_("it has {count} cells for {due} columns")
NOT_CSV = N_("its quotation marks do not fit: nothing from here on could be separated")

WORKBOOK = N_("{name} is not text: its first bytes are those of a {kind} file; save it as CSV UTF-8 or JSON Lines")
ENCODING = N_("{name} is not UTF-8 but looks like {encoding}; save it as UTF-8")
SEPARATOR = N_("{name} separates its columns by `{mark}` where a comma is due; save it with commas")
NO_ID_COLUMN = N_("{name} has no `id` column; its header is: {header}")
JSON_ARRAY = N_("{name} is one JSON array; write one object a line (JSON Lines)")
NO_LABEL_COLUMN = N_("{name} has no `label` column; its header is: {header}")


def unusable(document: Document, *, plain: bool, labels: bool) -> Phrase | None:
    """Why nothing of a document can be read, None where it can. `plain`: one ID a line is allowed."""
    if not document.data.strip():
        return None
    dialect = sniff(document.data)
    name = visible(document.name, 80)
    if dialect.container:
        return Phrase(WORKBOOK, {"name": name, "kind": dialect.container.upper()})
    if dialect.encoding != "utf-8":
        return Phrase(ENCODING, {"name": name, "encoding": dialect.encoding.upper()})
    head = document.data[:3].removeprefix(b"\xef\xbb\xbf") + document.data[3:64]
    if head.lstrip().startswith(b"["):
        return Phrase(JSON_ARRAY, {"name": name})
    if is_json(document.data):
        return None
    first = _first_line(document.data)
    names = next(csv.reader([first]), [])
    if "id" in names:
        if labels and "label" not in names:
            return Phrase(NO_LABEL_COLUMN, {"name": name, "header": visible(first, 120)})
        return None
    for mark in (";", "\t", "|"):
        if "id" in first.split(mark) or (labels and mark in first):
            return Phrase(SEPARATOR, {"name": name, "mark": visible(mark)})
    return None if plain else Phrase(NO_ID_COLUMN, {"name": name, "header": visible(first, 120)})


def is_json(data: bytes) -> bool:
    """Whether a document is JSON Lines, by its first character."""
    return data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _first_line(data: bytes) -> str:
    text = data[:65_536].decode("utf-8-sig", "replace")
    return next(iter(io.StringIO(text, newline=None)), "").rstrip("\n")


def is_plain_list(data: bytes) -> bool:
    """Whether a document is one ID a line: neither JSON Lines nor a CSV with an `id` column."""
    return not is_json(data) and "id" not in next(csv.reader([_first_line(data)]), [])


def read_id_list(data: bytes) -> list[str]:
    """The IDs of a plain list, in order: every character of a line but its end. Blank lines hold none."""
    text = data.decode("utf-8-sig")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return [line for line in text.split("\n") if line]


def read_records(document: Document, *, labels: bool) -> Iterator[Record]:
    """Every record of a usable document, in order, the bad ones too. `labels`: a record needs a label."""
    if is_json(document.data):
        return _json_records(document.data, labels=labels)
    return _csv_records(document.data, labels=labels)


def json_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of a JSON Lines document that hold something, numbered from 1, without their line ends."""
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    for number, line in enumerate(io.BytesIO(data), 1):
        stripped = line.strip()
        if stripped:
            yield number, stripped


def _json_records(data: bytes, *, labels: bool) -> Iterator[Record]:
    last = data.count(b"\n") + (0 if data.endswith(b"\n") else 1)
    for row, (line, text) in enumerate(json_lines(data), 1):
        yield json_record(row, line, text, labels=labels, at_end=line >= last)


def json_record(row: int, line: int, text: bytes, *, labels: bool, at_end: bool) -> Record:
    """One record of a JSON line, examined in full."""

    def bad(reason: str, name: str | None = None, label: str | None = None, value: str | None = None) -> Record:
        shown = text.decode("utf-8", "replace") if value is None else value
        return Record(row, line, name, label, None, BadRecord(row, line, visible(shown), Phrase(reason)))

    try:
        fields = json.loads(text, object_pairs_hook=_pairs)
        orjson.loads(text)  # stricter: refuses what is no JSON after all, such as NaN or a lone surrogate
    except _KeyTwiceError:
        return bad(KEY_TWICE)
    except ValueError:
        return bad(CUT if at_end else NOT_JSON)
    if not isinstance(fields, dict):
        return bad(NOT_OBJECT)
    if "id" not in fields:
        return bad(NO_ID)
    name = as_text(fields["id"])
    if not name:
        return bad(BAD_ID if name is None else EMPTY_ID)
    field = fields.get("text")
    label = as_text(fields["label"]) if "label" in fields else None
    if labels and not label:
        reason = NO_LABEL if "label" not in fields else BAD_LABEL if label is None else EMPTY_LABEL
        return bad(reason, name, None, str(fields.get("label", "")))
    return Record(row, line, name, label, field if isinstance(field, str) else None)


class _KeyTwiceError(Exception):
    """A key of a JSON object stands twice, so that its value is anybody's guess."""


def _pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _KeyTwiceError
    return fields


def as_text(value: object) -> str | None:
    """A text, or the digits of a whole number; None for anything else (true, 7.0, null, a list)."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _csv_records(data: bytes, *, labels: bool) -> Iterator[Record]:
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
    header: list[str] = []
    row = 0
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield Record(row + 1, line, None, None, None, BadRecord(row + 1, line, "", Phrase(NOT_CSV)))
            return
        if not cells:
            continue
        if not header:
            header = cells
            continue
        row += 1
        yield _csv_record(row, line, cells, header, labels=labels)


def _csv_record(row: int, line: int, cells: list[str], header: list[str], *, labels: bool) -> Record:
    def bad(reason: Phrase, name: str | None, value: str) -> Record:
        return Record(row, line, name, None, None, BadRecord(row, line, visible(value), reason))

    if len(cells) != len(header):
        details = {"count": str(len(cells)), "due": str(len(header))}
        return bad(Phrase(CELL_COUNT, details), None, ",".join(cells))
    fields = dict(zip(header, cells, strict=True))
    name = fields["id"]
    if not name:
        return bad(Phrase(EMPTY_ID), None, ",".join(cells))
    label = fields.get("label")
    if labels and not label:
        return bad(Phrase(EMPTY_LABEL), name, label or "")
    return Record(row, line, name, label, fields.get("text"))
