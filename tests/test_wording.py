"""Numbers and money on a page, in the reader's language; and which language that is."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest


def script(name: str, argument: object) -> None:
    import streamlit as st

    from gpucost.dashboard import wording

    st.text(getattr(wording, name)(argument))


def shown(name: str, argument: object, language: str) -> str:
    test = AppTest.from_function(script, args=(name, argument), default_timeout=30)
    test.session_state["lang"] = language
    test.run()
    assert not test.exception
    return str(test.text[0].value).replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("usd_minor", "english", "french"),
    [
        (129_600, "$1,296.00", "1 296,00 $US"),
        (1, "$0.01", "0,01 $US"),
        (0, "$0.00", "0,00 $US"),
        # More cents than a float can hold apart.
        (9_007_199_254_740_993, "$90,071,992,547,409.93", "90 071 992 547 409,93 $US"),
    ],
)
def test_money_is_exact_cents(usd_minor: int, english: str, french: str) -> None:
    assert shown("money", usd_minor, "en") == english
    assert shown("money", usd_minor, "fr") == french


@pytest.mark.parametrize("digits", ["12.481", "0.89961", "0.10", "7", "9007199254740993.000000001", "1e-9"])
def test_a_measured_number_keeps_its_recorded_digits(digits: str) -> None:
    assert shown("exact_number", digits, "en") == digits
    assert shown("exact_number", digits, "fr") == digits.replace(".", ",")


def ask() -> None:
    import streamlit as st

    from gpucost.dashboard.wording import language, remember_language

    remember_language()
    st.text(language())


@pytest.fixture
def asked() -> Callable[..., tuple[str, object]]:
    """The language of a session, and what its link then says: chosen, in the link, of the browser."""

    def session(chosen: object = None, link: str | None = None, browser: str | None = None) -> tuple[str, object]:
        test = AppTest.from_function(ask, default_timeout=30)
        test.context = {"locale": browser}
        if chosen is not None:
            test.session_state["lang"] = chosen
        if link is not None:
            test.query_params["lang"] = link
        test.run()
        assert not test.exception
        return str(test.text[0].value), test.query_params.get("lang")

    return session


@pytest.mark.parametrize(
    ("chosen", "link", "browser", "language", "remembered"),
    [
        (None, None, None, "en", None),
        (None, None, "fr-CA", "fr", None),
        (None, None, "de-DE", "en", None),
        (None, "fr", "en-US", "fr", "fr"),
        (None, "en", "fr-FR", "en", "en"),
        ("en", "fr", "en-US", "en", None),
        ("en", None, "fr-FR", "en", "en"),
        # A raw message of a browser may put anything here.
        ("<script>", None, "fr-FR", "fr", None),
        (None, "../../etc", "en-US", "en", None),
    ],
)
def test_the_language_is_chosen_else_in_the_link_else_the_browsers(
    asked: Callable[..., tuple[str, object]], chosen: object, link: str, browser: str, language: str, remembered: str
) -> None:
    assert asked(chosen, link, browser) == (language, remembered)
