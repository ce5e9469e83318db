"""Why a conversion refuses a file or a cell, beyond the rules of format. Contract, section 4 (`convert`)."""

from gpucost.findings import Rule, Scope, Severity
from gpucost.language import N_

ENCODING_UNCERTAIN = Rule(
    code="conversion-encoding", scope=Scope.FILE, severity=Severity.ERROR, section="4",
    title=N_("An encoding that cannot be told"),
    message=N_("The letters of the file cannot be told from its bytes: {why}."),
    remedy=N_("Open the file where it was made, and save it as CSV UTF-8."),
)  # fmt: skip
NUMBER_AMBIGUOUS = Rule(
    code="conversion-ambiguous", scope=Scope.CELL, severity=Severity.ERROR, section="4",
    title=N_("A number that may be read in two ways"),
    message=N_("`{column}` holds {value}: {decimal} or {whole}? The rest of the file does not tell which."),
    remedy=N_("Write this number again from its source, with a decimal point and no separator between thousands,"
              " in a file whose other decimals have a point too."),
)  # fmt: skip
DECIMALS_MIXED = Rule(
    code="conversion-mixed-decimals", scope=Scope.CELL, severity=Severity.ERROR, section="4",
    title=N_("Decimal points and decimal commas in one file"),
    message=N_("`{column}` holds {value}, where {count} other decimals of the file are written as {example} is."),
    remedy=N_("Write all decimals of the file in one way, from their source."),
)  # fmt: skip

CONVERSION_RULES: tuple[Rule, ...] = (ENCODING_UNCERTAIN, NUMBER_AMBIGUOUS, DECIMALS_MIXED)
