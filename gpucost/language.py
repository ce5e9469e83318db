"""French and English: which one a reader wants, and the catalogue of translations.

Source texts are English. `N_` marks a text for extraction where it is defined; `Translator.gettext`
translates it where it is shown. No translation is ever installed globally: two readers of one server
may read two languages.
"""

import gettext
import locale
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal

Language = Literal["fr", "en"]
LANGUAGES: tuple[Language, ...] = ("fr", "en")
LANGUAGE_NAMES: dict[Language, str] = {"fr": "Français", "en": "English"}
CATALOGUES = Path(__file__).parent / "locale"


def N_(text: str) -> str:
    """Mark a text for extraction; it is translated later, where it is shown."""
    return text


class Translator:
    """The texts of one language. Missing texts stay in English."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language
        self._catalogue: gettext.NullTranslations = gettext.translation(
            "gpucost", CATALOGUES, languages=[language], fallback=language == "en"
        )

    def gettext(self, text: str) -> str:
        """The text in this language. An empty text stays empty (gettext keeps its header there)."""
        return self._catalogue.gettext(text) if text else ""

    def ngettext(self, one: str, many: str, count: int) -> str:
        """The text for `count` things, by the plural rule of this language (0 is singular in French)."""
        return self._catalogue.ngettext(one, many, count)


@cache
def translator(language: Language) -> Translator:
    """The one shared translator of a language."""
    return Translator(language)


def choose_language(tags: Iterable[str | None]) -> Language:
    """The first tag (`fr-CA`, `en_GB.UTF-8`, ...) that names a language we speak; English otherwise."""
    for tag in tags:
        primary = (tag or "").replace("_", "-").split("-")[0].lower()
        if primary in LANGUAGES:
            return primary
    return "en"


def system_language() -> Language:
    """The language of the terminal, by the usual variables in their usual order."""
    names = ("LC_ALL", "LC_MESSAGES", "LANGUAGE", "LANG")
    tags = [tag for name in names for tag in os.environ.get(name, "").split(":") if tag]
    return choose_language([*tags, locale.getlocale()[0]])
