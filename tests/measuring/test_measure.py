"""A run that goes well: its rows, their order and numbers, their notes, their pieces, and figures recomputed by a
script that knows nothing of gpucost."""

import csv
import hashlib
import json
import platform
import re
import subprocess
import sys
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gpucost import __version__
from gpucost.columns import NAMES
from gpucost.protocol import read_protocol
from gpucost.schedule import planned_passes
from tests.measuring import runs
from tests.measuring.runs import Desk, events_of, passes_of, rows_of, write_protocol

MEMORY = ("baseline_allocated_bytes", "baseline_reserved_bytes", "peak_allocated_bytes", "peak_reserved_bytes")
ONE_WARM = ("warm = 2", "warm = 1")
PACKAGE = ("[passes]", "[package]\nduration_days = 7\nlots = 2\ntotal_usd_minor = 129600\n\n[passes]")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def run(registered: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three warm passes a variant, from the command line as a person types it."""
    folder = tmp_path_factory.mktemp("letters")
    protocol = write_protocol(folder, ("warm = 2", "warm = 3"), PACKAGE)
    env = runs.environment(registered, folder / "locks")
    done = runs.command("measure", protocol, "--out", folder / "run", env=env)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "10 rows are kept" not in done.stderr
    assert f"10 rows are kept in {folder / 'run'}: 8 accepted, 0 rejected, 0 failed." in done.stdout
    return folder / "run"


def test_the_csv_has_the_38_columns_and_a_row_for_every_pass(run: Path) -> None:
    text = (run / "results.csv").read_bytes().decode("utf-8")
    assert text.splitlines()[0] == ",".join(NAMES)
    assert "\r" not in text
    assert passes_of(rows_of(run)) == [
        "batch-1 load 1", "batch-1 cold 1", "batch-4 load 1", "batch-4 cold 1",
        "batch-1 warm 1", "batch-4 warm 1", "batch-1 warm 2", "batch-4 warm 2", "batch-1 warm 3", "batch-4 warm 3",
    ]  # fmt: skip


def test_the_cells_are_what_was_announced_and_what_was_observed(run: Path) -> None:
    seal = json.loads((run / "seal.json").read_text())
    for row in rows_of(run):
        same = {
            "experiment_id": "letters-batch", "corpus_revision": seal["corpus_revision"],
            "model_revision": seal["model_revision"], "tokenizer_revision": seal["tokenizer_revision"],
            "seed": "7", "gpu_model": "", "gpu_count": "0", "device": "cpu", "driver_version": "",
            "python_version": platform.python_version(), "torch_version": "", "runtime_version": "",
            "precision": "fp32", "context": "64", "expected_ids": "12", "quality_metric": "macro-f1",
            "quality_threshold": "0.9", "quality_tolerance": "0.02", "duration_days": "7", "lots": "2",
            "package_total_usd_minor": "129600", "accepted_unique_corpora": "",
        }  # fmt: skip
        assert {name: row[name] for name in same} == same
        assert row["batch"] == row["variant_id"].removeprefix("batch-")
        assert row["warmup_iterations"] == ("1" if row["phase"] == "warm" else "0")
        assert [row[name] for name in MEMORY] == [""] * 4
        assert Decimal(row["elapsed_seconds"]) > 0
        if row["phase"] == "load":
            due = {"observed_ids": "", "ids_match": "", "format_valid": "", "quality_value": ""}
            assert row["corpus_accepted"] == "false"
        else:
            due = {"observed_ids": "12", "ids_match": "true", "format_valid": "true", "quality_value": "1.0"}
            assert row["corpus_accepted"] == "true"
        assert {name: row[name] for name in due} == due


def test_the_revisions_are_fingerprints_that_anybody_can_compute(run: Path, registered: Path) -> None:
    seal = json.loads((run / "seal.json").read_text())
    pieces = [sha256(run.parent / name) for name in ("texts.jsonl", "ids.txt", "reference.jsonl")]
    lines = "".join(f"{digest}\n" for digest in pieces)
    assert seal["corpus_revision"] == f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"
    assert seal["texts_sha256"] == pieces[0]
    module = sha256(registered / "faulty_workload.py")
    assert seal["model_revision"] == f"faulty-workload-0.0.1-sha256:{module}"
    assert seal["code"]["workload_sha256"] == module
    ids = (run.parent / "ids.txt").read_bytes()
    assert seal["input_order_sha256"] == hashlib.sha256(ids).hexdigest()


def test_a_duration_is_the_very_number_of_nanoseconds(run: Path) -> None:
    finished = [event for event in events_of(run) if event["event"] in ("load-finished", "pass-finished")]
    exact = [Decimal(event["elapsed_ns"]) / 1_000_000_000 for event in finished]
    assert [Decimal(row["elapsed_seconds"]) for row in rows_of(run)] == exact
    assert all(re.fullmatch(r"\d+\.\d{1,9}", row["elapsed_seconds"]) for row in rows_of(run))


def test_the_notes_say_everything_that_no_column_holds(run: Path) -> None:
    seal = json.loads((run / "seal.json").read_text())
    for row in rows_of(run):
        parts = row["notes"].split("; ")
        due = [
            "scope: processing alone (what the workload prepares, such as tokens, is made before the clock)",
            "workload faulty, options: fault=none",
            "order: alternating",
            "isolation: process-per-variant",
            "CPU threads announced: 1",
            "tolerance: largest drop against the rule itself, from the reference value 1.0",
            "texts truncated: 0 of 12",
            f"protocol sha256 {sha256(run / 'protocol.toml')}, sealed {seal['sealed_at']}",
        ]
        assert set(due) <= set(parts)
        code = next(part for part in parts if part.startswith("code "))
        assert code.endswith(f"gpucost {__version__} sha256 {seal['code']['gpucost_sha256'][:12]}")
        assert "None" not in code
        assert re.search(r"; concurrency: other processes used \d+\.\d\d CPU seconds during the pass on \d+ cores; ",
                         row["notes"])  # fmt: skip
        assert "incident" not in row["notes"]
        if row["phase"] == "load":
            assert "outputs" not in parts[-1]
        else:
            name = f"outputs/{row['variant_id']}-{row['phase']}-{row['run_index']}.jsonl"
            assert parts[-1] == f"outputs {name} sha256 {sha256(run / name)}"


def test_the_sealed_protocol_is_the_file_itself_and_the_seal_writes_the_order_down(run: Path) -> None:
    assert (run / "protocol.toml").read_bytes() == (run.parent / "protocol.toml").read_bytes()
    seal = json.loads((run / "seal.json").read_text())
    assert seal["protocol_sha256"] == sha256(run / "protocol.toml")
    assert seal["isolation"] == "process-per-variant"
    passes = [f"{variant} {phase} {index}" for variant, phase, index in seal["order"]]
    assert passes == [name for name in passes_of(rows_of(run)) if " load " not in name]
    events = events_of(run)
    assert (events[0]["event"], events[-1]["event"]) == ("sealed", "finished")
    assert seal["sealed_at"] <= events[0]["at"] <= events[1]["at"]


def test_every_control_is_what_the_audit_prints_and_the_order_and_the_outputs_hash(
    run: Path, shared_desk: Desk
) -> None:  # fmt: skip
    control = json.loads((run / "controls" / "batch-4-warm-3.json").read_text())
    outputs = run / "outputs" / "batch-4-warm-3.jsonl"
    audited = shared_desk.run(
        "audit", "--expected", run / "expected-ids.txt", "--outputs", outputs, "--reference", run / "reference.jsonl",
        "--classes", "billing,delivery,refund", "--metric", "macro-f1", "--threshold", "0.9", "--tolerance", "0.02",
        "--reference-value", "1.0", "--json",
    )  # fmt: skip
    ids = "".join(f"{json.loads(line)['id']}\n" for line in outputs.read_text(encoding="utf-8").splitlines())
    added = {
        "input_order_sha256": hashlib.sha256(ids.encode()).hexdigest(),
        "outputs_sha256": sha256(outputs),
    }
    assert control == json.loads(audited.stdout) | added
    controls = sorted(path.stem for path in (run / "controls").iterdir())
    assert controls == sorted(path.stem for path in (run / "outputs").iterdir())
    orders = {json.loads(path.read_text())["input_order_sha256"] for path in (run / "controls").iterdir()}
    assert orders == {added["input_order_sha256"]}
    passes = [name for name in passes_of(rows_of(run)) if " load " not in name]
    assert controls == sorted(name.replace(" ", "-") for name in passes)


SCRIPT = """
import csv, json, statistics, sys
from fractions import Fraction
groups = {}
for row in csv.DictReader(open(sys.argv[1], encoding="utf-8", newline="")):
    if row["corpus_accepted"] == "true" and row["elapsed_seconds"]:
        groups.setdefault((row["variant_id"], row["phase"]), []).append(Fraction(row["elapsed_seconds"]))
print(json.dumps([[*key, len(found), *(str(f(found)) for f in (statistics.median, min, max))]
                  for key, found in sorted(groups.items())]))
"""


def test_the_medians_are_those_of_an_independent_script(run: Path, shared_desk: Desk) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SCRIPT, str(run / "results.csv")], capture_output=True, check=True
    )
    checked = shared_desk.check(run)
    assert checked["exit"] == 0
    assert checked["counts"] == {"accepted": 8, "rejected": 0, "failed": 0, "invalid": 0, "setup": 2}
    assert [finding for finding in checked["findings"] if finding["severity"] == "error"] == []
    assert checked["experiments"] == [{"experiment_id": "letters-batch", "varied": ["batch"], "comparable": True}]
    found = [
        [one["variant_id"], one["phase"], one["accepted"], *(fraction(one[f"{name}_seconds"]) for name in NAMED)]
        for one in checked["variants"]
        if one["accepted"]
    ]
    assert sorted(found) == json.loads(done.stdout)
    assert len(found) == 4


NAMED = ("median", "min", "max")


def fraction(number: Any) -> str:
    top, bottom = Decimal(str(number)).as_integer_ratio()
    return str(top) if bottom == 1 else f"{top}/{bottom}"


def test_a_worker_reports_its_own_memory_and_the_announced_threads(run: Path) -> None:
    """The second worker is started by a conductor that has grown: that one's memory is not the worker's."""
    finished = [event for event in events_of(run) if event["event"] == "pass-finished"]
    highest = {event["variant_id"]: event["max_resident_bytes"] for event in finished}
    assert highest["batch-4"] < 1.2 * highest["batch-1"]
    environment = json.loads((run / "environment.json").read_text())
    assert environment["threads_announced"] == 1
    assert environment["environment_variables"]["OMP_NUM_THREADS"] == "1"
    assert environment["torch_version"] is None


ISOLATIONS = {
    "process-per-variant": [
        "batch-1 load 1", "batch-1 cold 1", "batch-4 load 1", "batch-4 cold 1",
        "batch-1 warm 1", "batch-4 warm 1", "batch-1 warm 2", "batch-4 warm 2",
    ],
    "process-per-pass": [
        "batch-1 load 1", "batch-1 cold 1", "batch-4 load 1", "batch-4 cold 1",
        "batch-1 load 2", "batch-1 warm 1", "batch-4 load 2", "batch-4 warm 1",
        "batch-1 load 3", "batch-1 warm 2", "batch-4 load 3", "batch-4 warm 2",
    ],
    "one-process": [
        "batch-1 load 1", "batch-1 cold 1",
        "batch-1 warm 1", "batch-4 warm 1", "batch-1 warm 2", "batch-4 warm 2",
    ],
}  # fmt: skip
WORKERS = {"process-per-variant": [1, 2, 2, 2, 2, 2], "process-per-pass": [1] * 6, "one-process": [1] * 5}
PROCESSES = {"process-per-variant": 2, "process-per-pass": 6, "one-process": 1}
WARM_UPS = {"process-per-variant": 2, "process-per-pass": 4, "one-process": 2}


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_an_isolation_gives_its_processes_loads_and_warm_ups(isolation: str, desk: Desk, tmp_path: Path) -> None:
    protocol = write_protocol(tmp_path, ("warm = 2", f'warm = 2\nisolation = "{isolation}"'))
    folder = tmp_path / "run"
    assert desk.run("measure", protocol, "--out", folder).returncode == 0
    assert passes_of(rows_of(folder)) == ISOLATIONS[isolation]
    assert all(f"; isolation: {isolation}; " in row["notes"] for row in rows_of(folder))
    events = events_of(folder)
    finished = [event for event in events if event["event"] == "pass-finished"]
    assert [event["described"]["workers"] for event in finished] == WORKERS[isolation]
    assert len({event["pid"] for event in events if event["event"] == "load-started"}) == PROCESSES[isolation]
    assert len([event for event in events if event["event"] == "warm-up-finished"]) == WARM_UPS[isolation]
    started = [event for event in events if event["event"] in ("warm-up-started", "pass-started")]
    warmed = set()
    for event in started:
        if event["event"] == "warm-up-started":
            warmed.add((event["pid"], event["variant_id"]))
        elif event["phase"] == "warm":
            assert (event["pid"], event["variant_id"]) in warmed


def drawn(folder: Path, seed: int) -> list[list[Any]]:
    protocol = write_protocol(folder, ('order = "alternating"', 'order = "drawn"'), ("seed = 7", f"seed = {seed}"),
                              ("warm = 2", "warm = 5"), ("[1, 4]", "[1, 4, 8]"))  # fmt: skip
    read = read_protocol("protocol.toml", protocol.read_bytes())
    assert read.protocol is not None
    return [[one.variant_id, one.phase, one.run_index] for one in planned_passes(read.protocol)]


def test_a_drawn_order_is_a_function_of_the_seed(tmp_path: Path) -> None:
    orders = [drawn(tmp_path / str(seed), seed) for seed in range(8)]
    assert drawn(tmp_path / "again", 3) == orders[3]
    assert len({str(order) for order in orders}) == 8
    for order in orders:
        assert order[:3] == [["batch-1", "cold", 1], ["batch-4", "cold", 1], ["batch-8", "cold", 1]]
        for variant in ("batch-1", "batch-4", "batch-8"):
            assert [index for name, phase, index in order if (name, phase) == (variant, "warm")] == [1, 2, 3, 4, 5]


def test_a_drawn_order_is_written_in_the_seal_and_measured(desk: Desk, tmp_path: Path) -> None:
    order = drawn(tmp_path, 7)
    assert desk.run("measure", tmp_path / "protocol.toml", "--out", tmp_path / "run").returncode == 0
    assert json.loads((tmp_path / "run" / "seal.json").read_text())["order"] == order
    rows = rows_of(tmp_path / "run")
    measured = [[row["variant_id"], row["phase"], int(row["run_index"])] for row in rows if row["phase"] != "load"]
    assert measured == order
    assert all("; order: drawn; " in row["notes"] for row in rows)


@pytest.mark.parametrize("fault", ["none", "prints"])
def test_the_whole_chain_reads_and_writes_inside_the_timed_part(fault: str, desk: Desk, tmp_path: Path) -> None:
    """A workload that prints what looks like an answer disturbs nothing: it stands in the log."""
    protocol = write_protocol(
        tmp_path, ('scope = "processing"', 'scope = "whole-chain"'), ONE_WARM, options={"fault": fault}
    )
    folder = tmp_path / "run"
    done = desk.run("measure", protocol, "--out", folder)
    assert done.returncode == 0, done.stderr
    rows = rows_of(folder)
    assert len(rows) == 6
    assert {row["notes"].split("; ")[0] for row in rows} == {
        "scope: whole chain (reading the texts, preparing, processing, writing the outputs)"
    }
    outputs = (folder / "outputs" / "batch-4-warm-1.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in outputs] == [f"t{number:03d}" for number in range(12)]
    assert not list(folder.rglob("*.unfinished"))
    assert ('"said": "done"' in (folder / "run.log").read_text(encoding="utf-8")) == (fault == "prints")
    assert Decimal(rows[-1]["elapsed_seconds"]) != Decimal(1) / 1_000_000_000
    assert desk.check(folder)["exit"] == 0


def test_a_team_s_own_workload_is_measured_from_its_package(desk: Desk, tmp_path: Path) -> None:
    protocol = write_protocol(
        tmp_path, ('workload = "faulty"\n\n[model.options]\nfault = "none"', 'workload = "keywords"'), ONE_WARM
    )
    folder = tmp_path / "run"
    done = desk.run("measure", protocol, "--out", folder, "--json")
    project = tomllib.loads((runs.EXAMPLE_PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = rows_of(folder)
    assert {row["model_revision"] for row in rows} == {f"keywords-{project['version']}"}
    assert all("; workload keywords, options: rule=first keyword; " in row["notes"] for row in rows)
    told = json.loads(done.stdout)
    assert told["counts"] == {"accepted": 4, "rejected": 0, "failed": 0, "setup": 2}
    assert (told["rows"], told["passes_left"], told["stopped"]) == (6, 0, False)
    assert told["protocol_sha256"] == sha256(folder / "protocol.toml")
    seal = json.loads((folder / "seal.json").read_text())
    assert seal["model_revision"].startswith(f"{project['name']}-{project['version']}-sha256:")


def test_a_corpus_in_csv_is_measured_as_one_in_json_lines(desk: Desk, tmp_path: Path) -> None:
    protocol = write_protocol(
        tmp_path, ("texts.jsonl", "texts.csv"), ("ids.txt", "ids.csv"), ("reference.jsonl", "reference.csv"), ONE_WARM
    )
    for name, columns in (("texts", ("id", "text")), ("reference", ("id", "label"))):
        lines = (tmp_path / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([columns, *([one[column] for column in columns] for one in records)])
    ids = (tmp_path / "ids.txt").read_text(encoding="utf-8")
    (tmp_path / "ids.csv").write_text(f"id\n{ids}", encoding="utf-8")
    assert desk.run("measure", protocol, "--out", tmp_path / "run").returncode == 0
    assert (tmp_path / "run" / "expected-ids.txt").read_text(encoding="utf-8") == ids
    kept = (tmp_path / "run" / "reference.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(kept[0]) == {"id": "t000", "label": "billing"}
    assert desk.check(tmp_path / "run")["exit"] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["measure", "--out", "{run}"], "a new run needs its protocol file"),
        (["measure", "{folder}/nowhere.toml", "--out", "{run}"], "cannot read {folder}/nowhere.toml: No such file"),
        (["measure", "{protocol}", "--out", "{folder}"], "{folder} is not empty (ids.txt); choose a new folder"),
        (["measure", "{protocol}", "--out", "{folder}/texts.jsonl/run"], "cannot be written"),
        (["measure", "{protocol}", "--resume", "--out", "{run}"], "{run} holds no run to go on with"),
        (["measure", "--resume", "--out", "{run}"], "{run} does not say which protocol file it came from; name it"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_refused_with_one_message_and_nothing_is_made(
    words: list[str], told: str, shared_desk: Desk, tmp_path: Path
) -> None:
    names = {"protocol": write_protocol(tmp_path), "folder": tmp_path, "run": tmp_path / "run"}
    before = sorted(tmp_path.rglob("*"))
    done = shared_desk.run(*(word.format(**names) for word in words))
    assert (done.returncode, done.stdout) == (2, "")
    assert told.format(**names) in done.stderr
    assert "Traceback" not in done.stderr
    assert "rows are kept" not in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_holds_a_run_takes_no_second_one(run: Path, shared_desk: Desk) -> None:
    before = sha256(run / "results.csv")
    done = shared_desk.run("measure", run.parent / "protocol.toml", "--out", run)
    assert done.returncode == 2
    assert f"{run} holds a run already; `--resume` goes on with it, or choose another folder" in done.stderr
    assert sha256(run / "results.csv") == before
