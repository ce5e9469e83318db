"""Workloads that fail: each failure is a row with its reason, each wrong output a rejected pass, and the other
variant is untouched. Every run here is a real command with real workers."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.measuring.runs import Desk, Ended, events_of, passes_of, rows_of, write_protocol

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


FAILURES = {
    "raises": ({}, ONE_WARM, "incident: ValueError: half way: the tokenizer met a text it cannot read", 0),
    "raises-late": (
        {"fault": "raises", "at_call": 3}, ONE_WARM,
        "incident: ValueError: half way: the tokenizer met a text it cannot read", 8,
    ),
    "one-label-too-many": (
        {"at_call": 2}, ONE_WARM, "incident: TypeError: the workload gave 5 labels for a batch of 4 texts", 4
    ),
    "not-json": ({"at_call": 2}, ONE_WARM, "incident: TypeError: Object of type object is not JSON serializable", 4),
    "waits": ({"at_call": 3}, SHORT, "incident: time limit of 2 s reached", 8),
    "ignores-the-end": ({}, SHORT, "incident: time limit of 2 s reached", 0),
    "killed": ({}, ONE_WARM, "incident: the worker was killed by SIGKILL; the system may have run out of memory", 0),
    "exits": ({}, ONE_WARM, "incident: SystemExit: 3", 0),
    "overflow": (
        {"bytes": 8 << 30, "at_call": 2}, ("warm = 2", f"warm = 1\nmemory_limit_bytes = {2 << 30}"),
        "incident: memory overflow: MemoryError", 4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_a_row(name: str, desk: Desk, tmp_path: Path) -> None:
    options, change, reason, reached = FAILURES[name]
    done, rows, checked = measured(desk, tmp_path, change, **({"fault": name, "at_batch": 4} | options))
    assert (done.returncode, checked["exit"]) == (1, 1)
    # The second load of batch-4 is the clean process that the pass after the failure got.
    expected = [
        "batch-1 load 1 setup", "batch-1 cold 1 accepted",
        "batch-4 load 1 setup", "batch-4 cold 1 failed",
        "batch-1 warm 1 accepted",
        "batch-4 load 2 setup", "batch-4 warm 1 failed",
    ]  # fmt: skip
    warm_up_fails = "at_call" not in options or options["at_call"] <= 3
    assert warm_up_fails
    assert statuses(checked) == expected
    failed = rows[3]
    assert failed["elapsed_seconds"] == ""
    assert failed["corpus_accepted"] == "false"
    assert [failed[column] for column in MEASURED] == [""] * 4
    assert (failed["batch"], failed["expected_ids"], failed["context"]) == ("4", "12", "64")
    assert reason in failed["notes"]
    assert f"incident: the warm-up before this pass failed: {reason_of_a_warm_up(name, reason)}" in rows[6]["notes"]
    kept = outputs(tmp_path, failed)
    assert kept.exists() == (reached > 0)
    if reached:
        ids = [json.loads(line)["id"] for line in kept.read_text(encoding="utf-8").splitlines()]
        assert ids == [f"t{number:03d}" for number in range(reached)]
        assert "outputs reached before the failure outputs/batch-4-cold-1.jsonl" in failed["notes"]
    assert not list((tmp_path / "run").rglob("*.unfinished"))
    assert name in done.stderr or reason.removeprefix("incident: ") in done.stderr


def reason_of_a_warm_up(name: str, reason: str) -> str:
    """A warm-up writes no outputs, so that what cannot be written is met where its pass would be, or not at all."""
    told = {"exits": "the worker ended with exit status 3"}
    return told.get(name, reason.removeprefix("incident: "))


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
