"""Reading lists of IDs, individual outputs, references and splits: JSON Lines, CSV or one ID a line.

A record that cannot be used is kept with its line, its text and the reason; nothing is repaired and nothing raises.
"""

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import PurePath
from typing import Any

import orjson

from gpucost.cells import visible
from gpucost.dialect import Dialect, sniff
from gpucost.language import N_
from gpucost.phrases import Phrase


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


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive valid records of a JSON Lines document, one a line, in columns: a long file makes few of them."""

    first_row: int
    first_line: int
    ids: list[str]
    labels: list[str]

    def records(self) -> Iterator[Record]:
        """The same records one by one."""
        for place, (name, label) in enumerate(zip(self.ids, self.labels, strict=True)):
            yield Record(self.first_row + place, self.first_line + place, name, label, None)


PIECE_BYTES = 1 << 15
"""How much of a JSON Lines document is parsed at once: large enough for one call, small enough for a cache."""
_BOM = codecs.BOM_UTF8
_ARRAY = re.compile(rb"\s*\[\s*[\[{\"]")

NOT_JSON = N_("it is not valid JSON")
NOT_STRICT_JSON = N_("it holds what JSON does not allow: NaN, Infinity or half a character; write null or the text")
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
NOT_CSV = N_("its quotation marks do not fit")
OPEN_QUOTE = N_("a quotation mark is never closed: nothing from here on could be separated")

WORKBOOK = N_("{name} is not text: its first bytes are those of a {kind} file; save it as CSV UTF-8 or JSON Lines")
ENCODING = N_("{name} is not UTF-8 but looks like {encoding}; save it as UTF-8")
SEPARATOR = N_("{name} separates its columns by `{mark}` where a comma is due; save it with commas")
NO_ID_COLUMN = N_("{name} has no `id` column; its header is: {header}")
COLUMN_TWICE = N_("{name} has two columns of one name; its header is: {header}")
JSON_ARRAY = N_("{name} is one JSON array; write one object a line (JSON Lines)")
JSON_DOCUMENT = N_("{name} is one JSON object over several lines; write one object a line (JSON Lines)")
NO_LABEL_COLUMN = N_("{name} has no `label` column; its header is: {header}")


def unusable(document: Document, *, plain: bool, labels: bool, ids: bool = True) -> Phrase | None:
    """Why nothing of a document can be read, None where it can.

    `plain`: one ID a line is allowed. `labels`, `ids`: a CSV needs a column of that name.
    """
    data = document.data
    if is_blank(data):
        return None
    name = visible(document.name, 80)
    # The whole of an ASCII file tells no more about its encoding than its beginning.
    dialect = sniff(data[:PIECE_BYTES] if data.isascii() else data)
    if dialect.container:
        return Phrase(WORKBOOK, {"name": name, "kind": dialect.container.upper()})
    if dialect.encoding != "utf-8" and not _is_cut_character(data, dialect):
        return Phrase(ENCODING, {"name": name, "encoding": dialect.encoding.upper()})
    if _is_json_array(data):
        return Phrase(JSON_ARRAY, {"name": name})
    if is_json(data):
        return Phrase(JSON_DOCUMENT, {"name": name}) if _is_json_document(data) else None
    return _unusable_header(document, plain=plain, needed=[*["id"] * ids, *["label"] * labels])


def _unusable_header(document: Document, *, plain: bool, needed: Sequence[str]) -> Phrase | None:
    first = _first_line(document.data)
    details = {"name": visible(document.name, 80), "header": visible(first, 120)}
    cells = _cells(first, ",")
    if "id" in cells or ("id" not in needed and "text" in cells and len(cells) > 1):
        if len(set(cells)) < len(cells):
            return Phrase(COLUMN_TWICE, details)
        return Phrase(NO_LABEL_COLUMN, details) if "label" in needed and "label" not in cells else None
    for mark in (";", "\t", "|"):
        if "id" in _cells(first, mark) or (not plain and mark in first):
            return Phrase(SEPARATOR, {**details, "mark": visible(mark)})
    table = len(cells) > 1 and PurePath(document.name).suffix.lower() in (".csv", ".tsv")
    return None if plain and not table else Phrase(NO_ID_COLUMN, details)


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def _is_cut_character(data: bytes, dialect: Dialect) -> bool:
    """Whether the only fault of the encoding is a JSON Lines document that ends inside a character."""
    bad = dialect.first_bad_byte
    if bad is None or not is_json(data) or bad.offset < len(data) - 3:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data[bad.offset :])
    except UnicodeDecodeError:
        return False
    return True


def _is_json_array(data: bytes) -> bool:
    body = data.removeprefix(_BOM) if data.startswith(_BOM) else data
    if not body[:4096].lstrip().startswith(b"["):
        return False
    return _ARRAY.match(body[:4096]) is not None or _is_whole_json(body)


def _is_json_document(data: bytes) -> bool:
    """Whether a document that begins like JSON Lines is one object, printed over several lines."""
    body = data.removeprefix(_BOM) if data.startswith(_BOM) else data
    first = body[: body.find(b"\n") + 1]
    return bool(first) and not _is_whole_json(first) and _is_whole_json(body)


def _is_whole_json(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True


def is_blank(data: bytes) -> bool:
    """Whether a document holds nothing: no byte, or a byte order mark and blank lines."""
    body = data.removeprefix(_BOM) if data.startswith(_BOM) else data
    return not body or body.isspace()


def is_json(data: bytes) -> bool:
    """Whether a document is JSON Lines, by its first character."""
    return data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _first_line(data: bytes) -> str:
    text = data[:65_536].decode("utf-8-sig", "replace")
    return next(iter(io.StringIO(text, newline=None)), "").rstrip("\n")


def is_plain_list(document: Document) -> bool:
    """Whether a usable document is one ID a line: neither JSON Lines nor a CSV with an `id` or a `text` column."""
    if is_json(document.data):
        return False
    cells = _cells(_first_line(document.data), ",")
    return "id" not in cells and not (len(cells) > 1 and "text" in cells)


def read_id_list(data: bytes) -> list[str]:
    """The IDs of a plain list, in order: every character of a line but its end. Blank lines hold none."""
    text = data.decode("utf-8-sig")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.removesuffix("\n").split("\n")
    return [line for line in lines if line] if "" in lines else lines


def read_records(document: Document, *, labels: bool, ids: bool = True) -> Iterator[Record]:
    """Every record of a usable document, in order, the bad ones too. `labels`, `ids`: a record needs one."""
    if is_json(document.data):
        body, last = _json_body(document.data)
        return _json_records(body, 1, 1, last, labels=labels, ids=ids)
    return _csv_records(document.data, labels=labels, ids=ids)


def read_outputs(document: Document) -> Iterator[Batch | Record]:
    """Every record of usable outputs, in order, as `read_records` gives it; valid JSON lines come in batches."""
    if not is_json(document.data):
        yield from _csv_records(document.data, labels=True, ids=True)
        return
    body, last = _json_body(document.data)
    row = line = 1
    start = 0
    while start < len(body):
        end = body.find(b"\n", start + PIECE_BYTES) + 1 or len(body)
        piece = body[start:end]
        if batch := _batch(piece, row, line):
            yield batch
            row += len(batch.ids)
        else:
            for record in _json_records(piece, row, line, last, labels=True, ids=True):
                yield record
                row = record.row + 1
        line += piece.count(b"\n")
        start = end


def _json_body(data: bytes) -> tuple[bytes, int]:
    """A document without its byte order mark, its lines ended by LF or CRLF, and the number of its last line."""
    body = data.removeprefix(_BOM) if data.startswith(_BOM) else data
    if b"\r" in body and b"\n" not in body:
        body = body.replace(b"\r", b"\n")
    return body, body.count(b"\n") + (0 if body.endswith(b"\n") else 1)


_ID, _LABEL = itemgetter("id"), itemgetter("label")


def _batch(piece: bytes, first_row: int, first_line: int) -> Batch | None:
    """The records of some lines where all are valid for certain; None where each must be examined by itself.

    The lines are parsed as one array, a comma put at each line end. That is the same as parsing each line: without
    a `[` of their own, a comma before a `{` separates elements of that array or is no JSON at all. As many colons as
    fields means that no key stands twice, for orjson keeps only the last one.
    """
    lines = piece.rstrip()
    count = lines.count(b"\n") + 1
    if b"[" in lines or not lines.startswith(b"{") or lines.count(b"\n{") != count - 1:
        return None
    try:
        rows = orjson.loads(b"[" + lines.replace(b"\n", b",\n") + b"]")
        ids, labels = list(map(_ID, rows)), list(map(_LABEL, rows))
    except (orjson.JSONDecodeError, KeyError):
        return None
    if len(rows) != count or sum(map(len, rows)) != lines.count(b":"):
        return None
    types = {*map(type, ids), *map(type, labels)}
    if types in ({int}, {str, int}):
        ids, labels = list(map(str, ids)), list(map(str, labels))
    elif types != {str}:
        return None
    return Batch(first_row, first_line, ids, labels) if all(ids) and all(labels) else None


def _json_records(
    piece: bytes, first_row: int, first_line: int, last_line: int, *, labels: bool, ids: bool
) -> Iterator[Record]:
    row = first_row
    for line, text in enumerate(piece.split(b"\n"), first_line):
        if stripped := text.strip():
            yield json_record(row, line, stripped, labels=labels, ids=ids, at_end=line >= last_line)
            row += 1


def json_record(row: int, line: int, text: bytes, *, labels: bool, at_end: bool, ids: bool = True) -> Record:
    """One record of a JSON line, examined in full. A record with a bad label still has its ID."""

    def bad(reason: str, name: str | None = None, value: str | None = None) -> Record:
        shown = text.decode("utf-8", "replace") if value is None else value
        return Record(row, line, name, None, None, BadRecord(row, line, visible(shown), Phrase(reason)))

    try:
        fields, strict = _json_fields(text)
    except _KeyTwiceError:
        return bad(KEY_TWICE)
    except (ValueError, RecursionError):
        return bad(CUT if at_end else NOT_JSON)
    if not isinstance(fields, dict):
        return bad(NOT_OBJECT)
    name = as_text(fields.get("id"))
    if not strict:
        return bad(NOT_STRICT_JSON, name or None)
    if ids and not name:
        return bad(NO_ID if "id" not in fields else BAD_ID if name is None else EMPTY_ID)
    label = as_text(fields.get("label"))
    if labels and not label:
        if "label" not in fields:
            return bad(NO_LABEL, name)
        return bad(BAD_LABEL if label is None else EMPTY_LABEL, name, _shown_json(fields["label"]))
    field = fields.get("text")
    return Record(row, line, name or None, label, field if isinstance(field, str) else None)


def _json_fields(text: bytes) -> tuple[Any, bool]:
    """What a line holds, and whether it is strict JSON. Raises _KeyTwiceError, or ValueError where it is none."""
    try:
        fields = orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text, object_pairs_hook=_pairs), False
    if not isinstance(fields, dict):
        return fields, True
    # orjson keeps the last of two equal keys, and makes a float of an integer beyond 64 bits.
    if text.count(b":") > len(fields) or float in (type(fields.get("id")), type(fields.get("label"))):
        fields = json.loads(text, object_pairs_hook=_pairs)
    return fields, True


def _shown_json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class _KeyTwiceError(Exception):
    """A key of a JSON object stands twice, so that its value is anybody's guess."""


def _pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _KeyTwiceError
    return fields


def as_text(value: object) -> str | None:
    """A text, or the digits of a whole number; None for anything else (true, 7.0, null, a list, half a character)."""
    if isinstance(value, str):
        return value if value.isascii() or not _SURROGATE.search(value) else None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


_SURROGATE = re.compile("[\ud800-\udfff]")


def _csv_records(data: bytes, *, labels: bool, ids: bool) -> Iterator[Record]:
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline=""), strict=True)
    header: list[str] = []
    row = 0
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            row += 1
            reason = OPEN_QUOTE if "end of data" in str(error) else NOT_CSV
            yield Record(row, line, None, None, None, BadRecord(row, line, "", Phrase(reason)))
            continue
        if not cells:
            continue
        if not header:
            header = cells
            continue
        row += 1
        yield _csv_record(row, line, cells, header, labels=labels, ids=ids)


def _csv_record(row: int, line: int, cells: list[str], header: list[str], *, labels: bool, ids: bool) -> Record:
    def bad(reason: Phrase, name: str | None, value: str) -> Record:
        return Record(row, line, name, None, None, BadRecord(row, line, visible(value), reason))

    if len(cells) != len(header):
        details = {"count": str(len(cells)), "due": str(len(header))}
        return bad(Phrase(CELL_COUNT, details), None, ",".join(cells))
    fields = dict(zip(header, cells, strict=True))
    name = fields.get("id") or None
    if ids and name is None:
        return bad(Phrase(EMPTY_ID), None, ",".join(cells))
    label = fields.get("label")
    if labels and not label:
        return bad(Phrase(EMPTY_LABEL), name, "")
    return Record(row, line, name, label, fields.get("text"))
