"""Verdicts: the status of a pass, the figures of a variant, the comparability of an experiment.

Contract, section 3; protocol, sections 1, 2 and 3.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from gpucost.announced import Announced
from gpucost.cells import visible
from gpucost.columns import CONFIGURATION, ENVIRONMENT, POSITIONS, USEFUL_WORK
from gpucost.findings import Phrase, Rows
from gpucost.language import N_
from gpucost.quality import Direction, metric_named, reaches, within_tolerance
from gpucost.table import TIMED, Cells, Codes, Table

LOAD, COLD, WARM = "load", "cold", "warm"
"""The phases of the protocol. Another label is kept apart under its own name."""


class Status(IntEnum):
    """The one status of a pass."""

    ACCEPTED = 0
    REJECTED = 1
    FAILED = 2
    INVALID = 3
    SETUP = 4

    @property
    def word(self) -> str:
        """Its name in the JSON."""
        return self.name.lower()


Statuses = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of acceptance, as the row lets one recompute it. `met` is None where it was not recorded.

    `column` is the cell that a reader should look at; `phrase` says the condition with its figures.
    """

    name: str
    column: str
    met: bool | None
    phrase: Phrase


CONDITION_COLUMNS = (
    "expected_ids",
    "observed_ids",
    "ids_match",
    "format_valid",
    "quality_metric",
    "quality_threshold",
    "quality_value",
)


def acceptance_conditions(cells: Cells, announced: Announced | None = None) -> tuple[Condition, ...]:
    """Every condition of acceptance that a row lets one recompute, in the protocol's order.

    `announced` is what the protocol file of its folder says: the direction of a metric of its own, and the reference
    value that makes the tolerance one more condition.
    """
    conditions = (_counts(cells), _ids(cells), _format(cells), _quality(cells, announced))
    tolerance = _tolerance(cells, announced)
    return conditions if tolerance is None else (*conditions, tolerance)


def _tolerance(cells: Cells, announced: Announced | None) -> Condition | None:
    if announced is None or announced.tolerance is None or announced.reference_value is None:
        return None
    name, value = cells.text("quality_metric"), cells.decimal("quality_value")
    metric = announced.metric_named(name)
    if metric is None or value is None:
        return None  # the quality itself is the condition that is not met
    met = within_tolerance(metric.direction, value, announced.reference_value, announced.tolerance)
    details = {
        "metric": visible(name, 60), "value": cells.text("quality_value"),
        "reference": str(announced.reference_value), "tolerance": str(announced.tolerance),
        "drop": str(abs(announced.reference_value - value)),
    }  # fmt: skip
    template = (
        N_("{metric} {value} is within the tolerance {tolerance} of the reference {reference}")
        if met
        else N_("{metric} {value} drops by {drop} from the reference {reference}; {tolerance} is allowed")
    )
    return Condition("tolerance", "quality_value", met, Phrase(template, details))


def _counts(cells: Cells) -> Condition:
    expected, observed = cells.integer("expected_ids"), cells.integer("observed_ids")
    if expected is None or observed is None:
        column = "expected_ids" if expected is None else "observed_ids"
        return Condition("counts", column, None, Phrase(N_("`{column}` was not recorded"), {"column": column}))
    details = {"observed": str(observed), "expected": str(expected)}
    if expected == 0:
        return Condition("counts", "expected_ids", met=False, phrase=Phrase(N_("the corpus expects no ID at all")))
    return Condition(
        "counts", "observed_ids", observed == expected, Phrase(N_("observed {observed} of {expected} IDs"), details)
    )


def _ids(cells: Cells) -> Condition:
    return _flag(cells, "ids_match", N_("the IDs are the expected ones"), N_("the IDs are not the expected ones"))


def _format(cells: Cells) -> Condition:
    return _flag(cells, "format_valid", N_("the format is valid"), N_("the format is not valid"))


def _flag(cells: Cells, column: str, good: str, bad: str) -> Condition:
    met = cells.flag(column)
    if met is None:
        return Condition(column, column, None, Phrase(N_("`{column}` was not recorded"), {"column": column}))
    return Condition(column, column, met, Phrase(good if met else bad))


def _quality(cells: Cells, announced: Announced | None = None) -> Condition:
    for column in ("quality_metric", "quality_threshold", "quality_value"):
        if not cells.has(column):
            return Condition("quality", column, None, Phrase(N_("`{column}` was not recorded"), {"column": column}))
    name = cells.text("quality_metric")
    metric = announced.metric_named(name) if announced is not None else metric_named(name)
    value, threshold = cells.decimal("quality_value"), cells.decimal("quality_threshold")
    if metric is None or value is None or threshold is None:
        phrase = Phrase(N_("it is not known whether more or less of {metric} is better"), {"metric": visible(name, 60)})
        return Condition("quality", "quality_metric", None, phrase)
    met = reaches(metric.direction, value, threshold)
    details = {
        "metric": visible(name, 60),
        "value": cells.text("quality_value"),
        "threshold": cells.text("quality_threshold"),
    }
    return Condition("quality", "quality_value", met, Phrase(_quality_template(metric.direction, met=met), details))


def _quality_template(direction: Direction, *, met: bool) -> str:
    if direction is Direction.MORE_IS_BETTER:
        if met:
            return N_("{metric} {value} reaches the threshold {threshold}")
        return N_("{metric} {value} is below the threshold {threshold}")
    if met:
        return N_("{metric} {value} is within the limit {threshold}")
    return N_("{metric} {value} is above the limit {threshold}")


STATUS_COLUMNS = ("phase", TIMED, "corpus_accepted", *CONDITION_COLUMNS)


def row_status(cells: Cells, announced: Announced | None = None) -> Status:
    """The status of a row without an error."""
    if not cells.flag(TIMED):
        return Status.FAILED
    if cells.text("phase") == LOAD:
        return Status.SETUP
    holds = all(condition.met for condition in acceptance_conditions(cells, announced))
    return Status.ACCEPTED if holds and cells.flag("corpus_accepted") else Status.REJECTED


def statuses(
    table: Table, rows_with_errors: npt.NDArray[np.bool_], announced: Mapping[int, Announced] | None = None
) -> Statuses:
    """The status of every row: `invalid` where an error stands, else what its own cells give, and for the files of
    which a protocol is known (by their position) what it announced."""
    found = np.full(len(table), Status.INVALID, np.int8)
    combinations = table.combinations(STATUS_COLUMNS)
    each = [
        Status.INVALID if cells is None else row_status(cells)
        for cells in table.cells_of(STATUS_COLUMNS, combinations.members)
    ]
    if each:
        found[combinations.rows] = np.array(each, np.int8)[combinations.which]
    for row, cells, rule in announced_rows(table, announced or {}, STATUS_COLUMNS):
        found[row] = row_status(cells, rule)
    found[rows_with_errors] = Status.INVALID
    return found


def announced_rows(
    table: Table, announced: Mapping[int, Announced], columns: Sequence[str]
) -> Iterator[tuple[int, Cells, Announced]]:
    """The readable rows of the files of which a protocol is known, with some of their cells."""
    for file, rule in announced.items():
        for row in np.flatnonzero(table.readable & (table.files == file)).tolist():
            cells = table.cells_at(row, columns)
            if cells is not None:
                yield row, cells, rule


@dataclass(frozen=True, slots=True)
class VariantFigures:
    """The figures of one variant and phase. Durations are seconds; only accepted passes enter them.

    `rows` are all its rows, whatever their status; the three figures are None where nothing is accepted.
    """

    experiment_id: str
    variant_id: str
    phase: str
    rows: Rows
    accepted_rows: Rows
    median_seconds: Decimal | None
    min_seconds: Decimal | None
    max_seconds: Decimal | None


def variant_figures(table: Table, found: Statuses) -> Iterator[VariantFigures]:
    """The figures of every variant and phase, exact: medians are taken over decimals, never over floats."""
    groups = table.identities
    elapsed = table["elapsed_seconds"]
    everything = groups.rows_of(range(len(groups.members)))
    names = ("experiment_id", "variant_id", "phase")
    for codes, rows in zip(groups.members.tolist(), everything, strict=True):
        experiment, variant, phase = (table[name].texts[code] for name, code in zip(names, codes, strict=True))
        accepted = rows[found[rows] == Status.ACCEPTED]
        median = lowest = highest = None
        if len(accepted):
            chosen = elapsed.codes[accepted]
            ordered = chosen[np.argsort(elapsed.ranks[chosen], kind="stable")]
            low, high = (_seconds(table, ordered[(len(ordered) - 1) // 2]), _seconds(table, ordered[len(ordered) // 2]))
            median = low if low == high else (low + high) / 2
            lowest, highest = _seconds(table, ordered[0]), _seconds(table, ordered[-1])
        yield VariantFigures(experiment, variant, phase, rows, accepted, median, lowest, highest)


def whole_variants(variants: Iterable[VariantFigures]) -> Iterator[VariantFigures]:
    """Each variant over all its phases, for what belongs to the variant and not to a phase; it has no duration."""
    parts: dict[tuple[str, str], list[VariantFigures]] = {}
    for figures in variants:
        parts.setdefault((figures.experiment_id, figures.variant_id), []).append(figures)
    for (experiment, variant), phases in parts.items():
        rows = np.sort(np.concatenate([figures.rows for figures in phases]))
        accepted = np.sort(np.concatenate([figures.accepted_rows for figures in phases]))
        yield VariantFigures(experiment, variant, "", rows, accepted, None, None, None)


def _seconds(table: Table, code: np.int32) -> Decimal:
    value = table["elapsed_seconds"].cells[int(code)].value
    if not isinstance(value, Decimal):
        message = "an accepted pass has a duration"
        raise TypeError(message)
    return value


COMPARED = tuple(sorted((*USEFUL_WORK, *CONFIGURATION, *ENVIRONMENT), key=POSITIONS.__getitem__))
"""Every column that comparability looks at, in column order."""


@dataclass(frozen=True, slots=True)
class ExperimentVerdict:
    """Whether the variants of an experiment may be compared.

    `varied`: every compared column that holds more than one value over its rows that are neither invalid nor
    setup, in column order. `inside`: those that change inside a variant. `comparable`: exactly one column
    varies, it is a configuration column, and it does not change inside a variant.
    """

    experiment_id: str
    rows: Rows
    compared_rows: Rows
    varied: tuple[str, ...]
    inside: tuple[str, ...]
    same_order: bool = True

    @property
    def comparable(self) -> bool:
        """Whether a comparison means anything."""
        return self.announced is not None and not self.inside and self.same_order

    @property
    def announced(self) -> str | None:
        """The announced variable: the only column that varies, if it belongs to the configuration."""
        return self.varied[0] if len(self.varied) == 1 and self.varied[0] in CONFIGURATION else None


def experiment_verdicts(table: Table, found: Statuses) -> Iterator[ExperimentVerdict]:
    """The verdict on every experiment that has a readable row."""
    candidates = [name for name in COMPARED if _varies(table[name].canonical_codes)]
    experiments = table.combinations(("experiment_id",))
    for codes, rows in zip(
        experiments.members.tolist(), experiments.rows_of(range(len(experiments.members))), strict=True
    ):
        compared = rows[(found[rows] != Status.INVALID) & (found[rows] != Status.SETUP)]
        varied, inside = _varied(table, compared, found, candidates)
        yield ExperimentVerdict(table["experiment_id"].texts[codes[0]], rows, compared, varied, inside)


def _varies(codes: Codes) -> bool:
    return bool(len(codes)) and bool((codes[0] != codes).any())


def _varied(
    table: Table, rows: Rows, found: Statuses, candidates: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of some columns that vary over these rows, and those that vary inside a variant."""
    variants = table["variant_id"].codes[rows]
    failed = found[rows] == Status.FAILED
    varied, inside = [], []
    for name in candidates:
        column = table[name]
        codes = column.canonical_codes[rows]
        # A failed pass may not have reached a cell; what it did record still counts.
        counts = ~failed | column.recorded[rows]
        seen, owners = codes[counts], variants[counts]
        if _varies(seen):
            varied.append(name)
            pairs = np.unique(owners.astype(np.int64) << 32 | seen)
            if len(pairs) > len(np.unique(owners)):
                inside.append(name)
    return tuple(varied), tuple(inside)
