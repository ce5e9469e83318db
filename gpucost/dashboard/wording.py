"""The reader's language on a page, and how numbers, money and dates are written in it.

A measured number is never parsed and printed again: its recorded digits stay, and only the decimal mark is swapped.
"""

from typing import cast

import streamlit as st
from babel.numbers import format_currency

from gpucost.language import LANGUAGES, Language, Translator, choose_language, translator

LANGUAGE_KEY = "lang"
_LOCALES: dict[Language, str] = {"fr": "fr_FR", "en": "en_US"}


def language() -> Language:
    """The language of this session: chosen, else in the link, else the browser's."""
    chosen = st.session_state.get(LANGUAGE_KEY)
    if chosen in LANGUAGES:
        return cast(Language, chosen)
    return choose_language([st.query_params.get(LANGUAGE_KEY), st.context.locale])


def remember_language() -> None:
    """Write the language into the link where it is not the browser's own: a reload keeps the reader's choice, and a
    colleague who gets the link of a page read in her own language finds nothing in it that overrides hers."""
    if language() == choose_language([st.context.locale]):
        st.query_params.pop(LANGUAGE_KEY, None)
    else:
        st.query_params[LANGUAGE_KEY] = language()


def say() -> Translator:
    """The translator of this session's language."""
    return translator(language())


def exact_number(text: str) -> str:
    """A number as it was recorded, with the decimal mark of the reader's language."""
    return text.replace(".", ",") if language() == "fr" else text


def money(usd_minor: int) -> str:
    """Whole US cents as dollars: `$1,296.00` or `1 296,00 $US`, exact."""
    from decimal import Decimal

    formatted: str = format_currency(Decimal(usd_minor).scaleb(-2), "USD", locale=_LOCALES[language()])
    return formatted
