"""The strict grammar of one CSV cell: its text, its typed value, or why it has none.

The reader, the typed row and the conversion all parse a cell with these functions, so that a value means
the same thing everywhere. Contract, section 2.
"""

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum
from typing import NamedTuple, TypeAlias

MAX_DIGITS = 400
"""Longest number that is parsed. Nothing that is counted, weighed or timed needs more; `int` refuses 4,301 digits."""

Value: TypeAlias = str | int | Decimal | bool | None
"""A typed cell. None is 'not recorded', and is never zero."""


class CellType(Enum):
    """What a column holds."""

    IDENTIFIER = "identifier"
    TEXT = "text"
    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"


class Fault(Enum):
    """Why a cell has no value. Each fault is one rule of `gpucost.rules.format`."""

    NOT_BOOLEAN = "not-boolean"
    NOT_INTEGER = "not-integer"
    NOT_DECIMAL = "not-decimal"
    DECIMAL_COMMA = "decimal-comma"
    GROUPED_DIGITS = "grouped-digits"
    LOST_DIGITS = "lost-digits"
    NOT_FINITE = "not-finite"
    NEGATIVE = "negative"
    CURRENCY = "currency"
    TOO_LONG = "too-long"


class Cell(NamedTuple):
    """One parsed cell: `value` where `fault` is None; `canonical` is the spelling the value is read as.

    A named tuple, for a long file makes a million of them.
    """

    text: str
    value: Value
    canonical: str
    fault: Fault | None = None

    @property
    def respelled(self) -> bool:
        """Whether the text is not the canonical spelling of the value that was read."""
        return self.fault is None and self.canonical != self.text


BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[0-9]+", re.ASCII)
_CANONICAL_INTEGER = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_INTEGER_WITH_ZEROS = re.compile(r"([0-9]+)\.0+", re.ASCII)
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_SMALL_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?e-[0-9]{1,3}", re.ASCII)
_NEGATIVE_INTEGER = re.compile(r"-[0-9]+(\.0+)?", re.ASCII)
_EXPONENT = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?[eE][+-]?[0-9]+", re.ASCII)
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+", re.ASCII)
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}([ _'\u00a0\u202f\u2009.,][0-9]{3})+([.,][0-9]+)?", re.ASCII)
_CURRENCY_WORDS = re.compile(r"(?i)\b(usd|eur|gbp|dollars?|euros?|cents?)\b|\bUS\b")
SPREADSHEET_NUMBER = re.compile(r"-?[0-9]+([.,][0-9]+[eE][+-]?|[eE]\+)[0-9]+", re.ASCII)
"""What a spreadsheet leaves of a long number: a mantissa with a point, or `E+`. A plain `5e310427` is a hash."""


def parse_cell(text: str, cell_type: CellType, *, money: bool = False) -> Cell:
    """Parse one cell. Empty means not recorded, whatever the type. Nothing is trimmed or guessed."""
    if text == "" or cell_type in (CellType.IDENTIFIER, CellType.TEXT):
        return Cell(text, text or None, text)
    if cell_type is CellType.BOOLEAN:
        return _parse_boolean(text)
    if len(text) > MAX_DIGITS:
        return Cell(text, None, text, Fault.TOO_LONG)
    return _parse_integer(text, money=money) if cell_type is CellType.INTEGER else _parse_decimal(text)


def parse_cells(texts: Sequence[str], cell_type: CellType, *, money: bool = False) -> list[Cell]:
    """Parse many cells of one column, as `parse_cell` does each; canonical numbers take a shorter way."""
    if cell_type is CellType.DECIMAL:
        canonical = _DECIMAL.fullmatch
        return [
            Cell(text, Decimal(text), text)
            if canonical(text) and len(text) <= MAX_DIGITS
            else parse_cell(text, cell_type, money=money)
            for text in texts
        ]
    if cell_type is CellType.INTEGER:
        canonical = _CANONICAL_INTEGER.fullmatch
        return [
            Cell(text, int(text), text)
            if canonical(text) and len(text) <= MAX_DIGITS
            else parse_cell(text, cell_type, money=money)
            for text in texts
        ]
    return [parse_cell(text, cell_type, money=money) for text in texts]


# Possessive: a million lines must leave nothing to come back to.
_ALL_CANONICAL = {
    CellType.INTEGER: re.compile(r"(?:(?:0|[1-9][0-9]*+)\n|\n)*+", re.ASCII),
    CellType.DECIMAL: re.compile(r"(?:-?[0-9]++(?:\.[0-9]++)?\n|\n)*+", re.ASCII),
}


def are_canonical(texts: Sequence[str], cell_type: CellType) -> bool:
    """Whether all of many texts are certainly canonical, by one look at them together. False where one may not be."""
    if cell_type in (CellType.IDENTIFIER, CellType.TEXT):
        return True
    pattern = _ALL_CANONICAL.get(cell_type)
    if pattern is None or max(map(len, texts), default=0) > MAX_DIGITS:
        return False
    return pattern.fullmatch("\n".join(texts) + "\n") is not None


def _parse_boolean(text: str) -> Cell:
    value = BOOLEANS.get(text)
    if value is None:
        return Cell(text, None, text, Fault.NOT_BOOLEAN)
    return Cell(text, value, "true" if value else "false")


def _parse_integer(text: str, *, money: bool) -> Cell:
    if _INTEGER.fullmatch(text):
        return Cell(text, int(text), str(int(text)))
    if money:
        if "." in text or "," in text or _has_currency(text):
            return Cell(text, None, text, Fault.CURRENCY)
    elif match := _INTEGER_WITH_ZEROS.fullmatch(text):
        return Cell(text, int(match[1]), str(int(match[1])))
    if _NEGATIVE_INTEGER.fullmatch(text):
        return Cell(text, None, text, Fault.NEGATIVE)
    return Cell(text, None, text, _number_fault(text) or Fault.NOT_INTEGER)


def _parse_decimal(text: str) -> Cell:
    if _DECIMAL.fullmatch(text):
        return Cell(text, Decimal(text), text)
    if _SMALL_DECIMAL.fullmatch(text):
        value = Decimal(text)
        return Cell(text, value, format(value, "f"))
    return Cell(text, None, text, _number_fault(text) or Fault.NOT_DECIMAL)


def _number_fault(text: str) -> Fault | None:
    """The nearest explanation for a text that is no number, so that the remedy fits."""
    bare = text.strip().lower().lstrip("+-")
    if bare in ("inf", "infinity", "nan", "+inf", "1.#inf", "1.#qnan"):
        return Fault.NOT_FINITE
    if _has_currency(text):
        return Fault.CURRENCY
    if _EXPONENT.fullmatch(text):
        return Fault.LOST_DIGITS
    if _COMMA.fullmatch(text):
        return Fault.DECIMAL_COMMA
    if _GROUPED.fullmatch(text):
        return Fault.GROUPED_DIGITS
    return None


def _has_currency(text: str) -> bool:
    signs = "$" in text if text.isascii() else any(unicodedata.category(character) == "Sc" for character in text)
    return signs or bool(_CURRENCY_WORDS.search(text))


def visible(text: str, limit: int = 200) -> str:
    """The text with every character that a reader cannot see, or could take for another, spelled as U+XXXX.

    Long texts are cut at `limit` characters, with the number of characters left out.
    """
    if len(text) <= limit and text.isascii() and text.isprintable() and text.strip(" ") == text:
        return text
    cut = text[:limit]
    shown = "".join(_visible_character(character) for character in cut)
    edges = cut.strip(" ")
    if edges != cut:
        left = len(cut) - len(cut.lstrip(" "))
        right = len(cut) - len(cut.rstrip(" ")) if edges else 0
        shown = "␣" * left + shown[left : len(shown) - right if right else None] + "␣" * right
    return shown + (f"… (+{len(text) - limit})" if len(text) > limit else "")


def _visible_character(character: str) -> str:
    if character == " " or (character.isprintable() and not _is_invisible(character)):
        return character
    return f"⟨U+{ord(character):04X}⟩"


def _is_invisible(character: str) -> bool:
    if unicodedata.category(character) in ("Cf", "Cc", "Zs", "Zl", "Zp"):
        return True
    return "\ufe00" <= character <= "\ufe0f" or character in "\u034f\u115f\u1160\u3164\uffa0"


def invisible_characters(text: str) -> list[str]:
    """The distinct characters of a text that a reader cannot see, other than a space inside it, in order."""
    return list(dict.fromkeys(character for character in text if character != " " and _is_invisible(character)))


_TWINS = str.maketrans(
    # Cyrillic and Greek letters that a reader takes for the Latin one beneath them (Unicode, confusables).
    "аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρυικ",
    "aeopcyxijshdqwABEKMHOPCTYXIJSGABEZHIKMNOPTYXoavpuik",
)


def skeleton(text: str) -> str:
    """What a reader takes a text for: look-alike letters, invisible characters and outer spaces removed."""
    folded = unicodedata.normalize("NFKC", text).translate(_TWINS)
    return "".join(c for c in folded if c not in invisible_characters(folded)).strip().replace("\u00a0", " ")


def named_character(character: str) -> str:
    """A character by its code point and its Unicode name."""
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".strip()
