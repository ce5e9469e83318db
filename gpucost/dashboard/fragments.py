"""Small pieces of HTML, each with every text escaped: nothing from a CSV is ever interpreted as markup.

They carry no script and no remote address. Colours come from the theme of the reader.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from gpucost.cells import visible

LONG = 2_000
"""Characters of one value that a page shows; the rest is in the file and in the downloads."""


def shown(text: str, limit: int = LONG) -> str:
    """A value, escaped, with invisible characters made visible."""
    return escape(visible(text, limit))


_SPAN = re.compile(r"`([^`]+)`")


def prose(sentence: str, limit: int = LONG) -> str:
    """A sentence of ours with values in it, made visible already: all escaped, and what stands between backticks set
    as code."""
    cut = sentence[:limit] + ("…" if len(sentence) > limit else "")
    return _SPAN.sub(r"<code>\1</code>", escape(cut))


def paragraph(sentence: str, *, strong: str = "") -> str:
    """One line of text, perhaps after a strong word."""
    lead = f"<strong>{escape(strong)}</strong> " if strong else ""
    return f'<div style="line-height:1.5;overflow-wrap:anywhere;padding:.1rem 0">{lead}{prose(sentence)}</div>'


def verdict_banner(sentence: str, *, good: bool, colour: str) -> str:
    """The one sentence that a page turns on, with a mark for those who do not see the colour."""
    mark = "✓" if good else "⊘"
    return (
        f'<div role="status" style="border-left:5px solid {escape(colour)};padding:.55rem .9rem;margin:.3rem 0 .5rem;'
        "background:color-mix(in srgb, currentColor 5%, transparent);font-size:1.08rem;line-height:1.45;"
        f'overflow-wrap:anywhere"><span aria-hidden="true" style="color:{escape(colour)};font-weight:700">{mark}</span> '
        f"{prose(sentence)}</div>"
    )


def count_cards(cards: Sequence[tuple[str, str, int, str]]) -> str:
    """Large counts side by side: shape, word, number, colour of each."""
    cells = "".join(
        f'<div style="flex:1 1 8.5rem;min-width:8rem">'
        f'<div style="font-size:2.6rem;line-height:1.1;font-weight:600;font-variant-numeric:tabular-nums">{count}</div>'
        f'<div style="display:flex;gap:.45rem;align-items:center;font-size:1rem">'
        f'<span aria-hidden="true" style="color:{escape(colour)};font-weight:700;font-size:1.15rem">{escape(mark)}</span>'
        f"<span>{escape(word)}</span></div></div>"
        for mark, word, count, colour in cards
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:1rem 1.5rem;padding:.25rem 0 .5rem">{cells}</div>'


def status_line(mark: str, word: str, colour: str, sentence: str) -> str:
    """A status as shape, word and colour, and the sentence that explains it."""
    return (
        '<div style="line-height:1.45;padding:.2rem 0 .4rem">'
        f'<span style="color:{escape(colour)};font-weight:700;font-size:1.15rem">'
        f'<span aria-hidden="true">{escape(mark)}</span> {escape(word)}</span>'
        f'<div style="font-size:1rem;overflow-wrap:anywhere">{prose(sentence)}</div></div>'
    )


def check_list(checks: Iterable[tuple[bool, str, str]], *, good: str, bad: str) -> str:
    """Things that were looked at, a line each: whether it is as it must be, its name, what was seen."""
    lines = "".join(
        f'<div style="display:flex;gap:.6rem;align-items:baseline;padding:.12rem 0">'
        f'<span aria-hidden="true" style="color:{escape(good if passed else bad)};font-weight:700">'
        f"{'✓' if passed else '⊘'}</span>"
        f'<span style="min-width:7rem;font-weight:600">{escape(name)}</span>'
        f'<span style="overflow-wrap:anywhere">{prose(seen)}</span></div>'
        for passed, name, seen in checks
    )
    return f'<div style="line-height:1.45;padding-bottom:.4rem">{lines}</div>'


def definitions(groups: Mapping[str, Iterable[tuple[str, str, str, str, str]]], *, explain: bool) -> str:
    """Values under their groups. Each is title, column name, value, unit, help; an empty value is said as such by the
    caller. With `explain`, the help stands beneath."""
    parts = []
    for group, entries in groups.items():
        lines = "".join(_definition(*entry, explain=explain) for entry in entries)
        parts.append(
            f'<h3 style="font-size:.95rem;margin:.9rem 0 .2rem;padding:0">{escape(group)}</h3>'
            f'<dl style="margin:0;display:grid;grid-template-columns:minmax(7rem,42%) 1fr;gap:.12rem .8rem;'
            f'font-size:.9rem">{lines}</dl>'
        )
    return "".join(parts)


def _definition(title: str, name: str, value: str, unit: str, help_text: str, *, explain: bool) -> str:
    explained = (
        f'<div style="grid-column:1/-1;opacity:.8;font-size:.82rem;padding-bottom:.3rem">{escape(help_text)}</div>'
        if explain
        else ""
    )
    shown_unit = f' <span style="opacity:.75">{escape(unit)}</span>' if unit else ""
    return (
        f'<dt title="{escape(name)}: {escape(help_text)}" style="opacity:.8;margin:0">{escape(title)}</dt>'
        f'<dd style="margin:0;font-variant-numeric:tabular-nums;overflow-wrap:anywhere">{shown(value)}{shown_unit}</dd>'
        f"{explained}"
    )


def finding_cards(findings: Iterable[tuple[str, str, str, str, str]]) -> str:
    """Findings: severity, place, message, remedy, code."""
    return "".join(
        '<div style="border-left:3px solid currentColor;padding:.1rem 0 .1rem .7rem;margin:.45rem 0;'
        'font-size:.92rem;line-height:1.45;overflow-wrap:anywhere">'
        f"<strong>{escape(severity)}</strong> <span>{shown(place)}</span>"
        f"<div>{prose(message)}</div>"
        f'<div style="opacity:.85">→ {prose(remedy)}</div>'
        + (f'<div style="opacity:.75;font-size:.8rem"><code>{escape(code)}</code></div>' if code else "")
        + "</div>"
        for severity, place, message, remedy, code in findings
    )
