"""Rules over a row and the individual outputs beside it in a run's folder. Contract, sections 3 and 4; protocol,
section 1."""

from gpucost.findings import Rule, Scope, Severity
from gpucost.language import N_


def _rule(severity: Severity, code: str, *texts: str) -> Rule:
    title, message, remedy = texts
    return Rule(
        code=code, scope=Scope.OUTPUTS, severity=severity, section="1", title=title, message=message, remedy=remedy
    )


ROW_AGAINST_OUTPUTS = _rule(
    Severity.ERROR, "row-against-outputs",
    N_("A row against its own outputs"),
    N_("`{column}` says {value}, and `{outputs}` gives {recomputed}."),
    N_("Write what the outputs give, or find the outputs that this row was written from."),
)  # fmt: skip
OUTPUTS_MISSING = _rule(
    Severity.ERROR, "outputs-missing",
    N_("A measured pass without its outputs"),
    N_("The pass has a time, and its individual outputs `{outputs}` are not in the folder."),
    N_("Put the outputs of this very pass back, under this name; without them nothing proves the row."),
)  # fmt: skip
OUTPUTS_UNCLAIMED = _rule(
    Severity.WARNING, "outputs-without-row",
    N_("Outputs without a row"),
    N_("`{outputs}` stands in the folder, and no row is its pass ({count} such files): a slow or failed pass may have"
       " been removed."),
    N_("Put the row back, with an empty time if the pass failed."),
)  # fmt: skip
NOT_RECOMPUTED = _rule(
    Severity.WARNING, "outputs-not-recomputed",
    N_("Verdicts that could not be recomputed"),
    N_("{reasons}: verdicts of this folder rest on what its rows say."),
    N_("Put the missing pieces beside `results.csv`: `expected-ids.txt`, `reference.jsonl`, `outputs/`."),
)  # fmt: skip

OUTPUTS_RULES: tuple[Rule, ...] = (ROW_AGAINST_OUTPUTS, OUTPUTS_MISSING, OUTPUTS_UNCLAIMED, NOT_RECOMPUTED)
