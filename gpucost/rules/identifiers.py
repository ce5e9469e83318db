"""Rules over identifiers: what a spreadsheet, a keyboard or an alphabet does to a name. Contract, section 2.

They look at each distinct identifier of a column once. Values are compared as they stand, and never merged.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gpucost.cells import (
    SPREADSHEET_NUMBER,
    CellType,
    invisible_characters,
    named_character,
    skeleton,
    visible,
)
from gpucost.columns import COLUMNS
from gpucost.findings import Detail, Finding, Phrase, Rule, Scope, Severity
from gpucost.language import N_
from gpucost.table import Combinations, Table
from gpucost.verdicts import COLD, LOAD, WARM

IDENTIFIERS = tuple(column.name for column in COLUMNS if column.cell_type is CellType.IDENTIFIER)

_DATES = re.compile(
    r"\d{1,2}/\d{1,2}/\d{2,4}([ T]\d{1,2}:\d{2}(:\d{2})?)?|\d{4}/\d{1,2}/\d{1,2}"
    r"|(\d{1,2}[-. ])?(jan|feb|fe[vb]r?|fév|févr|mar|mars|apr|avr|may|mai|jun|juin|jul|juil|aug|août|aou|sep|sept|oct"
    r"|nov|dec|déc)\.?([-. ]\d{1,4})|\d{1,2}[-. ](jan|janv|feb|févr|fév|mar|mars|apr|avr|may|mai|jun|juin|jul|juil|aug"
    r"|août|sep|sept|oct|nov|dec|déc)\.?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifierRule(Rule):
    """A rule over the distinct texts of one identifying column. `examine` gives the details of its message, or
    None where all is well; `others` are the column's distinct texts, by what a reader would take them for."""

    examine: Callable[[str, str, Mapping[str, Sequence[str]]], Mapping[str, Detail] | None]


def examine_identifiers(rule: IdentifierRule, table: Table) -> Iterator[Finding]:
    """Every finding of an identifier rule, one per distinct text and column."""
    for name in IDENTIFIERS:
        column = table[name]
        likenesses: dict[str, list[str]] = {}
        for text in column.texts:
            likenesses.setdefault(skeleton(text), []).append(text)
        problems = [
            (code, details)
            for code, text in enumerate(column.texts)
            if text and (details := rule.examine(name, text, likenesses)) is not None
        ]
        groups = Combinations(np.empty((0, 1), np.int64), column.codes.astype(np.int64), np.arange(len(table)))
        for (code, details), rows in zip(problems, groups.rows_of([code for code, _ in problems]), strict=True):
            yield Finding(rule=rule, column=name, value=column.texts[code], details=details, rows=rows, each_row=True)


def _lost_digits(_name: str, text: str, _others: Mapping[str, Sequence[str]]) -> Mapping[str, Detail] | None:
    return {} if SPREADSHEET_NUMBER.fullmatch(text) else None


def _outer_space(_name: str, text: str, _others: Mapping[str, Sequence[str]]) -> Mapping[str, Detail] | None:
    return {} if text != text.strip(" \t") else None


def _invisible(_name: str, text: str, _others: Mapping[str, Sequence[str]]) -> Mapping[str, Detail] | None:
    found = [c for c in invisible_characters(text.strip(" \t")) if c != "\0"]
    return {"characters": ", ".join(named_character(c) for c in found)} if found else None


def _look_alike(_name: str, text: str, others: Mapping[str, Sequence[str]]) -> Mapping[str, Detail] | None:
    likeness = skeleton(text)
    strange = _strange_characters(text)
    twins = [other for other in others.get(likeness, ()) if other != text]
    if not strange or (not twins and not _mixes_alphabets(text) and unicodedata.is_normalized("NFKC", text)):
        return None
    like: Detail = (
        Phrase(N_("it looks like {twin}, which also stands in the column"), {"twin": visible(twins[0], 80)})
        if twins
        else Phrase(N_("a reader would type {likeness}"), {"likeness": visible(likeness, 80)})
    )
    return {"characters": ", ".join(named_character(c) for c in strange), "likeness": like}


def _strange_characters(text: str) -> list[str]:
    """The visible characters of a text that are not what they look like, in order."""
    plain = unicodedata.normalize("NFC", text)
    strange = [c for c in text if not c.isascii() and c not in invisible_characters(text) and skeleton(c) != c]
    if plain != text:
        strange += [c for c in text if unicodedata.combining(c)]
    return list(dict.fromkeys(strange))


def _mixes_alphabets(text: str) -> bool:
    alphabets = {unicodedata.name(c, "").split(" ")[0] for c in text if c.isalpha()}
    return len(alphabets & {"LATIN", "CYRILLIC", "GREEK"}) > 1


def _date(_name: str, text: str, _others: Mapping[str, Sequence[str]]) -> Mapping[str, Detail] | None:
    return {} if _DATES.fullmatch(text) else None


def _phase_spelling(name: str, text: str, _others: Mapping[str, Sequence[str]]) -> Mapping[str, Detail] | None:
    if name != "phase" or text in (LOAD, COLD, WARM):
        return None
    nearest = skeleton(text).lower()
    return {"nearest": nearest} if nearest in (LOAD, COLD, WARM) and nearest != text.strip() else None


def _rule(
    severity: Severity,
    code: str,
    examine: Callable[[str, str, Mapping[str, Sequence[str]]], Mapping[str, Detail] | None],
    title: str,
    message: str,
    remedy: str,
) -> IdentifierRule:
    return IdentifierRule(
        code=code, scope=Scope.CELL, severity=severity, section="4", examine=examine,
        title=title, message=message, remedy=remedy,
    )  # fmt: skip


IDENTIFIER_RULES: tuple[IdentifierRule, ...] = (
    _rule(
        Severity.ERROR, "identifier-digits-lost", _lost_digits,
        N_("An identifier that lost its digits"),
        N_("`{column}` holds {value}: what a spreadsheet leaves of a long number. Two identifiers may now read alike."),
        N_("Copy the identifier again from its source, into a column that the spreadsheet treats as text."),
    ),
    _rule(
        Severity.WARNING, "identifier-outer-space", _outer_space,
        N_("A space around an identifier"),
        N_("`{column}` holds {value}, with a space before or after it: it is another name than the one without."),
        N_("Remove the space. Both names are kept apart until then."),
    ),
    _rule(
        Severity.WARNING, "identifier-invisible", _invisible,
        N_("An invisible character in an identifier"),
        N_("`{column}` holds {value}, with characters that cannot be seen: {characters}."),
        N_("Type the identifier again. Both names are kept apart until then."),
    ),
    _rule(
        Severity.WARNING, "identifier-look-alike", _look_alike,
        N_("Letters that look like others"),
        N_("`{column}` holds {value}, written with {characters}; {likeness}."),
        N_("Type the identifier again with one alphabet. Both names are kept apart until then."),
    ),
    _rule(
        Severity.WARNING, "identifier-date", _date,
        N_("An identifier in the shape of a date"),
        N_("`{column}` holds {value}, in the shape that a spreadsheet gives to a date: it may have been another name."),
        N_("Compare it with its source, and keep the column as text in the spreadsheet."),
    ),
    _rule(
        Severity.WARNING, "phase-spelling", _phase_spelling,
        N_("A phase in another spelling"),
        N_("`phase` holds {value}, which is kept apart from `{nearest}` under its own name."),
        N_("Write `{nearest}` if that is what was run."),
    ),
)  # fmt: skip
