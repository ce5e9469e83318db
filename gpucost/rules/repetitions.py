"""Rules over the repetitions of a variant: passes that come twice, that are missing, that are too few, and what
their package says of them. Contract, sections 2 and 3; protocol, sections 3, 4 and 5."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from gpucost.cells import visible
from gpucost.findings import Detail, Finding, Rows, Rule, Scope, Severity
from gpucost.language import N_
from gpucost.table import Table
from gpucost.verdicts import WARM, Status, Statuses, VariantFigures

ANNOUNCED_PASSES = 5
"""Warm passes per variant that the protocol asks for (section 3)."""
_SHOWN = 8

PASS_REPEATED = Rule(
    code="pass-repeated", scope=Scope.VARIANT, severity=Severity.ERROR, section="3",
    title=N_("The same pass again"),
    message=N_("{variant}, {phase}, run {run} of {experiment} stands already in {first}: a pass counts once."),
    remedy=N_("Keep the row that was measured, and give another pass its own run number. Nothing was removed here."),
)  # fmt: skip


def repeated_passes(table: Table, name_of_file: Callable[[int], str]) -> Iterator[Finding]:
    """An error on every row whose experiment, variant, phase and run stand on an earlier row."""
    names = ("experiment_id", "variant_id", "phase", "run_index")
    whole = table.readable.copy()
    for name in names:
        column = table[name]
        whole &= column.recorded & ~np.isin(column.codes, column.faults)
    combinations = table.combinations(names, np.flatnonzero(whole), canonical=True)
    if len(combinations.members) == len(combinations.rows):
        return
    sizes = np.bincount(combinations.which)
    for rows in combinations.rows_of(np.flatnonzero(sizes > 1).tolist()):
        first = int(rows[0])
        details: dict[str, Detail] = {
            "experiment": visible(table.text(first, "experiment_id"), 80),
            "variant": visible(table.text(first, "variant_id"), 80),
            "phase": visible(table.text(first, "phase"), 40),
            "run": table.text(first, "run_index"),
            "first": f"{name_of_file(int(table.files[first]))}:{table.line_numbers[first]}",
        }
        yield Finding(
            rule=PASS_REPEATED, column="run_index", value=table.text(first, "run_index"), details=details,
            rows=rows[1:], each_row=True,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantRule(Rule):
    """A rule over the rows of one variant in one phase, or over all phases where `whole_variant`."""

    examine: Callable[[Table, Statuses, VariantFigures], Iterator[Finding]]
    whole_variant: bool = False


def _names(figures: VariantFigures) -> dict[str, Detail]:
    return {
        "experiment": visible(figures.experiment_id, 80),
        "variant": visible(figures.variant_id, 80),
        "phase": visible(figures.phase, 40),
    }


def _missing_runs(table: Table, _found: Statuses, figures: VariantFigures) -> Iterator[Finding]:
    column = table["run_index"]
    runs = {column.cells[code].value for code in set(column.codes[figures.rows].tolist())}
    present = sorted(run for run in runs if isinstance(run, int))
    if not present:
        return
    count = present[-1] - min(1, present[0]) + 1 - len(present)
    if count > 0:
        missing = ", ".join(str(run) for run in islice(_gaps(present), _SHOWN)) + ("…" if count > _SHOWN else "")
        details = _names(figures) | {"missing": missing, "missing_count": str(count), "rows": str(len(figures.rows))}
        yield Finding(rule=RUN_MISSING, column="run_index", value=missing, details=details, rows=figures.rows)


def _gaps(present: list[int]) -> Iterator[int]:
    due = min(1, present[0])
    for run in present:
        yield from range(due, run)
        due = run + 1


def _few_warm_passes(_table: Table, _found: Statuses, figures: VariantFigures) -> Iterator[Finding]:
    if figures.phase == WARM and len(figures.rows) < ANNOUNCED_PASSES:
        details = _names(figures) | {"rows": str(len(figures.rows)), "due": str(ANNOUNCED_PASSES)}
        yield Finding(
            rule=WARM_PASSES_FEW, column="run_index", value=str(len(figures.rows)), details=details, rows=figures.rows
        )


def _differing(
    rule_name: str, columns: tuple[str, ...]
) -> Callable[[Table, Statuses, VariantFigures], Iterator[Finding]]:
    def examine(table: Table, found: Statuses, figures: VariantFigures) -> Iterator[Finding]:
        for name in columns:
            rows = figures.rows[(found[figures.rows] != Status.INVALID) & table[name].recorded[figures.rows]]
            texts = _distinct(table, name, rows)
            if len(texts) > 1:
                shown = ", ".join(texts[:_SHOWN]) + ("…" if len(texts) > _SHOWN else "")
                yield Finding(
                    rule=VARIANT_RULES_BY_CODE[rule_name], column=name, value=shown,
                    details=_names(figures) | {"values": shown}, rows=rows,
                )  # fmt: skip

    return examine


def _distinct(table: Table, name: str, rows: Rows) -> list[str]:
    column = table[name]
    first = dict.fromkeys(column.codes[rows].tolist())
    by_value = {column.cells[code].canonical: None for code in first}
    return list(by_value)


def _counted(table: Table, figures: VariantFigures) -> tuple[int, Rows] | None:
    """The one number of corpora that all the recorded rows of a variant state, and these rows."""
    rows = figures.rows[table["accepted_unique_corpora"].recorded[figures.rows]]
    texts = _distinct(table, "accepted_unique_corpora", rows)
    value = table.cell(int(rows[0]), "accepted_unique_corpora").value if len(texts) == 1 else None
    return (value, rows) if isinstance(value, int) and not isinstance(value, bool) else None


def _counted_without_acceptance(table: Table, found: Statuses, figures: VariantFigures) -> Iterator[Finding]:
    counted = _counted(table, figures)
    if counted and counted[0] > 0 and not (found[figures.rows] == Status.ACCEPTED).any():
        count, rows = counted
        yield Finding(
            rule=VARIANT_RULES_BY_CODE["corpora-without-acceptance"], column="accepted_unique_corpora",
            value=str(count), details=_names(figures), rows=rows,
        )  # fmt: skip


def _counted_per_repetition(table: Table, found: Statuses, figures: VariantFigures) -> Iterator[Finding]:
    counted = _counted(table, figures)
    accepted = int((found[figures.rows] == Status.ACCEPTED).sum())
    if counted and counted[0] > 1 and counted[0] in (len(figures.rows), accepted):
        count, rows = counted
        yield Finding(
            rule=VARIANT_RULES_BY_CODE["corpora-per-repetition"], column="accepted_unique_corpora",
            value=str(count), details=_names(figures) | {"rows": str(len(figures.rows))}, rows=rows,
        )  # fmt: skip


def _warning(
    code: str,
    section: str,
    examine: Callable[[Table, Statuses, VariantFigures], Iterator[Finding]],
    *texts: str,
    whole_variant: bool = False,
) -> VariantRule:
    title, message, remedy = texts
    return VariantRule(
        code=code, scope=Scope.VARIANT, severity=Severity.WARNING, section=section, examine=examine,
        whole_variant=whole_variant, title=title, message=message, remedy=remedy,
    )  # fmt: skip


RUN_MISSING = _warning(
    "run-missing", "3", _missing_runs,
    N_("A pass is missing"),
    N_("{variant}, {phase}, of {experiment}: run {missing} is missing between the {rows} rows that stand"
       " ({missing_count} missing). A slow or failed pass may have been removed."),
    N_("Put the row back, with an empty time if it failed; nothing is filled in here."),
)  # fmt: skip
WARM_PASSES_FEW = _warning(
    "warm-passes-few", "3", _few_warm_passes,
    N_("Fewer than five warm passes"),
    N_("{variant}, {phase}, of {experiment} has {rows} rows, and the protocol asks for {due} warm passes per variant."),
    N_("Measure the missing passes, or say in `notes` why there are fewer."),
)  # fmt: skip
VARIANT_RULES: tuple[VariantRule, ...] = (
    RUN_MISSING,
    WARM_PASSES_FEW,
    _warning(
        "package-differs", "5", _differing("package-differs", ("duration_days", "lots", "package_total_usd_minor")),
        N_("The package differs between repetitions"),
        N_("`{column}` differs between the passes of {variant} of {experiment}: {values}. A package is one expense,"
           " whatever the number of passes."),
        N_("Write the whole package of this variant, the same on every row."),
        whole_variant=True,
    ),
    _warning(
        "corpora-differ", "5", _differing("corpora-differ", ("accepted_unique_corpora",)),
        N_("The accepted corpora differ between repetitions"),
        N_("`{column}` differs between the passes of {variant} of {experiment}: {values}. It is one quantity of the"
           " whole package, never one to add over repetitions."),
        N_("Write the distinct corpora accepted over the package, the same on every row, or leave it empty."),
        whole_variant=True,
    ),
    _warning(
        "corpora-without-acceptance", "5", _counted_without_acceptance,
        N_("Corpora counted where none was accepted"),
        N_("`{column}` says {value} for {variant} of {experiment}, and no pass of this variant was accepted."),
        N_("Write 0 if nothing was accepted, or leave it empty where it was not counted."),
        whole_variant=True,
    ),
    _warning(
        "corpora-per-repetition", "5", _counted_per_repetition,
        N_("Corpora counted once per repetition"),
        N_("`{column}` says {value} for {variant} of {experiment}, as many as its passes: five passes over one corpus"
           " are one useful corpus."),
        N_("Count distinct corpora accepted over the package; say in `notes` how they were counted if it is right."),
        whole_variant=True,
    ),
)  # fmt: skip
VARIANT_RULES_BY_CODE = {rule.code: rule for rule in VARIANT_RULES}
