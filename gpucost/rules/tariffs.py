"""Rules over a tariff CSV and over what is asked of it. Contract, section 5; protocol, section 5.

Every message names the tariff file, because it is often read beside raw CSVs whose rows have numbers too.
"""

from gpucost.findings import Rule, Scope, Severity
from gpucost.language import N_


def _rule(severity: Severity, code: str, title: str, message: str, remedy: str) -> Rule:
    return Rule(
        code=code, scope=Scope.TARIFF, severity=severity, section="5", title=title, message=message, remedy=remedy
    )


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTICE

# The file

TARIFF_EMPTY = _rule(
    _E, "tariff-file-empty",
    N_("The tariff file is empty"),
    N_("{tariffs}: the file holds no byte at all: not even the header line."),
    N_("Write the header line of the 7 names, then one row per offer and duration."),
)  # fmt: skip
TARIFF_NOT_CSV = _rule(
    _E, "tariff-file-not-csv",
    N_("A tariff in another kind of file"),
    N_("{tariffs}: this is not a CSV: its first bytes are those of a {kind} file."),
    N_("Open it where it was made, and save the sheet as CSV UTF-8 with commas."),
)  # fmt: skip
TARIFF_ENCODING = _rule(
    _E, "tariff-file-encoding",
    N_("A tariff in an encoding other than UTF-8"),
    N_("{tariffs}: the file is not UTF-8 but looks like {encoding}."),
    N_("Save it as CSV UTF-8 with commas. No price of it was read."),
)  # fmt: skip
TARIFF_DELIMITER = _rule(
    _E, "tariff-file-delimiter",
    N_("A tariff with a separator other than a comma"),
    N_("{tariffs}: the columns are separated by {value}, where a comma is due."),
    N_("Save it as CSV UTF-8 with commas between the columns. No price of it was read."),
)  # fmt: skip
TARIFF_HEADER = _rule(
    _E, "tariff-header",
    N_("A tariff header that is not the 7 names"),
    N_("{tariffs}: the header is {value}, where exactly these names are due, in this order: {due}."),
    N_("Write the 7 names as the first line, and put the columns in their order. No price of it was read."),
)  # fmt: skip
TARIFF_UNCLOSED_QUOTE = _rule(
    _E, "tariff-file-unclosed-quote",
    N_("A quotation mark of a tariff that is never closed"),
    N_("{tariffs}: a quoted cell opens on line {at} and is not closed as it should be ({value}): nothing from there on"
       " could be separated into rows."),
    N_("Close the quotation mark on line {at}. The prices from this line on were not read."),
)  # fmt: skip
TARIFF_NO_ROWS = _rule(
    _W, "tariff-no-rows",
    N_("A tariff without a price"),
    N_("{tariffs}: the file holds the header and no row: nothing has a price."),
    N_("Write one row per offer and duration."),
)  # fmt: skip
TARIFF_BOM = _rule(
    _N, "tariff-file-bom",
    N_("A tariff with a byte order mark"),
    N_("{tariffs}: the file begins with a byte order mark (U+FEFF); it was read as no part of the first name."),
    N_("Nothing to do."),
)  # fmt: skip
TARIFF_LONE_CR = _rule(
    _N, "tariff-file-lone-cr",
    N_("A tariff whose lines end in a lone carriage return"),
    N_("{tariffs}: lines end in a lone carriage return (CR), as old Macintosh exports do; they were read as lines."),
    N_("Nothing to do."),
)  # fmt: skip
TARIFF_BLANK_LINES = _rule(
    _N, "tariff-file-blank-lines",
    N_("Blank lines in a tariff"),
    N_("{tariffs}: {count} blank lines, the first on line {at}, hold no price and were passed over."),
    N_("Check that no row was lost there."),
)  # fmt: skip

# A row

TARIFF_CELL_COUNT = _rule(
    _E, "tariff-row-cell-count",
    N_("A tariff row of more or fewer than 7 cells"),
    N_("{tariffs}: the row has {count} cells for 7 columns ({value}), so that its price cannot be placed."),
    N_("Put a text that holds a comma between double quotes, and write prices without separators."),
)  # fmt: skip
TARIFF_HEADER_AGAIN = _rule(
    _E, "tariff-row-header-again",
    N_("The tariff header again"),
    N_("{tariffs}: the row is the header line again: two lists were probably joined."),
    N_("Keep one list of one day, with one header line."),
)  # fmt: skip
TARIFF_ROW_QUOTES = _rule(
    _E, "tariff-row-quotes",
    N_("Quotation marks of a tariff that do not fit"),
    N_("{tariffs}: a quotation mark closes a cell and text follows it before the comma ({value}): the row cannot be"
       " separated into cells."),
    N_('Put the whole cell between double quotes and double every quotation mark inside it ("").'),
)  # fmt: skip
TARIFF_SWALLOWED = _rule(
    _E, "tariff-row-swallowed",
    N_("A tariff cell that holds other rows"),
    N_("{tariffs}: `{column}` runs over several lines and holds what looks like whole rows: {value}."),
    N_("Close the quotation mark where the cell ends; the prices inside this cell were not read."),
)  # fmt: skip
TARIFF_REPEATED = _rule(
    _E, "tariff-offer-repeated",
    N_("The same offer and duration twice"),
    N_("{tariffs}: {provider}, {value}, {gpus} GPUs per lot, {days} days stands here again; it stands first in row"
       " {first} (line {first_line}). Neither price is used."),
    N_("Keep one row per offer and duration: a list holds one day's prices, not their history."),
)  # fmt: skip

# A cell

TARIFF_CELL_NUL = _rule(
    _E, "tariff-cell-nul",
    N_("A NUL byte in a tariff"),
    N_("{tariffs}: the cell of `{column}` holds a NUL byte (U+0000): {value}. The file was damaged, or half written."),
    N_("Write the file again from its source; a text never holds this byte."),
)  # fmt: skip
TARIFF_CELL_EMPTY = _rule(
    _E, "tariff-cell-empty",
    N_("An empty cell in a tariff"),
    N_("{tariffs}: `{column}` is empty: a price needs all 7 cells, its day and its source too."),
    N_("Fill the cell, or remove the row: what has no price is better left out."),
)  # fmt: skip
TARIFF_PRICE = _rule(
    _E, "tariff-price",
    N_("A price that is not whole US cents"),
    N_("{tariffs}: `{column}` holds {value}, where the whole US cents of one lot are due, above zero."),
    N_("Write US cents in digits alone, without sign, separator or decimals: 1,296.00 US dollars are 129600."),
)  # fmt: skip
TARIFF_GPUS_PER_LOT = _rule(
    _E, "tariff-gpus-per-lot",
    N_("A number of GPUs per lot that cannot be"),
    N_("{tariffs}: `{column}` holds {value}, where a whole number of GPUs is due, 1 or more."),
    N_("Write how many GPUs one lot holds, in digits alone; its price covers them all."),
)  # fmt: skip
TARIFF_DURATION = _rule(
    _E, "tariff-duration",
    N_("A tariff for other days than 3, 7 or 30"),
    N_("{tariffs}: `{column}` holds {value}; a package lasts 3, 7 or 30 whole days."),
    N_("Write 3, 7 or 30 with the price of that whole package; a price by the hour or the month is never converted."),
)  # fmt: skip
TARIFF_DATE = _rule(
    _E, "tariff-date",
    N_("A day that is not in the calendar"),
    N_("{tariffs}: `{column}` holds {value}, which is not a day written as YYYY-MM-DD."),
    N_("Write the first day on which the price holds, such as 2026-09-24."),
)  # fmt: skip
TARIFF_CELL_RESPELLED = _rule(
    _N, "tariff-cell-respelled",
    N_("A tariff number read as its canonical spelling"),
    N_("{tariffs}: `{column}`: {value} was read as {canonical}."),
    N_("Nothing to do."),
)  # fmt: skip
TARIFF_NAME_INVISIBLE = _rule(
    _W, "tariff-name-invisible",
    N_("A space around a name of a tariff, or an invisible character in it"),
    N_("{tariffs}: `{column}` holds {value}, which is another name than the one without these characters."),
    N_("Type the name again. Until then only rows with exactly this name match it."),
)  # fmt: skip
TARIFF_NAME_LOOK_ALIKE = _rule(
    _W, "tariff-name-look-alike",
    N_("Two names of a tariff that a reader takes for one"),
    N_("{tariffs}: `{column}` holds {value}, and {twin} in row {first}: they read alike and are two names."),
    N_("Write one name in one way, if it is one. Until then both are kept apart."),
)  # fmt: skip

# What is asked of a tariff

TARIFF_GPU_UNKNOWN = _rule(
    _E, "tariff-gpu-unknown",
    N_("A GPU model without a price"),
    N_("{tariffs}: no row of {value} can be priced; {offered}."),
    N_("Choose one of the models on offer, written exactly as the tariff writes it, or add its price to the tariff."),
)  # fmt: skip
TARIFF_DAYS_UNKNOWN = _rule(
    _E, "tariff-days-unknown",
    N_("A duration without a price"),
    N_("{tariffs}: no package of {value} days can be priced here; on offer: {offered} days."),
    N_("Choose one of the durations on offer; a price is never cut or stretched to other days."),
)  # fmt: skip
TARIFF_NOTHING_ACCEPTED = _rule(
    _W, "tariff-nothing-accepted",
    N_("No accepted result to divide by"),
    N_("{tariffs}: {value} accepted results: there is no cost per accepted result, and it is not zero either."),
    N_("Read the price of the whole package; a unit cost exists once a distinct corpus has been accepted."),
)  # fmt: skip

TARIFF_RULES: tuple[Rule, ...] = (
    TARIFF_EMPTY, TARIFF_NOT_CSV, TARIFF_ENCODING, TARIFF_DELIMITER, TARIFF_HEADER, TARIFF_UNCLOSED_QUOTE,
    TARIFF_NO_ROWS, TARIFF_BOM, TARIFF_LONE_CR, TARIFF_BLANK_LINES, TARIFF_CELL_COUNT, TARIFF_HEADER_AGAIN,
    TARIFF_ROW_QUOTES, TARIFF_SWALLOWED, TARIFF_REPEATED, TARIFF_CELL_NUL, TARIFF_CELL_EMPTY, TARIFF_PRICE,
    TARIFF_GPUS_PER_LOT, TARIFF_DURATION, TARIFF_DATE, TARIFF_CELL_RESPELLED, TARIFF_NAME_INVISIBLE,
    TARIFF_NAME_LOOK_ALIKE, TARIFF_GPU_UNKNOWN, TARIFF_DAYS_UNKNOWN, TARIFF_NOTHING_ACCEPTED,
)  # fmt: skip
