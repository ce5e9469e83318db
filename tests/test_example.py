"""The example that ships is what the protocol asks of a run, and says what it is said to show."""

from pathlib import Path

import pytest

from gpucost.audit import control_json
from gpucost.folder import EXPECTED_IDS, REFERENCE, RunFolder, control_name
from gpucost.offers import example_tariffs
from gpucost.review import Review, Source, review
from gpucost.verdicts import Status

EXAMPLE = Path(__file__).parent.parent / "gpucost" / "example"
FOLDERS = ("massive-en-batch-cpu", "massive-fr-batch-cpu")


def reviewed(name: str) -> tuple[RunFolder, Review]:
    folder = RunFolder.on_disk(EXAMPLE / name)
    return folder, review([Source.of_folder(folder)], example_tariffs())


def test_it_shows_an_accepted_a_rejected_and_a_failed_pass() -> None:
    counts = [reviewed(name)[1].counts for name in FOLDERS]
    assert [counts[0][s] for s in Status] == [19, 0, 1, 0, 0]
    assert [counts[1][s] for s in Status] == [0, 19, 1, 0, 0]


@pytest.mark.parametrize("name", FOLDERS)
def test_every_timed_pass_is_recomputed_from_its_outputs(name: str) -> None:
    folder, found = reviewed(name)
    assert {EXPECTED_IDS, REFERENCE} <= set(folder.pieces)
    timed = [row for row in range(len(found.table)) if found.table.text(row, "elapsed_seconds")]
    assert len(timed) == 19
    assert all(found.evidence_of(row) == "outputs" for row in timed)
    assert {finding.rule.code for finding in found.findings} == {"tolerance-unchecked"}


@pytest.mark.parametrize("name", FOLDERS)
def test_its_controls_are_what_the_audit_writes(name: str) -> None:
    folder, found = reviewed(name)
    for row, evidence in found.evidence.items():
        run = int(found.table.text(row, "run_index"))
        control = control_name(found.table.text(row, "variant_id"), found.table.text(row, "phase"), run)
        assert folder.pieces[control] == control_json(evidence.report)


def test_its_prices_are_called_an_example() -> None:
    assert example_tariffs().is_example
    assert example_tariffs().findings == ()


def test_the_corpus_keeps_its_licence_and_its_attribution() -> None:
    assert "Attribution 4.0" in (EXAMPLE / "LICENSE-CC-BY-4.0").read_text(encoding="utf-8")
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in readme
    assert "FitzGerald" in readme
