"""The command is killed, stopped, started twice, or finds no room: what was measured stays, and `--resume` goes on.

Every command and every worker here is a real process, and every SIGKILL a real one.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.measuring.runs import Desk, Started, events_of, passes_of, rows_of, wait_until, write_protocol

ONE_WARM = ("warm = 2", "warm = 1")
ONE_VARIANT = ("values = [1, 4]", "values = [4]")
KILLED = "incident: the command was killed during this pass"
STOPPED = "incident: stopped by the user"


def hold(folder: Path, *changes: tuple[str, str], **options: object) -> tuple[Path, Path]:
    """A protocol whose workload waits where the options say, and the file that lets it go on."""
    gate = folder / "gate"
    waiting = {"fault": "waits-for-file", "at_batch": 4, "file": str(gate)} | options
    return write_protocol(folder, *(changes or (ONE_WARM,)), options=waiting), gate


def start_and_reach(desk: Desk, protocol: Path, folder: Path, gate: Path) -> Started:
    """Start a measurement and wait until its workload waits."""
    started = desk.start("measure", protocol, "--out", folder)
    wait_until(lambda: gate.with_name("gate.reached").exists() or started.ended, "the workload waits")
    assert not started.ended, started.wait()
    return started


def assert_whole(desk: Desk, folder: Path, before: list[dict[str, str]], broken: list[str]) -> None:
    """Nothing is lost, nothing stands twice, every planned pass has its row, and only the broken ones failed."""
    rows = rows_of(folder)
    names = passes_of(rows)
    assert rows[: len(before)] == before
    assert len(set(names)) == len(names)
    planned = [
        f"{variant} {phase} {run}" for variant, phase, run in json.loads((folder / "seal.json").read_text())["order"]
    ]
    assert [name for name in names if " load " not in name] == sorted(planned, key=names.index)
    assert passes_of([row for row in rows if not row["elapsed_seconds"]]) == broken
    assert not list(folder.rglob("*.unfinished"))
    checked = desk.check(folder)
    assert [finding for finding in checked["findings"] if finding["severity"] == "error"] == []
    assert checked["exit"] == (1 if broken else 0)
    assert checked["counts"]["failed"] == len(broken)
    assert checked["counts"]["rejected"] == 0


HELD = {
    # step: options of the workload that hold it there, and the pass that is broken by a kill
    "load": ({"fault": "load-waits-for-file"}, ["batch-4 load 1"]),
    "cold": ({"at_call": 2}, ["batch-4 cold 1"]),
    "warm-up": ({"at_call": 5}, []),
    "warm": ({"at_call": 8}, ["batch-4 warm 1"]),
}


@pytest.mark.parametrize("step", HELD)
def test_killed_while_a_worker_works(step: str, desk: Desk, tmp_path: Path) -> None:
    options, broken = HELD[step]
    folder = tmp_path / "run"
    protocol, gate = hold(tmp_path, model_revision="model-7", **options)
    started = start_and_reach(desk, protocol, folder, gate)
    assert desk.workers()
    started.kill()
    assert started.wait().returncode == -signal.SIGKILL
    wait_until(lambda: not desk.workers(), "the workers of the killed command end")
    before = rows_of(folder)
    gate.touch()
    done = desk.run("measure", "--resume", "--out", folder)
    assert "Traceback" not in done.stderr
    assert done.returncode == (1 if broken else 0)
    assert_whole(desk, folder, before, broken)
    for row in rows_of(folder):
        assert (KILLED in row["notes"]) == (not row["elapsed_seconds"])
        assert row["model_revision"] == "model-7"


STARTED, FINISHED = '"event": "pass-started"', '"event": "pass-finished"'
COLD_ROW = ",4,64,cold,1,"
DEAD = {
    # step: the call of the disk after which the command dies, the rows that stand then, the pass that is broken by it
    "header": (("rename", "results.csv"), 0, []),
    "load-row": (("append", "results.csv", ",4,64,load,1,"), 1, []),
    "pass-started": (("append", "events.jsonl", STARTED), 1, ["batch-4 cold 1"]),
    "outputs-written": (("write", "outputs/batch-4-cold-1.jsonl.unfinished"), 1, ["batch-4 cold 1"]),
    "outputs-renamed": (("rename", "outputs/batch-4-cold-1.jsonl"), 1, ["batch-4 cold 1"]),
    "control-renamed": (("rename", "controls/batch-4-cold-1.json"), 1, ["batch-4 cold 1"]),
    "half-a-row": (("half-append", "results.csv", COLD_ROW), 1, ["batch-4 cold 1"]),
    "row": (("append", "results.csv", COLD_ROW), 2, []),
    "half-an-event": (("half-append", "events.jsonl", FINISHED), 2, []),
    "end": (("append", "events.jsonl", '"event": "finished"'), 3, []),
}  # fmt: skip


@pytest.mark.parametrize("step", DEAD)
def test_killed_between_two_writes(step: str, desk: Desk, tmp_path: Path) -> None:
    die, kept, broken = DEAD[step]
    folder = tmp_path / "run"
    protocol = write_protocol(tmp_path, ONE_WARM, ONE_VARIANT)
    dead = desk.start("measure", protocol, "--out", folder, die=die).wait()
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    wait_until(lambda: not desk.workers(), "the workers of the killed command end")
    whole = (folder / "results.csv").read_bytes().rpartition(b"\n")
    before = rows_of(folder)[:kept]
    assert len(rows_of(folder)) == kept + bool(whole[2])
    done = desk.run("measure", "--resume", "--out", folder)
    assert "Traceback" not in done.stderr
    assert done.returncode == (1 if broken else 0)
    assert_whole(desk, folder, before, broken)
    failed = [row for row in rows_of(folder) if not row["elapsed_seconds"]]
    assert all(KILLED in row["notes"] for row in failed)
    written = "outputs/batch-4-cold-1.jsonl was written before that"
    assert [written in row["notes"] for row in failed] == [step not in ("pass-started", "outputs-written")] * len(
        failed
    )
    resumed = [event for event in events_of(folder) if event["event"] == "resumed"]
    assert [event["torn_row"] for event in resumed] == ([] if step == "end" else [whole[2].decode() or None])
    assert bool(whole[2]) == (step == "half-a-row")


def test_killed_while_it_marks_the_broken_pass(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    protocol = write_protocol(tmp_path, ONE_WARM, ONE_VARIANT)
    desk.start("measure", protocol, "--out", folder, die=("append", "events.jsonl", STARTED)).wait()
    dead = desk.start("measure", "--resume", "--out", folder, die=("append", "results.csv", COLD_ROW)).wait()
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    before = rows_of(folder)
    assert passes_of(before) == ["batch-4 load 1", "batch-4 cold 1"]
    assert desk.run("measure", "--resume", "--out", folder).returncode == 1
    assert_whole(desk, folder, before, ["batch-4 cold 1"])


@pytest.mark.parametrize("name", ["launch.json", "seal.json", "environment.json"])
def test_killed_before_the_csv_began_the_folder_takes_a_new_start(name: str, desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    protocol = write_protocol(tmp_path, ONE_WARM, ONE_VARIANT)
    dead = desk.start("measure", protocol, "--out", folder, die=("rename", name)).wait()
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    assert not (folder / "results.csv").exists()
    refused = desk.run("measure", protocol, "--resume", "--out", folder)
    assert refused.returncode == 2
    assert "holds no run to go on with" in refused.stderr
    assert desk.run("measure", protocol, "--out", folder).returncode == 0
    assert_whole(desk, folder, [], [])
    assert [path.name for path in folder.glob("environment*")] == ["environment.json"]


def test_killed_while_the_worker_imports(desk: Desk, tmp_path: Path) -> None:
    """The command as a person starts it. Nothing was sealed, so that there is nothing to go on with."""
    folder, gate = tmp_path / "run", tmp_path / "gate"
    protocol = write_protocol(tmp_path, ONE_WARM, ONE_VARIANT)
    words = [sys.executable, "-m", "gpucost", "measure", str(protocol), "--out", str(folder)]
    with subprocess.Popen(words, env=desk.env | {"FAULTY_IMPORT_WAITS_FOR": str(gate)}, cwd="/") as command:
        wait_until(gate.with_name("gate.reached").exists, "the worker imports")
        command.kill()
    wait_until(lambda: not desk.workers(), "the workers of the killed command end")
    assert sorted(path.name for path in folder.iterdir()) == ["run.log"]
    assert desk.run("measure", protocol, "--out", folder).returncode == 0
    assert_whole(desk, folder, [], [])


STOPS = {
    "load": ({"fault": "load-waits-for-file"}, ["batch-4 load 1"], 2),
    "cold": ({"at_call": 2}, ["batch-4 cold 1"], 1),
    "warm-up": ({"at_call": 5}, [], 1),
    "warm": ({"at_call": 8}, ["batch-4 warm 1"], 0),
}


@pytest.mark.parametrize(
    ("step", "number"),
    [("load", signal.SIGTERM), ("cold", signal.SIGINT), ("cold", signal.SIGTERM), ("warm-up", signal.SIGINT),
     ("warm", signal.SIGTERM)],
)  # fmt: skip
def test_a_user_stops_it(step: str, number: signal.Signals, desk: Desk, tmp_path: Path) -> None:
    options, broken, left = STOPS[step]
    folder = tmp_path / "run"
    protocol, gate = hold(tmp_path, ONE_WARM, ONE_VARIANT, **options)
    started = start_and_reach(desk, protocol, folder, gate)
    started.kill(number)
    started.kill(number)  # an impatient user presses twice
    done = started.wait()
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    before = rows_of(folder)
    assert f"{len(before)} rows are kept in {folder}: " in done.stdout
    if left:
        assert f"Stopped with {left} pass{'es' if left > 1 else ''} to go." in done.stdout
        assert f"Go on with: gpucost measure --resume --out {folder}" in done.stdout
    failed = [row for row in before if not row["elapsed_seconds"]]
    assert passes_of(failed) == broken
    assert all(STOPPED in row["notes"] and row["corpus_accepted"] == "false" for row in failed)
    if step == "cold":
        kept = (folder / "outputs" / "batch-4-cold-1.jsonl").read_text(encoding="utf-8")
        assert [json.loads(line)["id"] for line in kept.splitlines()] == ["t000", "t001", "t002", "t003"]
    assert events_of(folder)[-1]["event"] == ("stopped" if left else "finished")
    gate.touch()
    assert desk.run("measure", "--resume", "--out", folder).returncode == (1 if broken else 0)
    assert_whole(desk, folder, before, broken)


def test_stopped_before_the_first_pass_it_leaves_nothing(desk: Desk, tmp_path: Path) -> None:
    folder, gate = tmp_path / "run", tmp_path / "gate"
    protocol = write_protocol(tmp_path, ONE_WARM)
    started = desk.start("measure", protocol, "--out", folder, env={"FAULTY_IMPORT_WAITS_FOR": str(gate)})
    wait_until(gate.with_name("gate.reached").exists, "the worker imports")
    started.kill(signal.SIGINT)
    done = started.wait()
    assert (done.returncode, done.stdout) == (2, "")
    assert "stopped by the user before the first pass; nothing was measured" in done.stderr
    assert not folder.exists()


def snapshot(folder: Path) -> dict[str, bytes]:
    """Everything that a run's folder holds, but for the log of its workers."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*") if path.is_file() and path.name != "run.log"
    }  # fmt: skip


@pytest.fixture
def stopped(desk: Desk, tmp_path: Path) -> Path:
    """A run of a protocol with code of its own, stopped in its cold pass of batch-4."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "work.py").write_text("ANSWER = 42\n", encoding="utf-8")
    protocol, gate = hold(tmp_path, ONE_WARM, ONE_VARIANT, ("[passes]", '[code]\npath = "code"\n\n[passes]'), at_call=2)
    started = start_and_reach(desk, protocol, tmp_path / "run", gate)
    started.kill(signal.SIGINT)
    started.wait()
    gate.touch()
    return tmp_path / "run"


def test_stopped_again_while_it_resumes_it_loses_nothing(stopped: Path, desk: Desk, tmp_path: Path) -> None:
    before, gate = snapshot(stopped), tmp_path / "import"
    started = desk.start("measure", "--resume", "--out", stopped, env={"FAULTY_IMPORT_WAITS_FOR": str(gate)})
    wait_until((tmp_path / "import.reached").exists, "the worker imports")
    started.kill(signal.SIGINT)
    done = started.wait()
    assert done.returncode == 1
    assert "Stopped with 1 pass to go." in done.stdout
    assert snapshot(stopped) == before
    assert desk.run("measure", "--resume", "--out", stopped).returncode == 1
    assert_whole(desk, stopped, [], ["batch-4 cold 1"])


def test_a_whole_run_resumed_is_left_as_it_is(stopped: Path, desk: Desk) -> None:
    desk.run("measure", "--resume", "--out", stopped)
    before = snapshot(stopped)
    again = desk.run("measure", "--resume", "--out", stopped)
    assert again.returncode == 1  # its stopped pass is still a failed one
    assert "Stopped" not in again.stdout
    assert snapshot(stopped) == before


def change_protocol(run: Path) -> None:
    text = (run.parent / "protocol.toml").read_text(encoding="utf-8")
    (run.parent / "protocol.toml").write_text(text.replace("threshold = 0.9", "threshold = 0.5"), encoding="utf-8")


def change_sealed_protocol(run: Path) -> None:
    with (run / "protocol.toml").open("a", encoding="utf-8") as file:
        file.write("# a word more\n")


def change_code(run: Path) -> None:
    (run.parent / "code" / "work.py").write_text("ANSWER = 43\n", encoding="utf-8")


def change_texts(run: Path) -> None:
    path = run.parent / "texts.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("letter 3", "note 3"), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "told"),
    [(change_protocol, "protocol_sha256"), (change_sealed_protocol, "protocol_sha256"), (change_code, "code"),
     (change_texts, "corpus_revision")],
)  # fmt: skip
def test_a_run_whose_pieces_changed_is_not_resumed(change: Any, told: str, stopped: Path, desk: Desk) -> None:
    change(stopped)
    before = snapshot(stopped)
    refused = desk.run("measure", "--resume", "--out", stopped)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"the run was sealed with another state of: {told}" in refused.stderr
    assert "measure it in a new folder" in refused.stderr
    after = snapshot(stopped)
    assert events_of(stopped)[-1]["event"] == "resume-refused"
    assert told in events_of(stopped)[-1]["changed"]
    assert {**after, "events.jsonl": b""} == {**before, "events.jsonl": b""}
    assert after["events.jsonl"].startswith(before["events.jsonl"])


def test_a_second_start_on_the_same_device_is_refused(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "the-first"
    protocol, gate = hold(tmp_path, ONE_WARM, ONE_VARIANT, at_call=2)
    started = start_and_reach(desk, protocol, folder, gate)
    second = desk.run("measure", protocol, "--out", tmp_path / "the-second")
    assert (second.returncode, second.stdout) == (2, "")
    assert f"cpu is measuring already: run the-first, process {started.pid}, since " in second.stderr
    assert not (tmp_path / "the-second").exists()
    again = desk.run("measure", "--resume", "--out", folder)
    assert again.returncode == 2
    assert "run the-first" in again.stderr
    gate.touch()
    assert started.wait().returncode == 0
    assert_whole(desk, folder, [], [])
    assert desk.run("measure", protocol, "--out", tmp_path / "the-second").returncode == 0


def test_of_two_starts_at_once_one_measures(desk: Desk, tmp_path: Path) -> None:
    protocol = write_protocol(tmp_path, ONE_WARM, ONE_VARIANT)
    both = [desk.start("measure", protocol, "--out", tmp_path / "run") for _ in range(2)]
    assert sorted(one.wait().returncode for one in both) == [0, 2]
    assert_whole(desk, tmp_path / "run", [], [])


def test_a_size_limit_is_a_full_disk(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    protocol = write_protocol(tmp_path, ONE_WARM)
    full = desk.start("measure", protocol, "--out", folder, file_limit_bytes=5_000).wait()
    before = rows_of(folder)
    assert 0 < len(before) < 6
    assert (full.returncode, full.stdout) == (2, "")
    assert "Traceback" not in full.stderr
    assert f"{folder}/results.csv: File too large. {len(before)} rows are kept in {folder}; make room" in full.stderr
    assert (folder / "results.csv").read_bytes().endswith(b"\n")
    wait_until(lambda: not desk.workers(), "the workers end with the command")
    assert desk.run("measure", "--resume", "--out", folder).returncode == 1
    broken = passes_of(rows_of(folder))[len(before)]
    assert_whole(desk, folder, before, [broken])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 80 KiB, where this process may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=80k", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )  # fmt: skip
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_keeps_what_it_holds_and_the_run_goes_on_when_there_is_room(
    small_disk: Path, desk: Desk, tmp_path: Path
) -> None:  # fmt: skip
    folder = small_disk / "run"
    protocol = write_protocol(tmp_path, ("warm = 2", "warm = 5"))
    full = desk.run("measure", protocol, "--out", folder)
    before = rows_of(folder)
    assert 0 < len(before) < 14
    assert (full.returncode, full.stdout) == (2, "")
    assert "Traceback" not in full.stderr
    assert f"No space left on device. {len(before)} rows are kept in {folder}; make room, then go on" in full.stderr
    assert str(folder) in full.stderr.splitlines()[-1].partition(": No space")[0]
    subprocess.run(["mount", "-o", "remount,size=1m", str(small_disk)], check=True)
    resumed = desk.run("measure", "--resume", "--out", folder)
    assert resumed.returncode == 1, resumed.stderr
    failed = [row for row in rows_of(folder) if not row["elapsed_seconds"]]
    assert len(failed) == 1
    assert_whole(desk, folder, before, passes_of(failed))
