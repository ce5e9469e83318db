"""Measuring from the page, in a real browser with real processes: start, follow, reload, stop, go on, review."""

import csv
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from gpucost.measuring.ledger import read_events, read_rows
from tests.browser.conftest import start, stop
from tests.browser.test_dashboard import open_page, settled
from tests.measuring.runs import end_measurements, environment, measurements, register, write_protocol

pytestmark = pytest.mark.browser
LIMIT_SECONDS = 60
WAITING = {"fault": "waits-for-file", "at_batch": 4}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """A workshop: two protocols, a folder of runs, the tests' workloads, and nothing left running behind."""
    gate = tmp_path / "gate"
    write_protocol(tmp_path / "protocols" / "letters")
    held = write_protocol(
        tmp_path / "protocols" / "held", ('id = "letters-batch"', 'id = "letters-held"'),
        options={**WAITING, "file": str(gate)},
    )  # fmt: skip
    variables = {
        **environment(register(tmp_path / "registered"), tmp_path / "locks"),
        "GPUCOST_PROTOCOLS": str(tmp_path / "protocols"), "GPUCOST_RUNS": str(tmp_path / "runs"),
        "GPUCOST_RESULTS": "", "GPUCOST_TARIFFS": "",
    }  # fmt: skip
    made = {"runs": tmp_path / "runs", "gate": gate, "variables": variables, "held": held, "folder": tmp_path}
    yield made
    gate.touch()
    end_measurements(tmp_path / "locks")


def measuring(site: dict[str, Any]) -> list[psutil.Process]:
    """The processes of any measurement of this test: commands and workers."""
    return measurements(site["folder"] / "locks")


def until(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)  # nothing but the disk and the process table says when
    raise AssertionError(what)


def runs(site: dict[str, Any]) -> list[Path]:
    return sorted(site["runs"].iterdir()) if site["runs"].is_dir() else []


def is_held(site: dict[str, Any]) -> Path | None:
    """The run whose batch of four waits in its cold pass, once it does."""
    for run in runs(site):
        started = [event for event in read_events(run) if event["event"] == "pass-started"]
        if started and started[-1]["variant_id"] == "batch-4":
            return run
    return None


def begin(page: Any) -> None:
    button = page.get_by_role("button", name="Seal and start")
    button.wait_for()
    settled(page)
    button.click()


def test_a_run_from_the_page_survives_reloads_and_is_reviewed(
    browser: Any, fresh_server: Callable[..., str], site: dict[str, Any]
) -> None:
    address = fresh_server(**site["variables"])
    page = open_page(browser, f"{address}/measure?view=new&protocol_shown=held/protocol.toml")
    sealed = page.locator("text=Starting seals this protocol").inner_text()
    begin(page)
    run = until(lambda: is_held(site), "the run did not come to its held pass")
    page.get_by_text("2 of 6 passes", exact=False).or_(page.get_by_text("1 of 6 passes", exact=False)).first.wait_for()

    page.reload()
    page.get_by_text("batch-4, cold 1, is under way", exact=False).wait_for()
    other = open_page(browser, f"{address}/measure")  # another browser, without the link
    other.get_by_text("1 of 6 passes have their row", exact=False).wait_for()
    other.get_by_role("button", name="Stop this run").wait_for()
    assert len(runs(site)) == 1

    site["gate"].touch()
    page.get_by_text("Every planned pass has its row.").wait_for()
    page.get_by_role("button", name="Open in the review").click()
    page.get_by_role("heading", name="Review", exact=True).wait_for()
    settled(page)
    assert "letters-held" in page.inner_text("[data-testid=stMain]")
    assert json.loads((run / "seal.json").read_text(encoding="utf-8"))["protocol_sha256"] in sealed.replace("\n", "")
    checked = subprocess.run(
        [sys.executable, "-m", "gpucost", "check", str(run), "--json"], env=site["variables"], capture_output=True, check=False
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout
    assert json.loads(checked.stdout)["counts"] == {"accepted": 6, "rejected": 0, "failed": 0, "invalid": 0, "setup": 2}

    linked = open_page(browser, page.url)  # a colleague opens the link of that review
    settled(linked)
    assert "letters-held" in linked.inner_text("[data-testid=stMain]")


def test_a_double_click_starts_one_run(browser: Any, fresh_server: Callable[..., str], site: dict[str, Any]) -> None:
    page = open_page(browser, f"{fresh_server(**site['variables'])}/measure?view=new&protocol_shown=held/protocol.toml")
    button = page.get_by_role("button", name="Seal and start")
    button.wait_for()
    settled(page)
    button.dblclick()
    until(lambda: is_held(site), "the run did not come to its held pass")
    assert len(runs(site)) == 1
    commands = [process for process in measuring(site) if "measure" in process.cmdline()]
    assert len(commands) == 1


def test_reruns_leave_one_tree_and_stop_leaves_none(
    browser: Any, fresh_server: Callable[..., str], site: dict[str, Any]
) -> None:
    """Case 71: rerunning and touching widgets starts nothing; Stop ends every process, and the pass is kept."""
    page = open_page(browser, f"{fresh_server(**site['variables'])}/measure?view=new&protocol_shown=held/protocol.toml")
    begin(page)
    run = until(lambda: is_held(site), "the run did not come to its held pass")
    before = sorted(process.pid for process in measuring(site))
    for _ in range(5):
        page.reload()
        page.get_by_text("Learn to read memory").click()
        settled(page)
        page.get_by_text("Runs", exact=True).click()
        settled(page)
    assert sorted(process.pid for process in measuring(site)) == before
    page.get_by_role("button", name="Stop this run").click()
    until(lambda: not measuring(site), "processes of a stopped run are left")
    page.get_by_text("It was stopped by the user.", exact=False).wait_for()
    rows = read_rows(run)
    assert [(row["elapsed_seconds"], row["corpus_accepted"]) for row in rows][-1] == ("", "false")
    assert "stopped by the user" in rows[-1]["notes"]

    site["gate"].touch()
    page.get_by_role("button", name="Go on with this run").click()
    page.get_by_text("Every planned pass has its row.").wait_for()
    again = read_rows(run)
    assert again[: len(rows)] == rows
    phases = [(row["variant_id"], row["phase"], row["run_index"]) for row in again]
    assert len(phases) == len(set(phases))


def test_a_run_outlives_its_server_and_is_found_by_the_next(browser: Any, site: dict[str, Any]) -> None:
    process, address = start(site["variables"])
    try:
        page = open_page(browser, f"{address}/measure?view=new&protocol_shown=held/protocol.toml")
        begin(page)
        run = until(lambda: is_held(site), "the run did not come to its held pass")
    finally:
        stop(process)
    assert measuring(site)
    process, address = start(site["variables"])
    try:
        page = open_page(browser, f"{address}/measure")
        page.get_by_text("batch-4, cold 1, is under way", exact=False).wait_for()
        site["gate"].touch()
        page.get_by_text("Every planned pass has its row.").wait_for()
    finally:
        stop(process)
    assert len(read_rows(run)) == 8


def test_a_device_that_measures_is_not_offered_again(
    browser: Any, fresh_server: Callable[..., str], site: dict[str, Any]
) -> None:
    """Case 77: the command measures, and the page names that measurement instead of starting another."""
    out = site["folder"] / "by-command"
    words = [sys.executable, "-m", "gpucost", "measure", str(site["held"]), "--out", str(out)]
    command = subprocess.Popen(words, env=site["variables"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: any(event["event"] == "pass-started" for event in read_events(out)), "the command did not begin")
        page = open_page(
            browser, f"{fresh_server(**site['variables'])}/measure?view=new&protocol_shown=letters/protocol.toml"
        )
        page.get_by_text("cpu is measuring already: run by-command", exact=False).wait_for()
        settled(page)
        assert page.get_by_role("button", name="Seal and start").is_disabled()
        assert runs(site) == []
    finally:
        site["gate"].touch()
        assert command.wait(LIMIT_SECONDS) == 0


def test_a_server_that_may_not_launch_says_so(
    browser: Any, fresh_server: Callable[..., str], site: dict[str, Any]
) -> None:
    address = fresh_server(**{**site["variables"], "GPUCOST_ALLOW_LAUNCH": "0"})
    page = open_page(browser, f"{address}/measure?view=new&protocol_shown=letters/protocol.toml")
    page.get_by_text("This server may not start measurements.", exact=False).wait_for()
    settled(page)
    assert page.get_by_role("button", name="Seal and start").is_disabled()


def test_the_rows_on_the_page_are_those_of_the_file(
    browser: Any, fresh_server: Callable[..., str], site: dict[str, Any]
) -> None:
    out = site["runs"] / "faulty"
    path = write_protocol(site["folder"] / "own", options={"fault": "raises", "at_batch": 4})
    words = [sys.executable, "-m", "gpucost", "measure", str(path), "--out", str(out)]
    done = subprocess.run(words, env={**os.environ, **site["variables"]}, capture_output=True, check=False)
    assert done.returncode == 1
    page = open_page(browser, f"{fresh_server(**site['variables'])}/measure?view=runs&follow=faulty")
    page.get_by_text("Every planned pass has its row.").wait_for()
    settled(page)
    text = (out / "results.csv").read_text(encoding="utf-8")
    failed = sum(1 for row in csv.DictReader(io.StringIO(text)) if not row["elapsed_seconds"])
    assert failed == 3
    assert "failed" in page.inner_text("[data-testid=stMain]")
