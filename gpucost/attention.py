"""What needs a reviewer first: at most a few sentences in order of consequence, each with the rows it is about."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from gpucost.cells import visible
from gpucost.findings import NO_ROWS, Finding, Rows, Scope, Severity
from gpucost.language import Translator
from gpucost.review import Review
from gpucost.sentences import comparability, reason
from gpucost.verdicts import CONDITION_COLUMNS, Status

SHOWN_VARIANTS = 4


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing that needs a reviewer. `status` or `severity` says what kind it is; `rows` are those to open."""

    sentence: str
    rows: Rows
    status: Status | None = None
    severity: Severity | None = None
    experiment_id: str | None = None


def needs_attention(review: Review, to: Translator, limit: int = 5) -> list[Attention]:
    """The first things to look at: files that could not be read, invalid rows, rejected corpora, failed passes,
    experiments that cannot be compared, then warnings."""
    return list(islice(_in_order(review, to), limit))


def _in_order(review: Review, to: Translator) -> Iterator[Attention]:
    yield from _files(review, to)
    for status in (Status.REJECTED, Status.INVALID, Status.FAILED):
        yield from _passes(review, status, to)
    for verdict in review.experiments:
        if verdict.varied and not verdict.comparable:
            sentence = f"{visible(verdict.experiment_id, 60)}: {comparability(review, verdict, to)}"
            yield Attention(
                sentence, verdict.compared_rows, severity=Severity.WARNING, experiment_id=verdict.experiment_id
            )
    for finding in _by_weight(review):
        yield Attention(finding.message(to), finding.rows, severity=finding.severity)


def _files(review: Review, to: Translator) -> Iterator[Attention]:
    for finding in review.findings:
        if finding.severity is Severity.ERROR and not finding.each_row and finding.rule.scope is not Scope.TARIFF:
            name = review.files[finding.file].name if finding.file is not None else ""
            yield Attention(f"{visible(name, 60)}: {finding.message(to)}", NO_ROWS, severity=Severity.ERROR)


_CAUSES: dict[Status, tuple[str, ...]] = {
    Status.REJECTED: ("experiment_id", "corpus_accepted", *CONDITION_COLUMNS),
    Status.INVALID: ("experiment_id",),
    Status.FAILED: ("experiment_id", "variant_id"),
}
"""What passes in one status must share to be said in one sentence."""


def _passes(review: Review, status: Status, to: Translator) -> Iterator[Attention]:
    """The passes in one status, a sentence per cause, the largest group first."""
    rows = np.flatnonzero((review.statuses == status) & review.table.readable)
    if len(rows):
        groups = review.table.combinations(_CAUSES[status], rows)
        sizes = np.bincount(groups.which)
        for index in np.argsort(-sizes, kind="stable").tolist():
            yield _group(review, status, groups.rows_of([index])[0], to)
    unreadable = np.array(sorted(review.table.unreadable), np.int64)
    if status is Status.INVALID and len(unreadable):
        sentence = to.ngettext(
            "{count} row could not be separated into cells: {why}",
            "{count} rows could not be separated into cells: {why}",
            len(unreadable),
        ).format(count=len(unreadable), why=reason(review, int(unreadable[0]), to))
        yield Attention(sentence, unreadable, status=status)


def _group(review: Review, status: Status, rows: Rows, to: Translator) -> Attention:
    first = int(rows[0])
    table = review.table
    experiment = visible(table.text(first, "experiment_id"), 60)
    variants = list(dict.fromkeys(table["variant_id"].codes[rows].tolist()))
    names = ", ".join(visible(table["variant_id"].texts[code], 40) for code in variants[:SHOWN_VARIANTS])
    if len(variants) > SHOWN_VARIANTS:
        names += f", … (+{len(variants) - SHOWN_VARIANTS})"
    if status is Status.REJECTED:
        template = to.ngettext(
            "{count} corpus rejected in {experiment}, {variants}: {why}",
            "{count} corpora rejected in {experiment}, {variants}: {why}",
            len(rows),
        )
    elif status is Status.FAILED:
        template = to.ngettext(
            "{count} pass failed in {experiment}, {variants}: {why}",
            "{count} passes failed in {experiment}, {variants}: {why}",
            len(rows),
        )
    else:
        template = to.ngettext(
            "{count} invalid row in {experiment}, {variants}: {why}",
            "{count} invalid rows in {experiment}, {variants}: {why}",
            len(rows),
        )
    sentence = template.format(count=len(rows), experiment=experiment, variants=names, why=reason(review, first, to))
    return Attention(sentence, rows, status=status, experiment_id=experiment)


def _by_weight(review: Review) -> list[Finding]:
    """The warnings that were not said above, those about most rows first."""
    said = {"work-differs", "environment-differs", "several-configurations", "configuration-inside-variant"}
    warnings = [
        finding for finding in review.findings if finding.severity is Severity.WARNING and finding.rule.code not in said
    ]
    return sorted(warnings, key=lambda finding: -len(finding.rows))
