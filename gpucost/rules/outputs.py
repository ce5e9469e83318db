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
PROTOCOL_CHANGED = _rule(
    Severity.ERROR, "protocol-changed",
    N_("The protocol was changed after sealing"),
    N_("`protocol.toml` has the SHA-256 {now}, and this run was sealed with {sealed}: its rows were measured under"
       " another protocol."),
    N_("Put the sealed file back; a changed protocol is measured in a new folder."),
)  # fmt: skip
ROWS_OF_ANOTHER_PROTOCOL = _rule(
    Severity.ERROR, "rows-of-another-protocol",
    N_("Rows that name another protocol"),
    N_("The notes of {count} rows name the protocol {sealed}, and `protocol.toml` has the SHA-256 {now}."),
    N_("Put back the protocol file that these rows were measured under, or keep them in a folder of their own."),
)  # fmt: skip
CODE_CHANGED = _rule(
    Severity.WARNING, "code-changed",
    N_("The code was changed after sealing"),
    N_("The code on this machine is no longer the one that this run was sealed with ({changed}): the run cannot be"
       " resumed, and measuring again may give other results."),
    N_("Go back to the sealed revision to resume; measure the new code in a new folder."),
)  # fmt: skip
ACCEPTED_AGAINST_PROTOCOL = _rule(
    Severity.ERROR, "accepted-against-protocol",
    N_("Accepted against its own protocol"),
    N_("`corpus_accepted` says {value}, and by the protocol file of its folder {condition}."),
    N_("Write `false`: what the protocol announced before the measurement decides."),
)  # fmt: skip

OUTPUTS_RULES: tuple[Rule, ...] = (
    ROW_AGAINST_OUTPUTS,
    OUTPUTS_MISSING,
    OUTPUTS_UNCLAIMED,
    NOT_RECOMPUTED,
    PROTOCOL_CHANGED,
    ROWS_OF_ANOTHER_PROTOCOL,
    CODE_CHANGED,
    ACCEPTED_AGAINST_PROTOCOL,
)
