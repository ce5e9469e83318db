"""Rules over an experiment: whether its variants may be compared. Contract, section 3; protocol, section 2."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gpucost.cells import visible
from gpucost.columns import CONFIGURATION, ENVIRONMENT, USEFUL_WORK
from gpucost.findings import Detail, Finding, Rule, Scope, Severity
from gpucost.language import N_
from gpucost.table import Table
from gpucost.verdicts import WARM, ExperimentVerdict

_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRule(Rule):
    """A rule over one experiment. `examine` gives, for each problem, its column, its values and more details."""

    examine: Callable[[Table, ExperimentVerdict], Iterator[tuple[str | None, str | None, dict[str, Detail]]]]


def examine_experiment(rule: ExperimentRule, table: Table, verdict: ExperimentVerdict) -> Iterator[Finding]:
    """Every finding of an experiment rule, said once for the experiment."""
    for column, value, details in rule.examine(table, verdict):
        yield Finding(
            rule=rule, column=column, value=value, rows=verdict.compared_rows,
            details={"experiment": visible(verdict.experiment_id, 80), **details},
        )  # fmt: skip


def distinct_values(table: Table, verdict: ExperimentVerdict, name: str) -> list[str]:
    """The distinct values of a column over the compared rows, as they were first written; '' where empty."""
    column = table[name]
    values: dict[str, None] = {}
    for code in dict.fromkeys(column.codes[verdict.compared_rows].tolist()):
        values.setdefault(column.cells[code].canonical, None)
    return list(values)


def _shown(table: Table, verdict: ExperimentVerdict, name: str) -> str:
    values = [visible(value, 60) or "∅" for value in distinct_values(table, verdict, name)]
    return ", ".join(values[:_SHOWN]) + (f", … (+{len(values) - _SHOWN})" if len(values) > _SHOWN else "")


Problems = Iterator[tuple[str | None, str | None, dict[str, Detail]]]


def _group_varies(group: tuple[str, ...]) -> Callable[[Table, ExperimentVerdict], Problems]:
    def examine(table: Table, verdict: ExperimentVerdict) -> Problems:
        for name in verdict.varied:
            if name in group:
                yield name, _shown(table, verdict, name), {}

    return examine


def _several_configurations(_table: Table, verdict: ExperimentVerdict) -> Problems:
    varied = [name for name in verdict.varied if name in CONFIGURATION]
    if len(varied) > 1:
        columns = ", ".join(f"`{name}`" for name in varied)
        yield varied[0], ", ".join(varied), {"columns": columns, "count": str(len(varied))}


def _inside_variant(table: Table, verdict: ExperimentVerdict) -> Problems:
    for name in verdict.inside:
        if name in CONFIGURATION:
            yield name, _shown(table, verdict, name), {}


def _nothing_varies(table: Table, verdict: ExperimentVerdict) -> Problems:
    if len(verdict.compared_rows) and not verdict.varied:
        variants = len(set(table["variant_id"].codes[verdict.compared_rows].tolist()))
        yield "variant_id", str(variants), {"variants": str(variants)}


def _context_varies(table: Table, verdict: ExperimentVerdict) -> Problems:
    if "context" in verdict.varied:
        yield "context", _shown(table, verdict, "context"), {}


def _warm_ups_differ(table: Table, verdict: ExperimentVerdict) -> Problems:
    values = warm_up_counts(table, verdict)
    if len(values) > 1:
        yield "warmup_iterations", ", ".join(value or "∅" for value in values), {}


def warm_up_counts(table: Table, verdict: ExperimentVerdict) -> list[str]:
    """The distinct numbers of warm-ups of the warm rows of an experiment, '' where not recorded."""
    phase, warm_ups = table["phase"], table["warmup_iterations"]
    warm = np.fromiter((text == WARM for text in phase.texts), np.bool_, len(phase.texts))
    codes = warm_ups.codes[verdict.compared_rows[warm[phase.codes[verdict.compared_rows]]]]
    return list(dict.fromkeys(warm_ups.cells[code].canonical for code in dict.fromkeys(codes.tolist())))


def _other_order(_table: Table, verdict: ExperimentVerdict) -> Problems:
    if not verdict.same_order:
        yield None, None, {}


def _rule(
    severity: Severity,
    code: str,
    section: str,
    examine: Callable[[Table, ExperimentVerdict], Problems],
    *texts: str,
) -> ExperimentRule:
    title, message, remedy = texts
    return ExperimentRule(
        code=code, scope=Scope.EXPERIMENT, severity=severity, section=section, examine=examine,
        title=title, message=message, remedy=remedy,
    )  # fmt: skip


_W, _N = Severity.WARNING, Severity.NOTICE
EXPERIMENT_RULES: tuple[ExperimentRule, ...] = (
    _rule(
        _W, "work-differs", "1", _group_varies(USEFUL_WORK),
        N_("The useful work differs"),
        N_("{experiment}: `{column}` holds {value}. The variants did not do the same useful work, so nothing is"
           " compared."),
        N_("Measure every variant on the same corpus with the same quality rule, in an experiment of its own."),
    ),
    _rule(
        _W, "environment-differs", "2", _group_varies(ENVIRONMENT),
        N_("The environment differs"),
        N_("{experiment}: `{column}` holds {value}. One experiment is one machine and one environment, so nothing is"
           " compared."),
        N_("Measure every variant on the same machine and versions, or give each machine its own experiment."),
    ),
    _rule(
        _W, "several-configurations", "2", _several_configurations,
        N_("More than one configuration column varies"),
        N_("{experiment}: {count} configuration columns vary ({columns}). A difference could come from any of them,"
           " so nothing is compared."),
        N_("Announce one variable and keep the others; study the second in an experiment of its own."),
    ),
    _rule(
        _W, "configuration-inside-variant", "2", _inside_variant,
        N_("The configuration changes inside a variant"),
        N_("{experiment}: `{column}` holds {value}, and changes inside a variant, so nothing is compared."),
        N_("Give each value of the announced variable its own variant."),
    ),
    _rule(
        _W, "context-varies", "2", _context_varies,
        N_("The context varies"),
        N_("{experiment}: `context` holds {value}. Truncating texts changes the work that is done."),
        N_("Record how many texts each variant truncated, and read the qualities before the times."),
    ),
    _rule(
        _W, "warm-ups-differ", "3", _warm_ups_differ,
        N_("The warm-ups differ"),
        N_("{experiment}: the warm passes ran after {value} warm-up iterations. Nothing is ranked."),
        N_("Run the same announced warm-up before every warm pass."),
    ),
    _rule(
        _W, "input-order-differs", "2", _other_order,
        N_("The order of the inputs differs"),
        N_("{experiment}: the controls show that the variants did not read the texts in the same order, so nothing is"
           " compared."),
        N_("Measure every variant on the same texts in the same order."),
    ),
    _rule(
        _N, "nothing-varies", "2", _nothing_varies,
        N_("Nothing varies"),
        N_("{experiment}: nothing varies over its {variants} variants, so there is nothing to compare."),
        N_("Announce one variable, and measure a variant for each of its values."),
    ),
)  # fmt: skip
