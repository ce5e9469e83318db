"""Evidence: the verdicts of a run's folder, recomputed from the individual outputs beside its rows.

A `true` that somebody typed proves nothing; the outputs do. Each row with outputs has its IDs, its format and its
quality computed again, and a row that its own outputs contradict is an error. Contract, sections 3 and 4.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from gpucost.announced import Announced
from gpucost.audit import COMPUTABLE, AuditReport, Corpus, Document
from gpucost.findings import Detail, Finding, Phrase, Rule
from gpucost.folder import EXPECTED_IDS, PROTOCOL, REFERENCE, RunFolder, control_name, outputs_name
from gpucost.language import N_
from gpucost.quality import metric_named
from gpucost.rules import outputs as rules
from gpucost.table import Table
from gpucost.verdicts import LOAD

RECOMPUTATION_ERROR = Decimal("1e-9")
"""Two computations of one metric may differ in their last binary digits, never by more than this."""
ROUNDING = Decimal("0.0005")
"""A written value may be rounded to three decimals or more; coarser ones must be exact."""


@dataclass(frozen=True, slots=True)
class PassEvidence:
    """What the outputs of one pass say. `whole`: the verdict follows from them alone; False where a piece lacks
    (no reference, say), so that it still rests on what the row says."""

    outputs: str
    outputs_sha256: str
    report: AuditReport
    whole: bool
    input_order_sha256: str | None


@dataclass(frozen=True, slots=True)
class FolderEvidence:
    """The evidence of a folder, by row of its `results.csv` counted from 0, and the findings about it. `announced` is
    what its protocol file says, None where it has none that can be read."""

    passes: dict[int, PassEvidence]
    findings: list[Finding]
    announced: Announced | None = None


def recompute(folder: RunFolder, table: Table) -> FolderEvidence:
    """Recompute every pass of a folder from its outputs. Never raises on what stands in the folder."""
    announced, unreadable = _announced(folder)
    corpus, reasons = _corpus(folder, announced)
    passes: dict[int, PassEvidence] = {}
    findings: list[Finding] = []
    claimed: set[str] = set()
    lacking: list[Phrase] = [*unreadable, *reasons]
    audited: dict[tuple[str, str, str], AuditReport] = {}
    for row in table.readable_rows.tolist():
        run = table.cell(row, "run_index").value
        phase = table.text(row, "phase")
        if not isinstance(run, int) or phase == LOAD:
            continue
        name = outputs_name(table.text(row, "variant_id"), phase, run)
        claimed.add(name)
        timed = table.text(row, "elapsed_seconds") != ""
        if name not in folder.pieces:
            if timed:
                findings.append(_on_row(row, rules.OUTPUTS_MISSING, None, None, {"outputs": name}))
            continue
        if not timed or corpus is None:
            continue
        data = folder.pieces[name]
        metric, threshold = _rule(table, row)
        digest = hashlib.sha256(data).hexdigest()
        key = (digest, metric or "", str(threshold))
        if key not in audited:
            rule = _tolerance(announced, metric) | {"metric": metric, "threshold": threshold}
            audited[key] = corpus.audit(Document(name, data), **rule)
        report = audited[key]
        whole = not report.ids_match or report.quality_value is not None
        if not whole and REFERENCE in folder.pieces:
            lacking.append(_without_metric(table, row))
        order = _input_order(folder, table.text(row, "variant_id"), phase, run)
        passes[row] = PassEvidence(name, digest, report, whole, order)
        findings += _contradictions(table, row, name, report)
    findings += _unclaimed(folder, claimed)
    findings += _sealed(folder, table, announced)
    if lacking:
        said = {repr(phrase): phrase for phrase in lacking}
        details: dict[str, Detail] = {"reasons": tuple(said.values())}
        findings.append(Finding(rule=rules.NOT_RECOMPUTED, details=details))
    return FolderEvidence(passes, findings, announced)


def _announced(folder: RunFolder) -> tuple[Announced | None, list[Phrase]]:
    """What the protocol file says, or why it cannot be read."""
    try:
        return folder.announced, []
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return None, [Phrase(N_("`{piece}` cannot be read ({why})"), {"piece": PROTOCOL, "why": str(error)})]


def _tolerance(announced: Announced | None, metric: str | None) -> dict[str, Any]:
    """The announced tolerance, where it is whole and of a metric that is computed here."""
    if announced is None or metric is None or announced.tolerance is None or announced.reference_value is None:
        return {}
    known = metric_named(metric)
    sound = known is not None and known.in_range(announced.reference_value) and announced.tolerance >= 0
    return {"tolerance": announced.tolerance, "reference_value": announced.reference_value} if sound else {}


def _sealed(folder: RunFolder, table: Table, announced: Announced | None) -> Iterator[Finding]:
    """Whether the protocol is still the one that was sealed, and that every row names; and the code."""
    sealed = folder.seal.get("protocol_sha256")
    if announced is not None and isinstance(sealed, str) and sealed != announced.sha256:
        yield Finding(
            rule=rules.PROTOCOL_CHANGED, value=announced.sha256, details={"sealed": sealed, "now": announced.sha256}
        )
    if announced is not None:
        others: dict[str, list[int]] = {}
        for row in table.readable_rows.tolist():
            named = _PROTOCOL_HASH.search(table.text(row, "notes"))
            if named and named[1] != announced.sha256:
                others.setdefault(named[1], []).append(row)
        for named_hash, rows in others.items():
            details: dict[str, Detail] = {"sealed": named_hash, "now": announced.sha256, "count": str(len(rows))}
            yield Finding(
                rule=rules.ROWS_OF_ANOTHER_PROTOCOL, column="notes", value=named_hash, details=details,
                rows=np.array(rows, np.int64),
            )  # fmt: skip
    if folder.changed_since:
        yield Finding(rule=rules.CODE_CHANGED, details={"changed": ", ".join(folder.changed_since)})


_PROTOCOL_HASH = re.compile(r"protocol sha256 ([0-9a-f]{64})")


def _corpus(folder: RunFolder, announced: Announced | None) -> tuple[Corpus | None, Iterator[Phrase]]:
    """What the outputs are held against, and what lacks for it."""
    classes = announced.classes if announced is not None else None
    reasons: list[Phrase] = []
    reasons += [
        Phrase(N_("`{piece}` is not in the folder"), {"piece": piece})
        for piece in (EXPECTED_IDS, REFERENCE)
        if piece not in folder.pieces
    ]
    if EXPECTED_IDS not in folder.pieces:
        return None, iter(reasons)
    reference = Document(REFERENCE, folder.pieces[REFERENCE]) if REFERENCE in folder.pieces else None
    return Corpus.prepare(Document(EXPECTED_IDS, folder.pieces[EXPECTED_IDS]), reference, classes), iter(reasons)


def _rule(table: Table, row: int) -> tuple[str | None, Decimal | None]:
    metric = metric_named(table.text(row, "quality_metric"))
    threshold = table.cell(row, "quality_threshold").value
    known = metric.name if metric is not None and metric.name in COMPUTABLE else None
    return known, threshold if known and isinstance(threshold, Decimal) else None


def _without_metric(table: Table, row: int) -> Phrase:
    name = table.text(row, "quality_metric")
    if _rule(table, row)[0] is not None:
        return Phrase(N_("the quality could not be computed from the outputs and the reference"))
    return Phrase(N_("the metric {metric} cannot be recomputed here"), {"metric": name or "∅"})


def _on_row(row: int, rule: Rule, column: str | None, value: str | None, details: dict[str, Detail]) -> Finding:
    rows = np.array([row], np.int64)
    return Finding(rule=rule, column=column, value=value, details=details, rows=rows, each_row=True)


def _contradictions(table: Table, row: int, outputs: str, report: AuditReport) -> Iterator[Finding]:
    """Every cell of a row that its own outputs contradict. An empty cell contradicts nothing."""
    recomputed: dict[str, object] = {
        "expected_ids": report.expected,
        "observed_ids": report.observed,
        "ids_match": report.ids_match,
        "format_valid": report.format_valid,
    }
    for column, due in recomputed.items():
        cell = table.cell(row, column)
        if cell.value is not None and cell.value != due:
            shown = str(due).lower() if isinstance(due, bool) else str(due)
            yield _on_row(row, rules.ROW_AGAINST_OUTPUTS, column, cell.text, {"outputs": outputs, "recomputed": shown})
    quality = table.cell(row, "quality_value")
    if report.quality_value is not None and isinstance(quality.value, Decimal):
        if not agrees(quality.value, report.quality_value):
            details: dict[str, Detail] = {"outputs": outputs, "recomputed": str(report.quality_value)}
            yield _on_row(row, rules.ROW_AGAINST_OUTPUTS, "quality_value", quality.text, details)
        elif table.cell(row, "corpus_accepted").value is True and report.accepted is False:
            # The typed value may be rounded up to its threshold; what the outputs give is not.
            details = {"outputs": outputs, "recomputed": f"quality_value {report.quality_value}"}
            yield _on_row(row, rules.ROW_AGAINST_OUTPUTS, "corpus_accepted", "true", details)


def agrees(written: Decimal, computed: Decimal) -> bool:
    """Whether a written value is the computed one, to the digits that were written (three decimals at least)."""
    exponent = written.as_tuple().exponent
    half_a_digit = Decimal(5).scaleb(exponent - 1) if isinstance(exponent, int) else Decimal(0)
    allowed = half_a_digit if half_a_digit <= ROUNDING else Decimal(0)
    return abs(written - computed) <= max(allowed, RECOMPUTATION_ERROR)


def _unclaimed(folder: RunFolder, claimed: set[str]) -> Iterator[Finding]:
    left = [name for name in folder.outputs if name not in claimed]
    if left:
        yield Finding(rule=rules.OUTPUTS_UNCLAIMED, details={"outputs": left[0], "count": str(len(left))})


def _input_order(folder: RunFolder, variant_id: str, phase: str, run: int) -> str | None:
    name = control_name(variant_id, phase, run)
    if name not in folder.pieces:
        return None
    try:
        control = json.loads(folder.pieces[name])
    except ValueError:
        return None
    order = control.get("input_order_sha256") if isinstance(control, dict) else None
    return order if isinstance(order, str) else None
