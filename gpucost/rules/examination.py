"""How a rule looks at a table: over distinct combinations of cells, so that a repeated cause is judged once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gpucost.findings import Detail, Finding, Rows, Rule
from gpucost.table import Cells, Table


@dataclass(frozen=True, slots=True)
class Problem:
    """What a row rule found: the column a reader should look at, its text, and what fills the message."""

    column: str
    value: str | None = None
    details: Mapping[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRule(Rule):
    """A rule over some cells of one row. `columns` are all it reads; `examine` gives its problems.

    With `once`, what holds for many rows of one experiment alike is said once for them all. `suspects` narrows the
    rows before the exact examination, where nearly every row has a value of its own.
    """

    columns: Sequence[str]
    examine: Callable[[Cells], Iterable[Problem]]
    once: bool = False
    suspects: Callable[[Table], Rows] | None = None


def examine_rows(rule: RowRule, table: Table, only: Rows | None = None) -> Iterator[Finding]:
    """Every finding of a row rule, one per distinct cause (and per experiment, for a rule that speaks once). `only`
    are the rows it looks at, all where None."""
    names = ("experiment_id", *rule.columns) if rule.once else tuple(rule.columns)
    combinations = table.combinations(names, rule.suspects(table) if rule.suspects else only)
    problems = [
        (index, problem)
        for index, cells in enumerate(table.cells_of(names, combinations.members))
        if cells is not None
        for problem in rule.examine(cells)
    ]
    found = combinations.rows_of([index for index, _ in problems])
    if rule.once:
        yield from _said_once(rule, table, problems, found)
        return
    for (_, problem), rows in zip(problems, found, strict=True):
        yield Finding(
            rule=rule, column=problem.column, value=problem.value, details=problem.details, rows=rows, each_row=True
        )


def _said_once(
    rule: RowRule, table: Table, problems: list[tuple[int, Problem]], found: list[Rows]
) -> Iterator[Finding]:
    gathered: dict[tuple[str, str, str | None], tuple[Problem, list[Rows]]] = {}
    for (_, problem), rows in zip(problems, found, strict=True):
        key = (table.text(int(rows[0]), "experiment_id"), problem.column, problem.value)
        gathered.setdefault(key, (problem, []))[1].append(rows)
    for (experiment, _, _), (problem, parts) in gathered.items():
        yield said_once(rule, np.unique(np.concatenate(parts)), experiment, problem)


def said_once(rule: Rule, rows: Rows, experiment: str, problem: Problem) -> Finding:
    """One finding for many rows of one experiment, with their number."""
    details = {"experiment": experiment, "count": str(len(rows)), **problem.details}
    return Finding(rule=rule, column=problem.column, value=problem.value, details=details, rows=rows)
