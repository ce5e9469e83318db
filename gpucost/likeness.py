"""Identifiers that are not equal and may once have been: what a reader, or a spreadsheet, takes one for.

Nothing is matched by it. It explains why an expected ID is missing and another one stands there: two identifiers with a
key in common are reported together.
"""

import re
from decimal import Decimal

from gpucost.cells import SPREADSHEET_NUMBER, skeleton

SPREADSHEET_DIGITS = 15
"""A spreadsheet keeps this many digits of a number, and writes zeros for the others."""
_SHOWN_DIGITS = (6, 3)
"""Significant digits in which a spreadsheet shows a long number: `9.0072E+15`, `9.01E+15`."""
_MONTHS = {
    name: month
    for month, names in enumerate(
        ("jan janv", "feb févr fev", "mar march mars", "apr avr", "may mai", "jun juin", "jul juil", "aug août aou",
         "sep sept", "oct", "nov", "dec déc"),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_NUMBER = re.compile(r"0*([0-9]+?)(?:\.0+)?", re.ASCII)
_DATE = re.compile(r"([0-9]{1,4})[-/. ]([0-9]{1,2})(?:[-/. ]([0-9]{1,4}))?", re.ASCII)
_DAY_MONTH = re.compile(r"([0-9]{1,2})[-/. ]?([^\W\d_]{3,5})\.?(?:[-/. ]([0-9]{2,4}))?")
_MONTH_DAY = re.compile(r"([^\W\d_]{3,5})[-/. ]?([0-9]{1,2})")
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))


def appearance(name: str) -> str:
    """What a reader takes an identifier for: look-alike letters, dashes and invisible characters told no more apart."""
    return skeleton(name).translate(_DASHES)


def likeness_keys(name: str) -> tuple[str, ...]:
    """What an identifier has in common with those it may have been rewritten from or into, the surest first."""
    likeness = appearance(name).casefold()
    keys = [likeness]
    if number := _NUMBER.fullmatch(likeness):
        kept = number[1][:SPREADSHEET_DIGITS]
        keys.append(f"number {kept.ljust(len(number[1]), '0')}")
    if date := _date(likeness):
        keys.append(f"date {date}")
    if SPREADSHEET_NUMBER.fullmatch(name):
        value = Decimal(name.replace(",", "."))
        keys += [f"scientific {digits} {value:.{digits - 1}e}" for digits in _SHOWN_DIGITS]
    return tuple(keys)


def scientific_keys(name: str) -> tuple[str, ...]:
    """What a spreadsheet's short form of a long number has in common with that number, written in full."""
    if not (name.isascii() and name.isdigit()) or len(name) > 400:
        return ()
    return tuple(f"scientific {digits} {Decimal(name):.{digits - 1}e}" for digits in _SHOWN_DIGITS)


def _date(text: str) -> list[int] | None:
    """The numbers of a date in any order: which is the day and which the month is what a spreadsheet guesses."""
    if match := _DATE.fullmatch(text):
        return sorted(int(part) for part in match.groups() if part)
    if (match := _DAY_MONTH.fullmatch(text)) and match[2] in _MONTHS:
        return sorted([int(match[1]), _MONTHS[match[2]], *([int(match[3])] if match[3] else [])])
    if (match := _MONTH_DAY.fullmatch(text)) and match[1] in _MONTHS:
        return sorted([int(match[2]), _MONTHS[match[1]]])
    return None
