"""What the protocol file of a run's folder adds to the verdicts: the tolerance, and a metric's direction."""

import tomllib
from decimal import Decimal

import pytest

from gpucost.announced import read_announced
from gpucost.folder import RunFolder
from gpucost.language import translator
from gpucost.review import Review, Source, review
from gpucost.sentences import failing_conditions
from tests.rows import codes, csv_of, row

OWN_METRIC = b'[quality]\nmetric = "tickets-kept"\ndirection = "less"\n'
TOLERANCE = b'[quality]\nmetric = "macro-f1"\ntolerance = 0.02\nreference_value = 0.95\n'


def folder(protocol: bytes, **cells: str) -> Review:
    """The review of a folder of one untimed-outputs row, with a protocol file."""
    return review(
        [Source.of_folder(RunFolder("run", {"results.csv": csv_of([row(**cells)]), "protocol.toml": protocol}))]
    )


@pytest.mark.parametrize(("value", "holds"), [("0.93", True), ("0.92999", False)])
def test_the_tolerance_is_one_more_condition(value: str, holds: bool) -> None:
    found = folder(
        TOLERANCE, quality_value=value, quality_threshold="0.9", corpus_accepted="true" if holds else "false"
    )
    failing = failing_conditions(found, 0, translator("en"))
    assert failing == ([] if holds else ["macro-f1 0.92999 drops by 0.02001 from the reference 0.95; 0.02 is allowed"])
    assert "tolerance-unchecked" not in codes(found)


def test_the_tolerance_never_softens_the_threshold() -> None:
    found = folder(TOLERANCE, quality_value="0.94", quality_threshold="0.945", corpus_accepted="false")
    assert failing_conditions(found, 0, translator("en")) == ["macro-f1 0.94 is below the threshold 0.945"]


@pytest.mark.parametrize(("value", "failing"), [("3", []), ("4", ["tickets-kept 4 is above the limit 3"])])
def test_a_metric_of_ones_own_has_the_announced_direction(value: str, failing: list[str]) -> None:
    cells = {
        "quality_metric": "tickets-kept",
        "quality_threshold": "3",
        "quality_value": value,
        "quality_tolerance": "",
    }
    found = folder(OWN_METRIC, **cells, corpus_accepted="false")
    assert failing_conditions(found, 0, translator("en")) == failing
    assert "metric-unknown" not in codes(found)


def test_without_its_protocol_the_same_metric_is_not_taken_as_met() -> None:
    cells = {"quality_metric": "tickets-kept", "quality_threshold": "3", "quality_value": "3", "quality_tolerance": ""}
    found = folder(b"", **cells, corpus_accepted="false")
    assert "metric-unknown" in codes(found)
    assert "it is not known whether more or less" in failing_conditions(found, 0, translator("en"))[0]


def test_only_what_is_written_and_of_the_right_type_is_announced() -> None:
    said = read_announced(
        b'[output]\nclasses = "A"\n[quality]\ntolerance = true\nreference_value = 1\ndirection = "up"\n'
    )
    assert (said.classes, said.tolerance, said.reference_value, said.direction) == (None, None, Decimal(1), None)
    with pytest.raises(tomllib.TOMLDecodeError):
        read_announced(b"classes = [")
