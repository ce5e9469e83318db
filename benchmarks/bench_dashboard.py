"""The dashboard in a browser beside a Streamlit page with one 19-row table and one small Altair chart.

    python benchmarks/bench_dashboard.py [--pairs 15] [--rows 100000]

Warm servers, a fresh browser context for every view, interleaved pairs; medians, ranges and paired ratios are printed.
Needs Debian's package chromium and the Python package playwright.
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from bench_check import write
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
BASELINE = """
import altair as alt, pandas as pd, streamlit as st
frame = pd.DataFrame({"variant": [f"v{i % 3}" for i in range(19)], "seconds": [5 + i * .37 for i in range(19)],
                      "status": ["accepted"] * 19})
st.title("Baseline")
chosen = st.pills("variant", ["v0", "v1", "v2"], selection_mode="multi")
shown = frame[frame["variant"].isin(chosen)] if chosen else frame
picked = st.dataframe(shown, on_select="rerun", selection_mode="single-row", key="table")
st.text(f"{len(shown)} rows shown")
st.altair_chart(alt.Chart(shown).mark_point().encode(x="seconds:Q", y="variant:N"))
"""
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
SETTLED = "!document.querySelector('[data-test-script-state=\"running\"]')"


def serve(script: str, folder: Path, **environment: str) -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        script,
        "--server.port",
        str(port),
        "--server.headless",
        "true",
    ]
    command += ["--server.address", "127.0.0.1", "--browser.gatherUsageStats", "false"]
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    for _attempt in range(300):
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).close()  # noqa: S310 - our own server
        except OSError:
            time.sleep(0.1)
        else:
            return process, address
    process.kill()
    message = f"{script} did not start"
    raise SystemExit(message)


def first_view(browser: Any, address: str, ready: str) -> float:
    context = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 800})
    page = context.new_page()
    started = time.perf_counter()
    page.goto(address)
    page.wait_for_selector(ready, timeout=60_000)
    page.wait_for_function(SETTLED, timeout=60_000)
    seconds = time.perf_counter() - started
    context.close()
    return seconds


def click(page: Any, name: str, expected: Callable[[str], bool], counter: str) -> float:
    """Seconds from a click on a filter to the count that it changes."""
    before = page.inner_text(counter)
    started = time.perf_counter()
    page.get_by_role("button", name=name).or_(page.get_by_role("radio", name=name)).first.click()
    while not expected(text := page.inner_text(counter)) or text == before:
        page.wait_for_timeout(2)
    page.wait_for_function(SETTLED, timeout=60_000)
    return time.perf_counter() - started


def toggling(browser: Any, address: str, name: str, counter: str, pairs: int) -> list[float]:
    page = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 800}).new_page()
    page.goto(address)
    page.wait_for_selector(counter, timeout=60_000)
    page.wait_for_function(SETTLED, timeout=60_000)
    click(page, name, lambda _text: True, counter)
    return [click(page, name, lambda _text: True, counter) for _ in range(pairs)]


def line(name: str, seconds: list[float], base: list[float]) -> str:
    ratio = median(seconds) / median(base)
    return f"{name:46} {median(seconds):.3f} s ({min(seconds):.3f}-{max(seconds):.3f})  ratio {ratio:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        (folder / "baseline.py").write_text(BASELINE)
        (folder / "long").mkdir()
        write(folder / "long" / "results.csv", options.rows, lambda _cells: None)
        servers = [
            serve("baseline.py", folder),
            serve("app.py", ROOT, GPUCOST_RESULTS=""),
            serve("app.py", ROOT, GPUCOST_RESULTS=str(folder / "long")),
        ]
        baseline, example, long = (address for _, address in servers)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        try:
            views: dict[str, list[float]] = {"baseline": [], "example": []}
            for _pair in range(options.pairs + 1):
                views["baseline"].append(first_view(browser, baseline, ".vega-embed"))
                views["example"].append(first_view(browser, example, ".vega-embed"))
            base_view = views["baseline"][1:]
            print(f"{options.pairs} interleaved pairs after one warm-up")
            print(line("first view, baseline page", base_view, base_view))
            print(line("first view, dashboard on the example", views["example"][1:], base_view))
            counter = "[data-testid=stText]:has-text('row')"
            base_click = toggling(browser, baseline, "v1", counter, options.pairs)
            print(line("a filter, baseline page", base_click, base_click))
            print(
                line(
                    "a filter, review of the example",
                    toggling(browser, f"{example}/review", "failed", counter, options.pairs),
                    base_click,
                )
            )
            print(
                line(
                    f"a filter, review of {options.rows} rows",
                    toggling(browser, f"{long}/review", "failed", counter, options.pairs),
                    base_click,
                )
            )
        finally:
            browser.close()
            for process, _ in servers:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
