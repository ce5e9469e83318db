"""Workloads that fail: each failure is a row with its reason, each wrong output a rejected pass, and the other
variant is untouched. Every run here is a real command with real workers."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.measuring.runs import Desk, Ended, events_of, rows_of, write_protocol

ONE_WARM = ("warm = 2", "warm = 1")
SHORT = ("warm = 2", "warm = 1\ntime_limit_seconds = 2")
MEASURED = ("ids_match", "format_valid", "quality_value", "observed_ids")


def measured(
    desk: Desk, folder: Path, *changes: tuple[str, str], **options: object
) -> tuple[Ended, list[dict[str, str]], dict[str, Any]]:
    """Measure with some options of the faulty workload: how it ended, its rows, and what `check` says of them."""
    protocol = write_protocol(folder, *(changes or (ONE_WARM,)), options=options)
    done = desk.run("measure", protocol, "--out", folder / "run")
    assert "Traceback" not in done.stderr
    checked = desk.check(folder / "run")
    assert [finding for finding in checked["findings"] if finding["severity"] == "error"] == []
    return done, rows_of(folder / "run"), checked


def statuses(checked: dict[str, Any]) -> list[str]:
    return [
        f"{one['variant_id']} {one['phase']} {one['run_index']} {one['status']}" for one in checked["passes"]
    ]  # fmt: skip


def outputs(folder: Path, row: dict[str, str]) -> Path:
    return folder / "run" / "outputs" / f"{row['variant_id']}-{row['phase']}-{row['run_index']}.jsonl"


TOKENIZER = "ValueError: half way: the tokenizer met a text it cannot read"
TOO_MANY = "TypeError: the workload gave 5 labels for a batch of 4 texts"
NOT_JSON = "TypeError: Object of type object is not JSON serializable"
LIMIT = "time limit of 2 s reached"
KILLED = "the worker was killed by SIGKILL; the system may have run out of memory"
OVERFLOW = "memory overflow: MemoryError"
MEMORY = ("warm = 2", f"warm = 1\nmemory_limit_bytes = {2 << 30}")

FAILURES = {
    # fault: other options, change of the protocol, why the cold pass failed, texts reached, why the warm-up failed
    # ('' where it did not: it comes once, or nothing is wrong until outputs are written, and a warm-up writes none)
    "raises": ({}, ONE_WARM, TOKENIZER, 0, TOKENIZER),
    "raises-late": ({"fault": "raises", "at_call": 3}, ONE_WARM, TOKENIZER, 8, TOKENIZER),
    "one-label-too-many": ({"at_call": 2}, ONE_WARM, TOO_MANY, 4, ""),
    "not-json": ({"at_call": 2}, ONE_WARM, NOT_JSON, 4, ""),
    "waits": ({"at_call": 3}, SHORT, LIMIT, 8, LIMIT),
    "ignores-the-end": ({"once": "once"}, SHORT, LIMIT, 0, ""),
    "killed": ({}, ONE_WARM, KILLED, 0, KILLED),
    "exits": ({}, ONE_WARM, "SystemExit: 3", 0, "the worker ended with exit status 3"),
    "overflow": ({"bytes": 8 << 30, "at_call": 2}, MEMORY, OVERFLOW, 4, OVERFLOW),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_a_row(name: str, desk: Desk, tmp_path: Path) -> None:
    options, change, reason, reached, warm_up_reason = FAILURES[name]
    options = {"fault": name, "at_batch": 4} | options
    if "once" in options:
        options["once"] = str(tmp_path / "once")
    done, rows, checked = measured(desk, tmp_path, change, **options)
    assert (done.returncode, checked["exit"]) == (1, 1)
    # The second load of batch-4 is the clean process that the pass after the failure got.
    assert statuses(checked) == [
        "batch-1 load 1 setup", "batch-1 cold 1 accepted",
        "batch-4 load 1 setup", "batch-4 cold 1 failed",
        "batch-1 warm 1 accepted",
        "batch-4 load 2 setup", f"batch-4 warm 1 {'failed' if warm_up_reason else 'accepted'}",
    ]  # fmt: skip
    failed = rows[3]
    assert failed["elapsed_seconds"] == ""
    assert failed["corpus_accepted"] == "false"
    assert [failed[column] for column in MEASURED] == [""] * 4
    assert (failed["batch"], failed["expected_ids"], failed["context"]) == ("4", "12", "64")
    assert f"; incident: {reason}" in failed["notes"]
    assert f"batch-4 cold 1 ({reason}" in done.stderr
    if warm_up_reason:
        assert f"; incident: the warm-up before this pass failed: {warm_up_reason}" in rows[6]["notes"]
        assert rows[6]["elapsed_seconds"] == ""
    kept = outputs(tmp_path, failed)
    assert kept.exists() == (reached > 0)
    if reached:
        ids = [json.loads(line)["id"] for line in kept.read_text(encoding="utf-8").splitlines()]
        assert ids == [f"t{number:03d}" for number in range(reached)]
        assert "outputs reached before the failure outputs/batch-4-cold-1.jsonl" in failed["notes"]
    assert not list((tmp_path / "run").rglob("*.unfinished"))


def test_an_overflow_says_what_the_other_workers_held(desk: Desk, tmp_path: Path) -> None:
    _, rows, _ = measured(desk, tmp_path, MEMORY, fault="overflow", at_batch=4, bytes=8 << 30)
    assert re.search(r"other workers of this run alive at that moment: batch-1: \d+ bytes resident", rows[3]["notes"])
    _, rows, _ = measured(
        desk, tmp_path / "alone", ("warm = 2", f'{MEMORY[1]}\nisolation = "process-per-pass"'), fault="overflow",
        at_batch=4, bytes=8 << 30,
    )  # fmt: skip
    assert "memory overflow" in rows[3]["notes"]
    assert "other workers of this run" not in rows[3]["notes"]


@pytest.mark.parametrize(
    ("fault", "change", "reason"),
    [
        ("load-raises", ONE_WARM, "RuntimeError: the weights are not there"),
        ("load-waits", SHORT, LIMIT),
        ("describes-no-json", ONE_WARM, NOT_JSON),
    ],
)
def test_a_load_that_fails_is_a_row_and_so_is_the_pass_after_it(
    fault: str, change: tuple[str, str], reason: str, desk: Desk, tmp_path: Path
) -> None:
    done, rows, checked = measured(desk, tmp_path, change, fault=fault, at_batch=4)
    assert (done.returncode, checked["exit"]) == (1, 1)
    assert statuses(checked) == [
        "batch-1 load 1 setup", "batch-1 cold 1 accepted",
        "batch-4 load 1 failed", "batch-4 cold 1 failed",
        "batch-1 warm 1 accepted",
        "batch-4 load 2 failed", "batch-4 warm 1 failed",
    ]  # fmt: skip
    for load, one in ((rows[2], rows[3]), (rows[5], rows[6])):
        assert (load["elapsed_seconds"], one["elapsed_seconds"]) == ("", "")
        assert f"; incident: {reason}" in load["notes"]
        assert f"; incident: the load before this pass failed: {reason}" in one["notes"]


def test_a_worker_that_cannot_start_in_the_middle_of_a_run_is_a_failed_pass(desk: Desk, tmp_path: Path) -> None:
    protocol = write_protocol(tmp_path, ONE_WARM)
    done = desk.run("measure", protocol, "--out", tmp_path / "run", env={"FAULTY_IMPORTS_ONCE": str(tmp_path / "once")})
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert statuses(desk.check(tmp_path / "run")) == [
        "batch-1 load 1 setup", "batch-1 cold 1 accepted", "batch-4 cold 1 failed",
        "batch-1 warm 1 accepted", "batch-4 warm 1 failed",
    ]  # fmt: skip
    reason = "incident: the workload faulty cannot be opened: ImportError: the library is gone"
    assert reason in rows_of(tmp_path / "run")[2]["notes"]


def test_the_time_limit_is_that_of_a_pass_and_not_of_the_imports(desk: Desk, tmp_path: Path) -> None:
    protocol = write_protocol(
        tmp_path, ("values = [1, 4]", "values = [4]"), ("warm = 2", "warm = 1\ntime_limit_seconds = 1")
    )
    done = desk.run("measure", protocol, "--out", tmp_path / "run", env={"FAULTY_IMPORT_SECONDS": "1.5"})
    assert done.returncode == 0, done.stderr
    assert len(rows_of(tmp_path / "run")) == 3


def test_after_a_failed_warm_pass_the_next_gets_a_clean_process_with_its_own_warm_up(
    desk: Desk, tmp_path: Path
) -> None:  # fmt: skip
    """Calls 1 to 3 are the cold pass, 4 to 6 the warm-up, 7 to 9 the first warm pass."""
    _, _, checked = measured(
        desk, tmp_path, ("warm = 2", "warm = 2"), fault="killed", at_batch=4, at_call=8, once=str(tmp_path / "once")
    )
    assert statuses(checked)[5:] == [
        "batch-4 warm 1 failed", "batch-1 warm 2 accepted", "batch-4 load 2 setup", "batch-4 warm 2 accepted",
    ]  # fmt: skip
    events = [event for event in events_of(tmp_path / "run") if event.get("variant_id") == "batch-4"]
    pids = {event["event"]: event["pid"] for event in events if "pid" in event}
    first = next(event["pid"] for event in events if event["event"] == "load-started")
    assert pids["load-started"] == pids["warm-up-started"] == pids["pass-started"] != first
    assert [event["event"] for event in events].count("warm-up-finished") == 2


def test_in_one_process_a_failure_gives_every_variant_a_clean_one(desk: Desk, tmp_path: Path) -> None:
    _, rows, checked = measured(
        desk, tmp_path, ("warm = 2", 'warm = 2\nisolation = "one-process"'),
        fault="killed", at_batch=4, once=str(tmp_path / "once"),
    )  # fmt: skip
    # The warm-up of batch-4 is the first that it runs.
    assert statuses(checked) == [
        "batch-1 load 1 setup", "batch-1 cold 1 accepted", "batch-1 warm 1 accepted", "batch-4 warm 1 failed",
        "batch-1 load 2 setup", "batch-1 warm 2 accepted", "batch-4 warm 2 accepted",
    ]  # fmt: skip
    assert "the warm-up before this pass failed: the worker was killed by SIGKILL" in rows[3]["notes"]


@pytest.mark.parametrize(("fault", "kept"), [("not-json", 4), ("killed-describing", 0)])
def test_where_writing_is_timed_a_failure_leaves_no_half_written_outputs(
    fault: str, kept: int, desk: Desk, tmp_path: Path
) -> None:
    """The worker that is killed has written its outputs, and nobody has heard that they are whole."""
    change = ('scope = "processing"', 'scope = "whole-chain"')
    _, rows, checked = measured(desk, tmp_path, change, ONE_WARM, fault=fault, at_batch=4, at_call=2)
    assert statuses(checked)[3] == "batch-4 cold 1 failed"
    assert not list(tmp_path.rglob("*.unfinished"))
    path = outputs(tmp_path, rows[3])
    assert len(path.read_text(encoding="utf-8").splitlines() if path.exists() else []) == kept


def test_half_a_character_is_written_as_its_escape(desk: Desk, tmp_path: Path) -> None:
    change = ('scope = "processing"', 'scope = "whole-chain"')
    _, rows, checked = measured(desk, tmp_path, change, ONE_WARM, fault="half-a-character", at_batch=4)
    assert statuses(checked)[3] == "batch-4 cold 1 rejected"
    assert outputs(tmp_path, rows[3]).read_text(encoding="utf-8").startswith('{"id": "t000", "label": "\\ud83d"}\n')


def test_a_row_is_one_line_whatever_a_workload_says_of_itself(desk: Desk, tmp_path: Path) -> None:
    _, rows, _ = measured(desk, tmp_path, fault="describes-two-lines")
    assert "options: prompt=first line⟨U+000A⟩second line" in rows[0]["notes"]
    assert len((tmp_path / "run" / "results.csv").read_bytes().splitlines()) == 1 + len(rows)


def test_a_failed_row_names_the_model_as_the_others_do(desk: Desk, tmp_path: Path) -> None:
    """Otherwise a failure would make the experiment one of several models, which compares nothing."""
    _, rows, checked = measured(
        desk, tmp_path, fault="load-raises", at_batch=4, model_revision="model-7", tokenizer_revision="tokenizer-7"
    )
    assert {(row["model_revision"], row["tokenizer_revision"]) for row in rows} == {("model-7", "tokenizer-7")}
    assert checked["experiments"] == [{"experiment_id": "letters-batch", "varied": ["batch"], "comparable": True}]


REJECTIONS = {
    "one-label-too-few": ("9", "false", "true", ""),
    "id-twice": ("12", "false", "true", ""),
    "unknown-class": ("12", "true", "false", None),
    "nan": ("12", "true", "false", None),
    "half-a-character": ("12", "true", "false", None),
    "wrong-answers": ("12", "true", "true", Decimal(1) / 6),
}


@pytest.mark.parametrize("name", REJECTIONS)
def test_a_wrong_output_is_a_rejected_pass_with_its_time(name: str, desk: Desk, tmp_path: Path) -> None:
    done, rows, checked = measured(desk, tmp_path, fault=name, at_batch=4)
    observed, ids_match, format_valid, quality = REJECTIONS[name]
    assert (done.returncode, checked["exit"]) == (1, 1)
    assert statuses(checked) == [
        "batch-1 load 1 setup", "batch-1 cold 1 accepted",
        "batch-4 load 1 setup", "batch-4 cold 1 rejected",
        "batch-1 warm 1 accepted", "batch-4 warm 1 rejected",
    ]  # fmt: skip
    for row in (rows[3], rows[5]):
        assert Decimal(row["elapsed_seconds"]) > 0
        assert (row["observed_ids"], row["ids_match"], row["format_valid"]) == (observed, ids_match, format_valid)
        assert row["corpus_accepted"] == "false"
        assert "not accepted: " in row["notes"]
        if quality == "":
            assert row["quality_value"] == ""
        elif quality is not None:
            assert abs(Decimal(row["quality_value"]) - quality) < Decimal("1e-9")
        else:
            assert Decimal(row["quality_value"]) < Decimal("0.9")
    assert {one["evidence"] for one in checked["passes"] if one["status"] == "rejected"} == {"outputs"}
