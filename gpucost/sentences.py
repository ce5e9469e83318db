"""The sentences that the command line and the pages both say: why a pass has its status, whether an experiment may
be compared. Each names the thing, the figure and the unit, in the reader's language."""

import re

from gpucost.cells import visible
from gpucost.columns import CONFIGURATION, ENVIRONMENT, USEFUL_WORK
from gpucost.findings import Place, Severity
from gpucost.language import N_, Translator
from gpucost.review import Review
from gpucost.rules.experiments import distinct_values, warm_up_counts
from gpucost.verdicts import CONDITION_COLUMNS, ExperimentVerdict, Status, VariantFigures, acceptance_conditions

STATUS_WORDS: dict[Status, str] = {
    Status.ACCEPTED: N_("accepted"),
    Status.REJECTED: N_("rejected"),
    Status.FAILED: N_("failed"),
    Status.INVALID: N_("invalid row"),
    Status.SETUP: N_("loading"),
}
SEVERITY_WORDS: dict[Severity, str] = {
    Severity.ERROR: N_("error"),
    Severity.WARNING: N_("warning"),
    Severity.NOTICE: N_("notice"),
}

NOTHING_PROJECTED = N_("Whole packages only: nothing is cut into hours, and no throughput is projected over a rental.")
"""The standing word beside every price."""


def reason(review: Review, row: int, to: Translator) -> str:
    """Why a pass has its status, with its figures: the conditions that fail, the incident, or the first error."""
    status = Status(review.statuses[row])
    if status is Status.INVALID:
        return next((f.message(to) for f in review.findings_of(row) if f.severity is Severity.ERROR), "")
    if status is Status.FAILED:
        notes = review.table.text(row, "notes")
        return (
            to.gettext("no time was recorded: {notes}").format(notes=incident(notes))
            if notes
            else to.gettext("no time was recorded, and the notes do not say why")
        )
    if status is Status.SETUP:
        return to.gettext("the loading alone: no corpus passed through")
    failing = failing_conditions(review, row, to)
    if status is Status.REJECTED:
        return "; ".join(failing) or _refusal(review, row, to)
    return to.gettext("every condition of acceptance holds")


_INCIDENT = re.compile(
    r"fail|error|memory|killed|timeout|time limit|exception|abort|échec|échou|erreur|mémoire|dépass", re.IGNORECASE
)
NOTES_SHOWN = 240


def incident(notes: str) -> str:
    """The part of a note that tells an incident: the whole of a short one, else from the sentence that names one."""
    if len(notes) > NOTES_SHOWN:
        named = re.search(r"(?:^|; )incident: (.*)", notes, re.DOTALL)
        if named:
            return visible(named[1], NOTES_SHOWN)
        start = 0
        for part in notes.split(";"):
            if _INCIDENT.search(part):
                lead = "… " if start else ""
                return lead + visible(notes[start:].strip(" ;"), NOTES_SHOWN)
            start += len(part) + 1
    return visible(notes, NOTES_SHOWN)


def _refusal(review: Review, row: int, to: Translator) -> str:
    if review.cell(row, "corpus_accepted").value is None:
        return to.gettext("`corpus_accepted` was not recorded")
    notes = review.table.text(row, "notes")
    if notes:
        return to.gettext("refused though every recorded condition holds; the notes say: {notes}").format(
            notes=visible(notes, 240)
        )
    return to.gettext("refused though every recorded condition holds, and the notes do not say why")


def failing_conditions(review: Review, row: int, to: Translator) -> list[str]:
    """The conditions of acceptance that do not hold, or were not recorded, each with its figures."""
    cells = review.table.cells_at(row, CONDITION_COLUMNS)
    if cells is None:
        return []
    conditions = acceptance_conditions(cells, review.announced_of(row))
    return [condition.phrase.render(to) for condition in conditions if condition.met is not True]


def comparability(review: Review, verdict: ExperimentVerdict, to: Translator) -> str:
    """One sentence: the announced variable and its values, or why nothing is compared."""
    values = {name: _values(review, verdict, name) for name in verdict.varied}
    if verdict.comparable and verdict.announced:
        return to.gettext("comparable: only `{column}` varies ({values})").format(
            column=verdict.announced, values=values[verdict.announced]
        )
    if not len(verdict.compared_rows):
        return to.gettext("nothing to compare: no readable pass")
    if not verdict.varied:
        return to.gettext("nothing to compare: no column varies between the variants")
    reasons = []
    for group, template in (
        (USEFUL_WORK, N_("the useful work differs ({columns})")),
        (ENVIRONMENT, N_("the environment differs ({columns})")),
    ):
        columns = [name for name in verdict.varied if name in group]
        if columns:
            shown = ", ".join(f"`{name}`: {values[name]}" for name in columns)
            reasons.append(to.gettext(template).format(columns=shown))
    configuration = [name for name in verdict.varied if name in CONFIGURATION]
    if len(configuration) > 1:
        shown = ", ".join(f"`{name}`: {values[name]}" for name in configuration)
        reasons.append(to.gettext("more than one configuration column varies ({columns})").format(columns=shown))
    inside = [name for name in verdict.inside if name in CONFIGURATION]
    if inside:
        shown = ", ".join(f"`{name}`" for name in inside)
        reasons.append(to.gettext("the configuration changes inside a variant ({columns})").format(columns=shown))
    if not verdict.same_order:
        reasons.append(to.gettext("the variants did not read the texts in the same order"))
    return to.gettext("not comparable: {reasons}").format(reasons="; ".join(reasons))


def _values(review: Review, verdict: ExperimentVerdict, name: str, limit: int = 6) -> str:
    empty = "∅"
    values = [visible(value, 40) or empty for value in distinct_values(review.table, verdict, name)]
    return ", ".join(values[:limit]) + (f", … (+{len(values) - limit})" if len(values) > limit else "")


def ranks_nothing(review: Review, verdict: ExperimentVerdict, to: Translator) -> str | None:
    """Why a comparable experiment still ranks nothing, None where it ranks."""
    if not verdict.comparable:
        return comparability(review, verdict, to)
    counts = warm_up_counts(review.table, verdict)
    if len(counts) > 1:
        shown = ", ".join(count or "∅" for count in counts)
        return to.gettext("nothing is ranked: the warm passes ran after different warm-ups ({counts})").format(
            counts=shown
        )
    if not review.ranking(verdict.experiment_id):
        return to.gettext("nothing is ranked: no variant has an accepted warm pass")
    return None


def figures(variant: VariantFigures, to: Translator) -> str:
    """The figures of a variant and phase: the median with its n, and the range; or why there is none."""
    accepted, rows = len(variant.accepted_rows), len(variant.rows)
    if variant.median_seconds is None:
        return to.gettext("no figure: 0 accepted of {rows}").format(rows=rows)
    return to.gettext("{median} s (median of {accepted} accepted of {rows}, {lowest}–{highest})").format(
        median=variant.median_seconds, accepted=accepted, rows=rows,
        lowest=variant.min_seconds, highest=variant.max_seconds,
    )  # fmt: skip


def place_text(place: Place, column: str | None, to: Translator) -> str:
    """A place in words: file, row, line and column, as far as they apply."""
    parts = [visible(place.file)] if place.file else []
    if place.row is not None:
        parts.append(to.gettext("row {row}").format(row=place.row))
    if place.line is not None:
        parts.append(to.gettext("line {line}").format(line=place.line))
    if column:
        parts.append(column)
    return ", ".join(parts)
