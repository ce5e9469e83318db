"""The example that ships is what the protocol asks of a run, and says what it is said to show."""

import csv
import hashlib
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from gpucost.audit import control_json
from gpucost.folder import EXPECTED_IDS, PROTOCOL, REFERENCE, SEAL, RunFolder, control_name
from gpucost.offers import example_tariffs
from gpucost.review import Review, Source, review
from gpucost.verdicts import Status

EXAMPLE = Path(__file__).parent.parent / "gpucost" / "example"
FOLDERS = ("massive-en-batch-cpu", "massive-fr-batch-cpu")


def reviewed(name: str) -> tuple[RunFolder, Review]:
    folder = RunFolder.on_disk(EXAMPLE / name)
    return folder, review([Source.of_folder(folder)], example_tariffs())


def test_it_shows_accepted_rejected_and_failed_passes() -> None:
    counts = [reviewed(name)[1].counts for name in FOLDERS]
    assert [counts[0][s] for s in Status] == [18, 0, 0, 0, 3]
    assert [counts[1][s] for s in Status] == [0, 18, 6, 0, 9]


@pytest.mark.parametrize("name", FOLDERS)
def test_every_timed_pass_is_recomputed_from_its_outputs(name: str) -> None:
    folder, found = reviewed(name)
    assert {EXPECTED_IDS, REFERENCE, PROTOCOL, SEAL, "environment.json", "events.jsonl"} <= set(folder.pieces)
    rows = range(len(found.table))
    timed = [row for row in rows if found.statuses[row] in (Status.ACCEPTED, Status.REJECTED)]
    assert len(timed) == 18
    assert all(found.evidence_of(row) == "outputs" for row in timed)
    assert found.findings == ()


@pytest.mark.parametrize("name", FOLDERS)
def test_its_controls_are_what_the_audit_writes(name: str) -> None:
    folder, found = reviewed(name)
    order = folder.seal["input_order_sha256"]
    assert len(found.evidence) == 18
    for row, evidence in found.evidence.items():
        run = int(found.table.text(row, "run_index"))
        control = control_name(found.table.text(row, "variant_id"), found.table.text(row, "phase"), run)
        written = control_json(
            evidence.report, input_order_sha256=order, outputs_sha256=evidence.outputs_sha256
        )  # fmt: skip
        assert folder.pieces[control] == written


@pytest.mark.parametrize("name", FOLDERS)
def test_the_seal_is_that_of_its_pieces(name: str) -> None:
    """The hashes of the seal, computed again from the files beside it, by nothing of gpucost's."""
    path = EXAMPLE / name
    seal = json.loads((path / "seal.json").read_text(encoding="utf-8"))
    protocol = hashlib.sha256((path / "protocol.toml").read_bytes()).hexdigest()
    assert seal["protocol_sha256"] == protocol
    ids = (path / "expected-ids.txt").read_text(encoding="utf-8").split()
    assert seal["input_order_sha256"] == hashlib.sha256("".join(f"{one}\n" for one in ids).encode()).hexdigest()
    pieces = (seal["texts_sha256"], *(hashlib.sha256((path / piece).read_bytes()).hexdigest()
                                     for piece in ("expected-ids.txt", "reference.jsonl")))  # fmt: skip
    revision = hashlib.sha256("".join(f"{one}\n" for one in pieces).encode()).hexdigest()
    assert seal["corpus_revision"] == f"sha256:{revision}"
    with (path / "results.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            assert f"protocol sha256 {protocol}, sealed {seal['sealed_at']}" in row["notes"]
            assert row["corpus_revision"] == seal["corpus_revision"]
            if row["observed_ids"]:
                outputs = re.search(r"outputs (\S+) sha256 ([0-9a-f]{64})", row["notes"])
                assert outputs is not None
                assert hashlib.sha256((path / outputs[1]).read_bytes()).hexdigest() == outputs[2]


def test_its_medians_are_those_of_an_independent_script() -> None:
    """Medians of accepted passes, from the raw rows by the standard library alone, against `check --json`."""
    done = subprocess.run(
        [sys.executable, "-m", "gpucost", "check", str(EXAMPLE / FOLDERS[0]), "--json"],
        cwd=EXAMPLE.parent.parent, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    durations: dict[tuple[str, str], list[float]] = {}
    with (EXAMPLE / FOLDERS[0] / "results.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["corpus_accepted"] == "true":
                durations.setdefault((row["variant_id"], row["phase"]), []).append(float(row["elapsed_seconds"]))
    said = {
        (one["variant_id"], one["phase"]): one["median_seconds"]
        for one in json.loads(done.stdout)["variants"]
        if one["phase"] != "load"
    }
    assert {key: statistics.median(values) for key, values in durations.items()} == pytest.approx(said, rel=1e-12)
    assert len(said) == 6


def test_nothing_of_the_machine_that_measured_is_in_it() -> None:
    for path in EXAMPLE.rglob("*"):
        if path.is_file():
            assert not re.search(rb"(?<![\w<.])/(root|home|tmp|work|usr)/", path.read_bytes()), path


def test_its_prices_are_called_an_example() -> None:
    assert example_tariffs().is_example
    assert example_tariffs().findings == ()


def test_the_corpus_keeps_its_licence_and_its_attribution() -> None:
    assert "Attribution 4.0" in (EXAMPLE / "LICENSE-CC-BY-4.0").read_text(encoding="utf-8")
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in readme
    assert "FitzGerald" in readme
