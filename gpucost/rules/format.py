"""Rules of format: the file, its header, its rows and the grammar of its cells. Contract, section 2."""

from gpucost.cells import Fault
from gpucost.findings import Rule, Scope, Severity
from gpucost.language import N_

# The file

FILE_EMPTY = Rule(
    code="file-empty", scope=Scope.FILE, severity=Severity.ERROR, section="4",
    title=N_("The file is empty"),
    message=N_("The file holds no byte at all: not even the header line."),
    remedy=N_("Start from `gpucost template`, or export the file again."),
)  # fmt: skip
FILE_NOT_CSV = Rule(
    code="file-not-csv", scope=Scope.FILE, severity=Severity.ERROR, section="4",
    title=N_("Another kind of file"),
    message=N_("This is not a CSV: its first bytes are those of a {kind} file."),
    remedy=N_("Open it where it was made, and save the sheet as CSV UTF-8 with commas; then check that CSV."),
)  # fmt: skip
FILE_ENCODING = Rule(
    code="file-encoding", scope=Scope.FILE, severity=Severity.ERROR, section="4",
    title=N_("Encoding other than UTF-8"),
    message=N_("The file is not UTF-8 but looks like {encoding}: {evidence}."),
    remedy=N_("Save it as CSV UTF-8 with commas, or run `gpucost convert`. Nothing of it was read."),
)  # fmt: skip
FILE_DELIMITER = Rule(
    code="file-delimiter", scope=Scope.FILE, severity=Severity.ERROR, section="4",
    title=N_("Separator other than a comma"),
    message=N_("The columns are separated by {value}, where a comma is due; decimals are then often written with a"
               " comma too."),
    remedy=N_("Export with commas between columns and points in decimals, or run `gpucost convert`."
              " Nothing of the file was read."),
)  # fmt: skip
HEADER_NAMES = Rule(
    code="header-names", scope=Scope.FILE, severity=Severity.ERROR, section="4",
    title=N_("A header that is not the 38 names"),
    message=N_("The header is not the 38 names in their order: {difference}."),
    remedy=N_("Copy the header line from `gpucost template`; move the columns, not only their names."
              " Nothing of the file was read."),
)  # fmt: skip
FILE_UNCLOSED_QUOTE = Rule(
    code="file-unclosed-quote", scope=Scope.FILE, severity=Severity.ERROR, section="4",
    title=N_("A quotation mark that is never closed"),
    message=N_("A quoted cell opens on line {line} and is not closed as it should be: from there, the rest of the file"
               " ({lines} lines) could not be separated into rows."),
    remedy=N_('Close the quotation mark on line {line}, and double every quotation mark inside a note ("").'
              " Nothing from this line on was read."),
)  # fmt: skip
FILE_NO_ROWS = Rule(
    code="file-no-rows", scope=Scope.FILE, severity=Severity.WARNING, section="4",
    title=N_("No pass"),
    message=N_("The file holds the header and no row: there is no pass to review."),
    remedy=N_("Write one row per pass, the slow ones and the failed ones too."),
)  # fmt: skip
FILE_BOM = Rule(
    code="file-bom", scope=Scope.FILE, severity=Severity.NOTICE, section="4",
    title=N_("Byte order mark"),
    message=N_("The file begins with a byte order mark (U+FEFF); it was read as no part of the first name."),
    remedy=N_("Nothing to do. `gpucost convert` writes the file without it."),
)  # fmt: skip
FILE_LONE_CR = Rule(
    code="file-lone-cr", scope=Scope.FILE, severity=Severity.NOTICE, section="4",
    title=N_("Lines that end in a lone carriage return"),
    message=N_("Lines end in a lone carriage return (CR), as old Macintosh exports do; they were read as lines."),
    remedy=N_("Nothing to do. `gpucost convert` writes ordinary line ends."),
)  # fmt: skip
FILE_BLANK_LINES = Rule(
    code="file-blank-lines", scope=Scope.FILE, severity=Severity.NOTICE, section="4",
    title=N_("Blank lines"),
    message=N_("{count} blank lines, the first on line {line}, hold no row and were passed over."),
    remedy=N_("Check that no row was lost there."),
)  # fmt: skip

# A row

ROW_CELL_COUNT = Rule(
    code="row-cell-count", scope=Scope.ROW, severity=Severity.ERROR, section="4",
    title=N_("A row of more or fewer than 38 cells"),
    message=N_("The row has {count} cells for 38 columns, so that no cell of it can be placed."),
    remedy=N_("Put a note that holds a comma between double quotes; write an empty cell for what was not recorded."),
)  # fmt: skip
ROW_HEADER_AGAIN = Rule(
    code="row-header-again", scope=Scope.ROW, severity=Severity.ERROR, section="4",
    title=N_("The header again"),
    message=N_("The row is the header line again: two files were probably joined."),
    remedy=N_("Remove this line; `gpucost check` takes several files at once."),
)  # fmt: skip
ROW_QUOTES = Rule(
    code="row-quotes", scope=Scope.ROW, severity=Severity.ERROR, section="4",
    title=N_("Quotation marks that do not fit"),
    message=N_("A quotation mark closes a cell and text follows it before the comma: the row cannot be separated into"
               " cells."),
    remedy=N_('Put the whole cell between double quotes and double every quotation mark inside it ("").'),
)  # fmt: skip
ROW_SWALLOWED = Rule(
    code="row-swallowed", scope=Scope.ROW, severity=Severity.ERROR, section="4",
    title=N_("A cell that holds other rows"),
    message=N_("A quoted cell runs over {lines} lines and holds what looks like whole rows: a quotation mark was left"
               " open."),
    remedy=N_("Close the quotation mark on line {line}; the rows inside this cell were not read."),
)  # fmt: skip
CELL_NUL = Rule(
    code="cell-nul", scope=Scope.CELL, severity=Severity.ERROR, section="4",
    title=N_("A NUL byte"),
    message=N_("The cell of `{column}` holds a NUL byte (U+0000): {value}. The file was damaged, or half written."),
    remedy=N_("Write the file again from its source; a text never holds this byte."),
)  # fmt: skip

# A cell


def _cell_rule(code: str, title: str, message: str, remedy: str, severity: Severity = Severity.ERROR) -> Rule:
    return Rule(
        code=code, scope=Scope.CELL, severity=severity, section="4", title=title, message=message, remedy=remedy
    )


FAULT_RULES: dict[Fault, Rule] = {
    Fault.NOT_BOOLEAN: _cell_rule(
        "cell-not-boolean",
        N_("Neither true nor false"),
        N_("`{column}` holds {value}, which is neither `true` nor `false`."),
        N_("Write `true` or `false` after a real check, or leave the cell empty; `gpucost convert` reads VRAI/FAUX,"
           " OUI/NON, YES/NO and 1/0."),
    ),
    Fault.NOT_INTEGER: _cell_rule(
        "cell-not-integer",
        N_("Not a whole number"),
        N_("`{column}` holds {value}, which is not a whole number in the digits 0 to 9."),
        N_("Write the digits alone, such as 1000, or leave the cell empty where nothing was recorded."),
    ),
    Fault.NOT_DECIMAL: _cell_rule(
        "cell-not-decimal",
        N_("Not a number"),
        N_("`{column}` holds {value}, which is not a number in the digits 0 to 9 with a decimal point."),
        N_("Write it as 12.481, or leave the cell empty where nothing was recorded."),
    ),
    Fault.DECIMAL_COMMA: _cell_rule(
        "cell-decimal-comma",
        N_("Decimal comma"),
        N_("`{column}` holds {value}: a comma, where a decimal point is due, or between thousands: it cannot be told"
           " which."),
        N_("Write a decimal point and no separator between thousands."),
    ),
    Fault.GROUPED_DIGITS: _cell_rule(
        "cell-grouped-digits",
        N_("Digits in groups"),
        N_("`{column}` holds {value}: digits in groups."),
        N_("Write the digits without a separator; `gpucost convert` removes spaces between thousands."),
    ),
    Fault.LOST_DIGITS: _cell_rule(
        "cell-digits-lost",
        N_("Digits may be lost"),
        N_("`{column}` holds {value}, as a spreadsheet shortens a number: digits may be lost."),
        N_("Write the number again from its source, with all its digits and without an exponent."),
    ),
    Fault.NOT_FINITE: _cell_rule(
        "cell-not-finite",
        N_("Not a finite number"),
        N_("`{column}` holds {value}, which is no measurement."),
        N_("Leave the cell empty where nothing was recorded, and say why in `notes`."),
    ),
    Fault.NEGATIVE: _cell_rule(
        "cell-negative",
        N_("Below zero"),
        N_("`{column}` holds {value}; it counts something and cannot be below zero."),
        N_("Write what was counted, or leave the cell empty where nothing was recorded."),
    ),
    Fault.CURRENCY: _cell_rule(
        "cell-currency",
        N_("Not whole US cents"),
        N_("`{column}` holds {value}; a currency sign or a decimal mark leaves open whether these are dollars, cents or"
           " another currency."),
        N_("Write whole US cents in digits alone: 1,296.00 US dollars are 129600."),
    ),
    Fault.TOO_LONG: _cell_rule(
        "cell-too-long",
        N_("A number of absurd length"),
        N_("`{column}` holds a number that is longer than any measurement: {value}."),
        N_("Write the number again from its source."),
    ),
}  # fmt: skip
CELL_RESPELLED = _cell_rule(
    "cell-respelled",
    N_("Read as its canonical spelling"),
    N_("`{column}`: {value} was read as {canonical}."),
    N_("Nothing to do. `gpucost convert` writes the canonical spelling."),
    Severity.NOTICE,
)

FORMAT_RULES: tuple[Rule, ...] = (
    FILE_EMPTY, FILE_NOT_CSV, FILE_ENCODING, FILE_DELIMITER, HEADER_NAMES, FILE_UNCLOSED_QUOTE, FILE_NO_ROWS, FILE_BOM,
    FILE_LONE_CR, FILE_BLANK_LINES, ROW_CELL_COUNT, ROW_HEADER_AGAIN, ROW_QUOTES, ROW_SWALLOWED, CELL_NUL,
    *FAULT_RULES.values(), CELL_RESPELLED,
)  # fmt: skip
