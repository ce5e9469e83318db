"""Texts that are translated when somebody reads them: a template, and what fills it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from gpucost.language import Translator


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text that is translated where it is shown: a source text marked with `N_`, and what fills it."""

    template: str
    details: Mapping[str, "Detail"] = field(default_factory=dict)

    def render(self, to: Translator) -> str:
        """The phrase in the reader's language."""
        details = {name: render_detail(detail, to) for name, detail in self.details.items()}
        return to.gettext(self.template).format(**details)


Detail: TypeAlias = str | Phrase | tuple[Phrase, ...]
"""What fills a text: a text from the data as it stands, a phrase, or several phrases in a row."""


def render_detail(detail: Detail, to: Translator) -> str:
    """One detail in the reader's language; several phrases are separated by semicolons."""
    if isinstance(detail, str):
        return detail
    phrases = (detail,) if isinstance(detail, Phrase) else detail
    return "; ".join(phrase.render(to) for phrase in phrases)
