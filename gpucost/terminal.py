"""What people read on a terminal: tables without markup from the data, colour only on a terminal."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gpucost.cells import visible
from gpucost.columns import IDENTITY
from gpucost.findings import Finding, Place, Rule, Severity
from gpucost.language import N_, Translator
from gpucost.sentences import (
    NOTHING_PROJECTED,
    SEVERITY_WORDS,
    STATUS_WORDS,
    comparability,
    figures,
    place_text,
    ranks_nothing,
    reason,
)
from gpucost.verdicts import Status

if TYPE_CHECKING:
    from gpucost.audit import AuditReport
    from gpucost.conversion import Conversion
    from gpucost.offers import PackageTable
    from gpucost.review import Review

SHOWN_FINDINGS = 30
SHOWN_PASSES = 30
WIDE = 140
"""Columns where the output is no terminal: a pipe or a file wraps nothing of importance."""
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTICE: "dim"}
_MARKS = {
    Status.ACCEPTED: "✓",
    Status.REJECTED: "⊘",
    Status.FAILED: "✕",
    Status.INVALID: "?",
    Status.SETUP: "▸",
}


def open_console(*, errors: bool = False) -> Console:
    """The terminal, or the pipe, that people read: nothing of the data is taken for markup."""
    stream = sys.stderr if errors else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else WIDE, highlight=False, markup=False, emoji=False)


def lined_table(headings: Iterable[str], rows: Iterable[Sequence[str | Text]], right: Sequence[int] = ()) -> Table:
    """A table of texts; `right` are the columns whose numbers stand under one another."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for position, heading in enumerate(headings):
        table.add_column(Text(heading), justify="right" if position in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return table


def print_heading(console: Console, text: str) -> None:
    """The heading of a part."""
    console.print()
    console.print(Text(text, style="bold"))


def print_review(review: "Review", to: Translator) -> None:
    """A whole review: the files, the counts, what is wrong, the figures, the comparability."""
    console, _ = open_console(), to.gettext
    for file in review.files:
        console.print(
            Text(
                _("{name}: {rows} rows, {size} bytes, SHA-256 {sha256}").format(
                    name=visible(file.name), rows=file.rows, size=file.size_bytes, sha256=file.sha256
                )
            )
        )
    console.print(Text("  ".join(f"{_MARKS[s]} {n} {_(STATUS_WORDS[s])}" for s, n in review.counts.items())))
    _print_findings(console, review, to)
    _print_passes(console, review, to)
    if review.variants:
        print_heading(console, _("Variants"))
        headings = (_("experiment"), _("variant"), _("phase"), _("figures, raw durations of accepted passes"))
        console.print(
            lined_table(
                headings,
                [
                    (visible(v.experiment_id), visible(v.variant_id), visible(v.phase), figures(v, to))
                    for v in review.variants
                ],
            )
        )
    for verdict in review.experiments:
        print_heading(console, _("Experiment {name}").format(name=visible(verdict.experiment_id)))
        console.print(Text(comparability(review, verdict, to)))
        ranking = review.ranking(verdict.experiment_id)
        if ranking:
            shown = ", ".join(
                _("{variant} {median} s (n = {n})").format(
                    variant=visible(v.variant_id), median=v.median_seconds, n=len(v.accepted_rows)
                )
                for v in ranking
            )
            console.print(Text(_("warm medians, the shortest first: {ranking}").format(ranking=shown)))
        elif verdict.comparable:
            console.print(Text(ranks_nothing(review, verdict, to) or ""))


def _print_findings(console: Console, review: "Review", to: Translator) -> None:
    _ = to.gettext
    if not review.findings:
        return
    counts = ", ".join(f"{count} × {_(SEVERITY_WORDS[s])}" for s, count in review.finding_counts.items() if count)
    print_heading(console, _("Findings: {counts}").format(counts=counts))
    ordered = sorted(review.findings, key=lambda finding: finding.severity.rank)
    rows = [_finding_row(finding, review, to) for finding in ordered[:SHOWN_FINDINGS]]
    console.print(lined_table((_("severity"), _("code"), _("where"), _("what, and what to do")), rows))
    left = len(ordered) - len(rows)
    if left:
        console.print(Text(_("… and {count} more causes; `--json` holds every finding.").format(count=left)))


def _finding_row(finding: Finding, review: "Review", to: Translator) -> tuple[str | Text, ...]:
    place = next(review.locator.places(finding))
    where = place_text(place, finding.column, to)
    more = finding.places_count - 1
    if more:
        where += " " + to.ngettext("(and {count} more row)", "(and {count} more rows)", more).format(count=more)
    severity = Text(to.gettext(SEVERITY_WORDS[finding.severity]), style=_STYLES[finding.severity])
    return severity, finding.rule.code, where, f"{finding.message(to)} {finding.remedy(to)}"


def _print_passes(console: Console, review: "Review", to: Translator) -> None:
    _ = to.gettext
    wanted = [row for row, s in enumerate(review.statuses.tolist()) if s not in (Status.ACCEPTED, Status.SETUP)]
    if not wanted:
        return
    print_heading(console, _("Passes that are not accepted"))
    rows = []
    for row in wanted[:SHOWN_PASSES]:
        status = Status(review.statuses[row])
        table = review.table
        name = " / ".join(visible(table.text(row, part), 60) for part in IDENTITY)
        where = place_text(
            Place(review.files[table.files[row]].name, int(table.row_numbers[row]), int(table.line_numbers[row])),
            None, to,
        )  # fmt: skip
        rows.append((f"{_MARKS[status]} {_(STATUS_WORDS[status])}", where, name, reason(review, row, to)))
    console.print(lined_table((_("status"), _("where"), _("pass"), _("why")), rows))
    if len(wanted) > len(rows):
        console.print(Text(_("… and {count} more rows.").format(count=len(wanted) - len(rows))))


def print_rules(rules: Iterable[Rule], to: Translator) -> None:
    """The catalogue of rules."""
    _ = to.gettext
    rows = [
        (Text(_(SEVERITY_WORDS[rule.severity]), style=_STYLES[rule.severity]), rule.code, rule.section, _(rule.title))
        for rule in rules
    ]
    open_console().print(lined_table((_("severity"), _("code"), _("section"), _("rule")), rows))


def print_environment(observed: dict[str, Any], to: Translator) -> None:
    """What was observed of this machine; what could not be is said so."""
    nothing = to.gettext("not observed")
    rows = []
    for name, value in observed.items():
        if isinstance(value, dict):
            shown = ", ".join(f"{key} {entry or '–'}" for key, entry in value.items())
        elif isinstance(value, list):
            shown = ", ".join(str(entry) for entry in value)
        else:
            shown = "" if value is None else str(value)
        rows.append((name, shown or nothing))
    open_console().print(lined_table((to.gettext("what"), to.gettext("observed")), rows))


def print_packages(table: "PackageTable", days: int | None, accepted_results: int | None, to: Translator) -> None:
    """Whole packages, the price first; a cost per accepted result only where a quantity was given."""
    from gpucost.offers import SAME_QUANTITY

    console, _ = open_console(), to.gettext
    if table.tariffs.is_example:
        console.print(Text(_("These prices are an example, and nobody's offer."), style="bold"))
    headings = [
        _("provider"), _("GPU"), _("GPUs per lot"), _("days"), _("lots"), _("GPUs billed"),
        _("whole package, US cents"),
    ]  # fmt: skip
    rows = []
    for package in table.packages:
        offer = package.price.offer
        row = [
            visible(offer.provider), visible(offer.gpu_model), str(offer.gpus_per_lot),
            str(package.price.duration_days), str(package.lots), str(package.gpus), str(package.total_usd_minor),
        ]  # fmt: skip
        if accepted_results is not None:
            row += [str(package.accepted_results), package.usd_minor_per_accepted_result or "–"]
        rows.append(row)
    if accepted_results is not None:
        headings += [_("accepted results (typed)"), _("US cents per accepted result")]
    if rows:
        console.print(lined_table(headings, rows, right=range(2, len(headings))))
    if accepted_results is not None and days is None and rows:
        console.print(Text(_(SAME_QUANTITY)))
    console.print(Text(_(NOTHING_PROJECTED)))
    print_refusals(table, to)


def print_refusals(table: "PackageTable", to: Translator) -> None:
    """What could not be priced, and why, on standard error."""
    console = open_console(errors=True)
    for finding in table.findings:
        where = place_text(Place(None, finding.row, finding.line), finding.column, to)
        severity = to.gettext(SEVERITY_WORDS[finding.severity])
        console.print(
            Text(f"{severity}{f' ({where})' if where else ''}: {finding.message(to)} {finding.remedy(to)}"),
            style=_STYLES[finding.severity],
        )


SHOWN_CHANGES = 200


def print_conversion(done: "Conversion", target: str, to: Translator) -> None:
    """A conversion: what it did to the whole file, each changed cell, and what it refused."""
    console, _ = open_console(), to.gettext
    for remark in done.remarks:
        console.print(Text(remark.render(to)))
    if done.changes:
        print_heading(console, _("Changed cells: {count}").format(count=len(done.changes)))
        headings = (_("row"), _("line"), _("column"), _("before"), _("after"))
        rows = [
            (str(c.row), str(c.line), c.column, visible(c.before, 80), visible(c.after, 80))
            for c in done.changes[:SHOWN_CHANGES]
        ]
        console.print(lined_table(headings, rows, right=(0, 1)))
        left = len(done.changes) - len(rows)
        if left:
            console.print(Text(_("… and {count} more cells; `--json` lists them all.").format(count=left)))
    if done.canonical is not None:
        console.print(
            Text(
                _("{path} is written; the original is left as it is (SHA-256 {sha256}).").format(
                    path=target, sha256=done.sha256
                )
            )
        )
        return
    print_heading(console, _("Refused: {count}. Nothing was written.").format(count=len(done.refused)))
    headings = (_("row"), _("line"), _("column"), _("value"), _("why, and what to do"))
    refused = [
        (
            "" if r.row is None else str(r.row), "" if r.line is None else str(r.line), r.column or "",
            visible(r.value or "", 80), f"{r.message(to)} {r.remedy(to)}",
        )
        for r in done.refused[:SHOWN_CHANGES]
    ]  # fmt: skip
    console.print(lined_table(headings, refused, right=(0, 1)))


def print_audit(report: "AuditReport", to: Translator) -> None:
    """An audit: the verdict in one sentence, why, the bad rows, the warnings."""
    console, _ = open_console(), to.gettext
    verdict = {
        True: N_("accepted: every expected ID once, the format valid, the quality rule met"),
        False: N_("not accepted"),
        None: N_("no verdict: a reference and a rule (metric and threshold) are needed"),
    }[report.accepted]
    console.print(Text(_(verdict), style="bold"))
    console.print(
        Text(
            _("{observed} output rows for {expected} expected IDs").format(
                observed=report.observed, expected=report.expected
            )
        )
    )
    if report.rule is not None and report.quality_value is not None:
        console.print(Text(f"{report.rule.metric.name} {report.quality_value}"))
    for reason_found in report.reasons():
        console.print(Text(f"- {reason_found.render(to)}"))
    for bad in report.invalid_rows[:SHOWN_FINDINGS]:
        console.print(
            Text(
                _("- row {row}, line {line}: {why}: {value}").format(
                    row=bad.row, line=bad.line, why=bad.reason.render(to), value=bad.value or _("(empty)")
                )
            )
        )
    for warning in report.warnings:
        console.print(Text(_("warning: {text}").format(text=warning.render(to)), style="yellow"))
