"""Pictures of every page for people to look at: wide and narrow, light and dark, French and English.

    python -m tests.browser.screenshots OUT [--pages overview review] [--languages en] [--themes dark] [--sizes narrow]

Each picture shows the whole page, and is called PAGE-LANGUAGE-THEME-SIZE.png.
"""

import argparse
import shutil
from itertools import product
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.browser.conftest import FLAGS, start, stop

PAGES = ("overview", "review", "variants", "packages", "audit", "protocol")
LOCALES = {"en": "en-US", "fr": "fr-FR"}
WIDTHS = {"wide": 1280, "narrow": 400}
SCREEN_HEIGHT = 800
MOST_HEIGHT = 4_000
DRAWN = (
    "document.querySelector('h1') && document.fonts.status === 'loaded'"
    " && !document.querySelector('[data-test-script-state=\"running\"], [data-testid=stSkeleton]')"
)
CONTENT_HEIGHT = "document.querySelector('[data-testid=stMain]').scrollHeight"


def picture(page: Any, address: str, path: Path, width: int) -> None:
    """One page in its whole length, once its script has run and its face is loaded."""
    page.set_viewport_size({"width": width, "height": SCREEN_HEIGHT})
    page.goto(address)
    page.wait_for_function(DRAWN)
    page.set_viewport_size({"width": width, "height": min(page.evaluate(CONTENT_HEIGHT), MOST_HEIGHT)})
    page.wait_for_load_state("networkidle")  # charts load their code when they are first needed
    page.wait_for_function(DRAWN)
    page.screenshot(path=path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pages", nargs="+", choices=PAGES, default=PAGES)
    parser.add_argument("--languages", nargs="+", choices=LOCALES, default=list(LOCALES))
    parser.add_argument("--themes", nargs="+", choices=("light", "dark"), default=("light", "dark"))
    parser.add_argument("--sizes", nargs="+", choices=WIDTHS, default=list(WIDTHS))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    process, address = start({"GPUCOST_RESULTS": "", "GPUCOST_TARIFFS": ""})
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            for language, theme in product(options.languages, options.themes):
                context = browser.new_context(locale=LOCALES[language], color_scheme=theme)
                for name, size in product(options.pages, options.sizes):
                    page = context.new_page()
                    path = "" if name == "overview" else name
                    target = options.out / f"{name}-{language}-{theme}-{size}.png"
                    picture(page, f"{address}/{path}", target, WIDTHS[size])
                    page.close()
                context.close()
            browser.close()
    finally:
        stop(process)


if __name__ == "__main__":
    main()
