"""The JSON of a review, exactly as the contract says (section 4), written in pieces so that a million rows do not
stand in memory twice."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import orjson

from gpucost.findings import Finding
from gpucost.language import Translator
from gpucost.review import Review, ReviewedFile
from gpucost.verdicts import ExperimentVerdict, Status, VariantFigures

PIECE = 8192
"""Entries serialised at a time."""


def review_json(review: Review, to: Translator) -> Iterator[bytes]:
    """The JSON object of a review, in pieces. Only `message` and `remedy` depend on the language."""
    yield b'{"files":' + orjson.dumps([_file(file) for file in review.files])
    yield b',"counts":' + orjson.dumps({status.word: count for status, count in review.counts.items()})
    yield from _list("findings", findings_entries(review, to))
    yield from _list("passes", passes_entries(review))
    yield from _list("variants", map(_variant, review.variants))
    yield from _list("experiments", map(_experiment, review.experiments))
    yield b"}\n"


def _list(name: str, entries: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    yield f',"{name}":['.encode()
    piece: list[dict[str, Any]] = []
    separator = b""
    for entry in entries:
        piece.append(entry)
        if len(piece) == PIECE:
            yield separator + orjson.dumps(piece, default=_large)[1:-1]
            separator = b","
            piece.clear()
    if piece:
        yield separator + orjson.dumps(piece, default=_large)[1:-1]
    yield b"]"


def _large(value: object) -> object:
    """Orjson writes integers up to 64 bits; a larger one keeps its digits as text."""
    if isinstance(value, int):
        return str(value)
    message = f"no JSON for {type(value).__name__}"
    raise TypeError(message)


def _file(file: ReviewedFile) -> dict[str, Any]:
    return {"name": file.name, "sha256": file.sha256, "bytes": file.size_bytes, "rows": file.rows}


def findings_entries(review: Review, to: Translator) -> Iterator[dict[str, Any]]:
    """One entry per finding and place, as the JSON and the downloads hold them."""
    for finding in review.findings:
        yield from finding_entries(finding, review, to)


def finding_entries(finding: Finding, review: Review, to: Translator) -> Iterator[dict[str, Any]]:
    """One entry per place of a finding."""
    said = {
        "column": finding.column,
        "value": finding.value,
        "code": finding.rule.code,
        "severity": finding.severity.value,
        "message": finding.message(to),
        "remedy": finding.remedy(to),
        "section": finding.rule.section,
    }
    for place in review.locator.places(finding):
        yield {"file": place.file, "row": place.row, "line": place.line, **said}


def passes_entries(review: Review) -> Iterator[dict[str, Any]]:
    """One entry per row, in file order. The names of an unreadable row are null."""
    table = review.table
    columns = [table[name] for name in ("experiment_id", "variant_id", "phase")]
    texts: list[list[str | None]] = [list(column.texts) for column in columns]
    runs = [cell.value if isinstance(cell.value, int) else None for cell in table["run_index"].cells]
    words = [status.word for status in Status]
    names = [file.name for file in review.files]
    readable = table.readable.tolist()
    evidence = review.evidence_of if review.evidence else _row_only
    for row, (file, number, line, experiment, variant, phase, run, status) in enumerate(
        zip(
            table.files.tolist(), table.row_numbers.tolist(), table.line_numbers.tolist(),
            *(column.codes.tolist() for column in columns), table["run_index"].codes.tolist(),
            review.statuses.tolist(), strict=True,
        )
    ):  # fmt: skip
        whole = readable[row]
        yield {
            "file": names[file],
            "row": number,
            "line": line,
            "experiment_id": texts[0][experiment] if whole else None,
            "variant_id": texts[1][variant] if whole else None,
            "phase": texts[2][phase] if whole else None,
            "run_index": runs[run] if whole else None,
            "status": words[status],
            "evidence": evidence(row),
        }


def _row_only(_row: int) -> str:
    return "row"


def _seconds(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def _variant(figures: VariantFigures) -> dict[str, Any]:
    return {
        "experiment_id": figures.experiment_id,
        "variant_id": figures.variant_id,
        "phase": figures.phase,
        "rows": len(figures.rows),
        "accepted": len(figures.accepted_rows),
        "median_seconds": _seconds(figures.median_seconds),
        "min_seconds": _seconds(figures.min_seconds),
        "max_seconds": _seconds(figures.max_seconds),
    }


def _experiment(verdict: ExperimentVerdict) -> dict[str, Any]:
    return {
        "experiment_id": verdict.experiment_id,
        "varied": list(verdict.varied),
        "comparable": verdict.comparable,
    }
