"""Runs found again from their folders: their states, what changed since, and starting and stopping them detached."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from gpucost.dashboard import workshop
from gpucost.folder import RunFolder
from gpucost.measuring import launch
from gpucost.measuring.ledger import LAUNCH, STOP, read_events, read_rows
from gpucost.measuring.preflight import preflight, try_load
from gpucost.measuring.runs import changes, list_runs, open_run, read_run
from gpucost.review import Source, review
from tests.measuring.runs import end_measurements, environment, register, write_protocol
from tests.rows import codes

LIMIT_SECONDS = 60


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tests' workloads for this process and its children, and locks of this test alone."""
    folder = register(tmp_path / "registered")
    for name, value in environment(folder, tmp_path / "locks").items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(folder))
    yield
    end_measurements(tmp_path / "locks")


def until(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)  # only the disk says when
    raise AssertionError("it did not come to that")


def begun(folder: Path, event: str) -> bool:
    return any(one["event"] == event for one in read_events(folder))


def test_a_launched_run_goes_through_its_states_and_ends(registered: None, tmp_path: Path) -> None:
    gate, runs = tmp_path / "gate", tmp_path / "runs"
    path = write_protocol(tmp_path / "p", options={"fault": "waits-for-file", "at_batch": 4, "file": str(gate)})
    folder = runs / launch.new_run_name("letters batch/../x")
    assert folder.parent == runs
    assert launch.launch(path, folder)
    assert not launch.launch(path, folder), "a second click starts nothing"
    assert read_run(folder).state in ("starting", "running")
    until(lambda: read_run(folder).state == "running" and begun(folder, "pass-started"))
    assert not launch.resume(folder), "a run that runs is not gone on with"
    assert [run.name for run in list_runs(runs)] == [folder.name]
    gate.touch()
    until(lambda: read_run(folder).state == "finished")
    run = read_run(folder)
    assert (run.done, len(run.planned), run.resumable) == (6, 6, False)
    assert changes(folder) == ()


def test_a_stopped_run_says_so_and_goes_on(registered: None, tmp_path: Path) -> None:
    gate, folder = tmp_path / "gate", tmp_path / "runs" / "one"
    path = write_protocol(tmp_path / "p", options={"fault": "waits-for-file", "at_batch": 4, "file": str(gate)})
    launch.launch(path, folder)
    until(lambda: [e for e in read_events(folder) if e["event"] == "pass-started" and e["variant_id"] == "batch-4"])
    assert launch.request_stop(folder)
    until(lambda: not read_run(folder).alive)
    run = read_run(folder)
    assert (run.state, run.resumable) == ("stopped", True)
    assert "stopped by the user" in run.rows[-1]["notes"]
    assert not launch.request_stop(folder)
    gate.touch()
    assert launch.resume(folder)
    until(lambda: read_run(folder).state == "finished")
    assert read_rows(folder)[: len(run.rows)] == list(run.rows)


def test_a_stop_before_the_first_pass_leaves_its_reason(registered: None, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    launch.launch(write_protocol(tmp_path / "p", options={"fault": "load-waits"}), folder)
    launch.request_stop(folder)
    until(lambda: not read_run(folder).alive)
    assert read_run(folder).state == "stopped"


def test_a_run_that_cannot_begin_is_refused_and_its_log_says_why(registered: None, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    launch.launch(write_protocol(tmp_path / "p", ('workload = "faulty"', 'workload = "absent"')), folder)
    until(lambda: not read_run(folder).alive)
    run = read_run(folder)
    assert run.state == "refused"
    assert "no_such_module" in run.log_tail()
    assert "Traceback" not in run.log_tail()


def test_a_killed_run_is_interrupted_and_another_process_of_its_number_is_not_it(
    registered: None, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "one"
    launch.launch(write_protocol(tmp_path / "p", options={"fault": "waits"}), folder)
    until(lambda: begun(folder, "pass-started"))
    psutil.Process(read_run(folder).launch["pid"]).kill()
    until(lambda: not read_run(folder).alive)
    assert (read_run(folder).state, read_run(folder).resumable) == ("interrupted", True)
    launched = json.loads((folder / LAUNCH).read_text(encoding="utf-8"))
    (folder / LAUNCH).write_text(json.dumps({**launched, "pid": os.getpid()}), encoding="utf-8")
    assert read_run(folder).state == "interrupted"


def test_what_changed_since_the_seal_is_said(registered: None, tmp_path: Path) -> None:
    code = tmp_path / "p" / "code"
    code.mkdir(parents=True)
    (code / "work.py").write_text("A = 1\n", encoding="utf-8")
    path = write_protocol(tmp_path / "p")
    path.write_text(path.read_text(encoding="utf-8") + '\n[code]\npath = "code"\n', encoding="utf-8")
    folder = tmp_path / "runs" / "one"
    launch.launch(path, folder)
    until(lambda: read_run(folder).state == "finished")
    assert changes(folder) == ()
    (code / "work.py").write_text("A = 2\n", encoding="utf-8")
    assert changes(folder) == (f"code.path {code}",)
    assert "code-changed" in codes(review([Source.of_folder(open_run(folder))]))
    assert "code-changed" not in codes(review([Source.of_folder(RunFolder.on_disk(folder))]))
    sealed = folder / "protocol.toml"
    sealed.write_text(sealed.read_text(encoding="utf-8").replace("0.9", "0.5"), encoding="utf-8")
    assert changes(folder)[0] == "protocol.toml"
    assert {"protocol-changed", "rows-of-another-protocol"} <= codes(review([Source.of_folder(open_run(folder))]))


def test_a_measurement_gets_no_secret_of_the_server(registered: None, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("STREAMLIT_SERVER_PORT", "1")
    monkeypatch.setenv("OMP_PROC_BIND", "true")
    folder = tmp_path / "runs" / "one"
    launch.launch(write_protocol(tmp_path / "p", options={"fault": "load-waits"}), folder)
    given = psutil.Process(read_run(folder).launch["pid"]).environ()
    assert not {"AWS_SECRET_ACCESS_KEY", "STREAMLIT_SERVER_PORT"} & set(given)
    assert given["OMP_PROC_BIND"] == "true"


def test_only_what_stands_in_the_folder_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, outside = tmp_path / "protocols", tmp_path / "secret.toml"
    outside.write_text("version = 1\n", encoding="utf-8")
    write_protocol(inside / "letters")
    (inside / "link.toml").symlink_to(outside)
    (inside / "notes.txt").write_text("no protocol", encoding="utf-8")
    monkeypatch.setenv("GPUCOST_PROTOCOLS", str(inside))
    assert list(workshop.offered_protocols()) == ["letters/protocol.toml"]
    monkeypatch.setenv("GPUCOST_RUNS", str(tmp_path / "none"))
    assert workshop.offered_runs() == {}


@pytest.mark.parametrize(("said", "allowed"), [("1", True), ("0", False), ("TRUE", True), ("no", False)])
def test_the_configuration_decides_about_launching(monkeypatch: pytest.MonkeyPatch, said: str, allowed: bool) -> None:
    monkeypatch.setenv("GPUCOST_ALLOW_LAUNCH", said)
    assert workshop.may_launch() is allowed


def test_the_preflight_looks_at_everything_and_loads_on_demand(registered: None, tmp_path: Path) -> None:
    path = write_protocol(tmp_path / "p")
    found = preflight(path, tmp_path / "runs")
    assert found.ready
    assert [check.name for check in found.checks] == ["Corpus", "Libraries", "Disk", "Device"]
    assert try_load(path).passed
    broken = write_protocol(tmp_path / "q", options={"fault": "load-raises"})
    check = try_load(broken)
    assert (check.passed, "the weights are not there" in str(check.seen.details["why"])) == (False, True)
    (tmp_path / "p" / "train.jsonl").write_text('{"id": "t000", "text": "x", "label": "refund"}\n', encoding="utf-8")
    leaking = preflight(path, tmp_path / "runs")
    assert not leaking.ready
    assert [problem.key for problem in leaking.problems] == ["corpus.training"]


def test_the_stop_intent_does_not_outlive_its_run(registered: None, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    launch.launch(write_protocol(tmp_path / "p", options={"fault": "waits"}), folder)
    until(lambda: begun(folder, "pass-started"))
    launch.request_stop(folder)
    until(lambda: not read_run(folder).alive)
    assert not (folder / STOP).exists()
