"""A value from outside is one code span in markdown, whatever it holds: read back by a markdown parser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from gpucost.cells import visible
from gpucost.dashboard.markup import inert

HOSTILE = (
    "![x](https://example.org/a.png)",
    "[click](javascript:alert(1))",
    "<img src=x onerror=alert(1)>",
    "`` ` ``` ````",
    "`](https://example.org)`",
    "a\n\n# heading\n\n- item",
    ":red-badge[accepted] :material/home: $$x$$",
    "\\`escaped\\`",
    "| a | b |\n|---|---|",
    "&lt;b&gt;",
    "\u202egnp.exe",
)


def pieces(markdown: str) -> list[Token]:
    """The inline pieces of a text that must be one paragraph."""
    opening, inline, closing = MarkdownIt("commonmark").parse(markdown)
    assert (opening.type, inline.type, closing.type) == ("paragraph_open", "inline", "paragraph_close")
    return inline.children or []


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_value_is_shown_as_it_stands(value: str) -> None:
    before, code, after = pieces(f"in {inert(value)}, twice")
    assert (before.content, after.content) == ("in ", ", twice")
    assert (code.type, code.content) == ("code_inline", visible(value, 200))


# What precedes a value is ours, and holds no backtick.
@given(
    st.lists(st.text(alphabet=st.sampled_from("`\\ ab[]()<>!*_#$:\n\t\u200b&;"), max_size=12), min_size=1, max_size=3)
)
def test_values_never_run_into_each_other(values: list[str]) -> None:
    found = [piece for piece in pieces("in " + " and ".join(inert(value) for value in values)) if piece.content != ""]
    codes = [piece.content for piece in found if piece.type == "code_inline"]
    assert {piece.type for piece in found} <= {"text", "code_inline"}
    assert [code.strip() for code in codes] == [visible(value, 200).strip() for value in values]


def test_a_long_value_is_cut_and_says_so() -> None:
    (code,) = pieces(inert("x" * 10_000, 50))
    assert len(code.content) < 80
    assert code.content == visible("x" * 10_000, 50)
