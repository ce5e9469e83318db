"""The frame in a real browser: what stands around every page, what it loads, what it refuses, how it is moved through."""

import http.client
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gpucost.dashboard.security import HEADERS
from tests.browser.conftest import ROOT, free_port
from tests.browser.test_dashboard import PAGES, WAIT_MS, open_page, settled

pytestmark = pytest.mark.browser
NAVIGATION = "[data-testid=stTopNavLink]"
# Streamlit finds its own root from a page's address by asking here first.
PROBES = ("_stcore/health", "_stcore/host-config")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_stands_in_the_same_frame_and_lacks_nothing(browser: Any, server: str, path: str) -> None:
    page = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(WAIT_MS)
    missing: list[str] = []
    elsewhere: list[str] = []
    warned: list[str] = []
    page.on("response", lambda r: missing.append(r.url) if r.status >= 400 else None)
    page.on(
        "websocket", lambda s: elsewhere.append(s.url) if urlsplit(s.url).netloc != urlsplit(server).netloc else None
    )
    page.on("console", lambda m: warned.append(m.text) if "theme" in m.text else None)
    page.goto(f"{server}/{path}")
    page.wait_for_selector("h1")
    settled(page)
    assert page.locator(NAVIGATION).all_inner_texts() == list(PAGES.values())
    assert page.title() == f"{PAGES[path]} · gpucost"
    assert set(missing) <= {f"{server}/{path}/{probe}" for probe in PROBES if path}
    assert elsewhere == []
    assert warned == []  # a value of the theme that Streamlit does not take is dropped with a warning only
    faces = page.evaluate("document.fonts.ready.then(fonts => [...fonts].map(face => [face.family, face.status]))")
    assert ["Inter", "loaded"] in [[family.strip('"'), status] for family, status in faces]
    assert page.locator("[data-testid=stAppDeployButton], [data-testid=stMainMenu]").count() == 0


@pytest.mark.parametrize("path", ["", "review", "_stcore/health", "app/static/InterVariable.woff2", "app/static/none"])
def test_every_answer_carries_the_headers(server: str, path: str) -> None:
    try:
        with urllib.request.urlopen(f"{server}/{path}") as answer:
            headers = answer.headers
    except urllib.error.HTTPError as refused:
        headers = refused.headers
    assert {name: headers[name] for name in HEADERS} == HEADERS


def test_the_policy_stops_foreign_scripts_requests_and_sockets(browser: Any, server: str) -> None:
    page = open_page(browser, server)
    elsewhere = f"127.0.0.1:{free_port()}"  # another origin, on this machine
    stopped = page.evaluate(
        """async elsewhere => {
            const stopped = [];
            document.addEventListener('securitypolicyviolation', event => stopped.push(event.effectiveDirective));
            const script = document.createElement('script');
            script.textContent = 'window.foreign = true';
            document.body.append(script);
            await fetch(`http://${elsewhere}/`).catch(() => null);
            try { new WebSocket(`ws://${elsewhere}/`); } catch { }
            const image = new Image();
            const answered = new Promise(done => { image.onerror = image.onload = done; });
            image.src = `http://${elsewhere}/a.png`;
            await answered;
            await new Promise(done => setTimeout(done, 0));
            return [stopped.sort(), window.foreign === true];
        }""",
        elsewhere,
    )
    assert stopped == [["connect-src", "connect-src", "img-src", "script-src-elem"], False]


def put(server: str, headers: dict[str, str]) -> int:
    request = urllib.request.Request(
        f"{server}/_stcore/upload_file/no-session/file", data=b"x", method="PUT", headers=headers
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def fresh_cookie(server: str) -> tuple[str, str]:
    """A cookie of the protection as a new browser gets it, and the token in it."""
    with urllib.request.urlopen(f"{server}/_stcore/health") as answer:
        cookies = [value.partition(";")[0] for value in answer.headers.get_all("Set-Cookie", [])]
    (cookie,) = [one for one in cookies if one.startswith("_streamlit_xsrf=")]
    return cookie, cookie.partition("=")[2]


def test_an_upload_needs_the_token_of_its_own_cookie(server: str) -> None:
    cookie, token = fresh_cookie(server)
    _other_cookie, other_token = fresh_cookie(server)
    assert put(server, {"Cookie": cookie}) == 403
    assert put(server, {"Cookie": cookie, "X-Xsrftoken": other_token}) == 403
    # With its own it is let through to the next question: there is no such session.
    assert put(server, {"Cookie": cookie, "X-Xsrftoken": token}) == 400


def test_a_foreign_host_name_is_refused(server: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(server).netloc, timeout=30)
    connection.request("GET", "/", headers={"Host": "attacker.example"})
    answer = connection.getresponse()
    assert answer.status == 400
    assert answer.headers["x-frame-options"] == "DENY"
    connection.close()


def language_in(page: Any) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get("lang", [])


def test_a_chosen_language_is_kept_in_the_link_over_pages_and_a_reload(browser: Any, server: str) -> None:
    page = open_page(browser, f"{server}/review")
    assert language_in(page) == []  # the browser's own language needs no word in a link
    page.get_by_role("radio", name="Français").or_(page.get_by_role("button", name="Français")).first.click()
    page.wait_for_selector("h1:has-text('Revue')")
    page.locator(NAVIGATION, has_text="Variantes").click()
    page.wait_for_selector("h1:has-text('Variantes')")
    page.wait_for_url("**lang=fr**")
    page.reload()
    page.wait_for_selector("h1:has-text('Variantes')")
    assert page.title() == "Variantes · gpucost"
    # A link without the word follows the reader's browser; one that carries it wins.
    open_page(browser, f"{server}/variants?lang=fr").wait_for_selector("h1:has-text('Variantes')")
    # Whatever else stands there is no language.
    open_page(browser, f"{server}/variants?lang=../../x").wait_for_selector("h1:has-text('Variants')")


@pytest.mark.parametrize("locale", ["en-US", "fr-FR"])
@pytest.mark.parametrize("path", PAGES)
def test_a_narrow_screen_never_scrolls_sideways(browser: Any, server: str, path: str, locale: str) -> None:
    page = browser.new_context(locale=locale, viewport={"width": 400, "height": 800}).new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(f"{server}/{path}")
    page.wait_for_selector("h1")
    settled(page)
    widths = page.evaluate("['html', '[data-testid=stMain]'].map(name => document.querySelector(name).scrollWidth)")
    assert max(widths) <= 400


def test_the_keyboard_moves_through_the_pages_and_shows_where_it_is(browser: Any, server: str) -> None:
    page = open_page(browser, server)
    page.wait_for_selector(".vega-embed")
    page.get_by_text("Next: Review every pass").wait_for()  # the last thing on the page: nothing is drawn after it
    settled(page)
    for _press in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText") == "Review":
            break
    page.wait_for_function("getComputedStyle(document.activeElement).outlineStyle === 'solid'")
    style = page.evaluate(
        "(s => [s.outlineStyle, parseFloat(s.outlineWidth)])(getComputedStyle(document.activeElement))"
    )
    assert style[0] == "solid"
    assert style[1] >= 2
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Review')")


@pytest.mark.usefixtures("browser")
def test_pictures_are_taken(tmp_path: Path) -> None:
    chosen = ["--pages", "protocol", "--languages", "fr", "--themes", "dark", "--sizes", "narrow"]
    subprocess.run([sys.executable, "-m", "tests.browser.screenshots", str(tmp_path), *chosen], cwd=ROOT, check=True)
    (picture,) = tmp_path.iterdir()
    assert picture.name == "protocol-fr-dark-narrow.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
