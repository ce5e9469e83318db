"""The one way in which a value from outside enters a text that Streamlit reads as markdown."""

from gpucost.cells import visible


def inert(text: str, limit: int = 200) -> str:
    """A value as an inline code span: no link, image, formula, badge or heading in it is ever interpreted.

    Invisible characters and line ends are made visible; the span is fenced by more backticks than the value holds.
    """
    return _fenced(visible(text, limit))


def inert_sentence(sentence: str, limit: int = 400) -> str:
    """A sentence of ours in which values stand, made visible already, as an inline code span."""
    cut = sentence[:limit] + ("…" if len(sentence) > limit else "")
    return _fenced(" ".join(cut.split("\n")).replace("\r", " "))


def _fenced(shown: str) -> str:
    if not shown:
        return "` `"
    longest = 0
    run = 0
    for character in shown:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"
