"""Filters choose rows by what stands in them, and counts stay exact."""

import pytest

from gpucost.findings import Severity
from gpucost.selection import Choice, chosen_rows, names_in
from gpucost.verdicts import Status
from tests.rows import failed, five, reviewed, row

FOUND = reviewed(
    *five(quality_tolerance="0.01"),
    *five(experiment_id="exp-2", variant_id="b16 ", batch="16"),
    failed(variant_id="b64", batch="64", phase="cold", warmup_iterations="0"),
    row(run_index="x"),
)


@pytest.mark.parametrize(
    ("choice", "rows"),
    [
        (Choice(), list(range(12))),
        (Choice(experiments=["exp-2"]), [5, 6, 7, 8, 9]),
        (Choice(variants=["b16"]), []),
        (Choice(variants=["b16 ", "b64"]), [5, 6, 7, 8, 9, 10]),
        (Choice(phases=["cold"]), [10]),
        (Choice(statuses=[Status.FAILED, Status.INVALID]), [10, 11]),
        (Choice(severities=[Severity.ERROR]), [11]),
        (Choice(severities=[Severity.WARNING], experiments=["exp-2"]), [5, 6, 7, 8, 9]),
        (Choice(severities=[Severity.NOTICE], experiments=["exp-1"]), [0, 1, 2, 3, 4]),
    ],
)
def test_a_choice_gives_its_rows_in_file_order(choice: Choice, rows: list[int]) -> None:
    assert chosen_rows(FOUND, choice).tolist() == rows


def test_names_are_offered_in_the_order_of_their_rows() -> None:
    assert names_in(FOUND, "variant_id") == ["b8", "b16 ", "b64"]
    assert names_in(FOUND, "variant_id", ["exp-2"]) == ["b16 "]
