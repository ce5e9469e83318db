"""Verdicts: statuses, figures and comparability, hand-worked, and what no order of rows may change."""

import json
from decimal import Decimal
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpucost.language import translator
from gpucost.report import review_json
from gpucost.review import Source, review
from gpucost.verdicts import Status
from tests.rows import csv_of, failed, five, loading, reviewed, row, words


def report(*rows: dict[str, str]) -> dict[str, object]:
    answer: dict[str, object] = json.loads(b"".join(review_json(reviewed(*rows), translator("en"))))
    return answer


@pytest.mark.parametrize(
    ("cells", "status"),
    [
        (row(), "accepted"),
        (row(quality_value="0.9"), "accepted"),
        (row(quality_value="0.90000000000000000000"), "accepted"),
        (row(quality_metric="error-rate", quality_threshold="0.1", quality_value="0.1"), "accepted"),
        (row(quality_metric="error-rate", quality_threshold="0.1", quality_value="0.11"), "invalid"),
        (row(quality_metric="MACRO F1"), "accepted"),
        (row(quality_metric="own"), "rejected"),
        (row(corpus_accepted="false"), "rejected"),
        (row(corpus_accepted=""), "rejected"),
        (row(quality_value=""), "rejected"),
        (row(expected_ids=""), "rejected"),
        (row(expected_ids="0", observed_ids="0"), "invalid"),
        (row(quality_tolerance="0.5"), "accepted"),
        (row(elapsed_seconds="", corpus_accepted="false"), "failed"),
        (row(elapsed_seconds="", corpus_accepted=""), "failed"),
        (row(elapsed_seconds="-1"), "invalid"),
        (row(notes="throttled, the fan had stopped"), "accepted"),
        (loading(), "setup"),
        (loading(elapsed_seconds=""), "failed"),
        (row(phase="load "), "accepted"),
        (failed(), "failed"),
        (failed(elapsed_seconds="0"), "invalid"),
    ],
)
def test_the_status_of_one_row(cells: dict[str, str], status: str) -> None:
    assert words(reviewed(cells)) == [status]


def test_figures_are_those_of_accepted_passes_alone() -> None:
    found = reviewed(
        row(run_index="1", elapsed_seconds="12.5"),
        row(run_index="2", elapsed_seconds="10"),
        row(run_index="3", elapsed_seconds="1", corpus_accepted="false"),
        failed(run_index="4"),
        row(run_index="5", elapsed_seconds="11.1"),
        row(run_index="6", elapsed_seconds="10.9"),
    )
    (figures,) = found.variants
    assert (len(figures.rows), len(figures.accepted_rows)) == (6, 4)
    assert (figures.median_seconds, figures.min_seconds, figures.max_seconds) == (
        Decimal("11.0"),
        Decimal(10),
        Decimal("12.5"),
    )


def test_durations_that_are_one_float_stay_two_decimals() -> None:
    near = ["0.30000000000000004", "0.30000000000000003", "0.30000000000000005"]
    found = reviewed(*(row(run_index=str(run), elapsed_seconds=text) for run, text in enumerate(near)))
    assert found.variants[0].median_seconds == Decimal("0.30000000000000004")


@given(st.lists(st.decimals("0.001", "100", places=6), min_size=1, max_size=12))
def test_the_median_is_the_exact_one(seconds: list[Decimal]) -> None:
    found = reviewed(*(row(run_index=str(run), elapsed_seconds=str(s)) for run, s in enumerate(seconds)))
    assert found.variants[0].median_seconds == median(seconds)


MIXED = [
    *five(),
    *five(variant_id="b16", batch="16", elapsed_seconds="7.3"),
    failed(variant_id="b128", batch="128"),
    row(variant_id="b16", batch="16", run_index="6", quality_value="0.5", corpus_accepted="false"),
    loading(),
]


@settings(max_examples=40)
@given(st.permutations(range(len(MIXED))))
def test_the_order_of_rows_changes_no_verdict(order: list[int]) -> None:
    usual, other = reviewed(*MIXED), reviewed(*(MIXED[position] for position in order))
    assert [other.statuses[order.index(position)] for position in range(len(MIXED))] == usual.statuses.tolist()
    assert {(v.variant_id, v.phase, v.median_seconds, len(v.rows)) for v in other.variants} == {
        (v.variant_id, v.phase, v.median_seconds, len(v.rows)) for v in usual.variants
    }
    assert [(e.varied, e.comparable) for e in other.experiments] == [
        (e.varied, e.comparable) for e in usual.experiments
    ]
    assert other.counts == usual.counts


def test_an_experiment_with_one_announced_variable_is_comparable_and_ranked() -> None:
    found = reviewed(*MIXED)
    (verdict,) = found.experiments
    assert (verdict.varied, verdict.comparable) == (("batch",), True)
    assert [(v.variant_id, v.median_seconds) for v in found.ranking("exp-1")] == [
        ("b16", Decimal("7.3")),
        ("b8", Decimal("12.481")),
    ]


@pytest.mark.parametrize(
    ("second", "varied"),
    [
        ({"batch": "16", "context": "256"}, ("batch", "context")),
        ({"batch": "16", "torch_version": "2.14"}, ("torch_version", "batch")),
        ({"batch": "16", "quality_threshold": "0.8"}, ("batch", "quality_threshold")),
        ({"quality_threshold": "0.90"}, ()),
        ({"batch": "8.0"}, ()),
        ({"torch_version": ""}, ("torch_version",)),
    ],
)
def test_what_varies_decides_and_nothing_is_ranked(second: dict[str, str], varied: tuple[str, ...]) -> None:
    found = reviewed(*five(), *five(variant_id="other", **second))
    (verdict,) = found.experiments
    assert (verdict.varied, verdict.comparable) == (varied, False)
    assert found.ranking("exp-1") == ()


def test_an_empty_cell_of_a_failed_pass_is_ignored_and_a_filled_one_is_not() -> None:
    empty = reviewed(
        *five(), *five(variant_id="b16", batch="16"), failed(variant_id="b64", batch="64", torch_version="")
    )
    other = reviewed(
        *five(), *five(variant_id="b16", batch="16"), failed(variant_id="b64", batch="64", torch_version="2")
    )
    assert empty.experiments[0].comparable
    assert other.experiments[0].varied == ("torch_version", "batch")


def test_invalid_and_loading_rows_take_no_part_in_a_comparison() -> None:
    found = reviewed(*five(), *five(variant_id="b16", batch="16"), row(run_index="x", seed="7"), loading(seed="7"))
    assert found.experiments[0].varied == ("batch",)


def test_warm_ups_that_differ_rank_nothing() -> None:
    found = reviewed(*five(), *five(variant_id="b16", batch="16", warmup_iterations="3"))
    assert found.experiments[0].comparable
    assert found.ranking("exp-1") == ()


def test_the_same_pass_over_two_files_is_an_error_on_the_later_one() -> None:
    data = csv_of(five())
    found = review([Source("a.csv", data), Source("b.csv", data)])
    assert found.counts[Status.ACCEPTED] == 5
    assert found.counts[Status.INVALID] == 5
    (finding,) = [f for f in found.findings if f.rule.code == "pass-repeated" and f.rows[0] == 5]
    assert finding.details["first"] == "a.csv:2"


def test_the_json_of_a_small_review_is_whole() -> None:
    answer = report(row(quality_tolerance=""), loading(run_index="1"))
    assert answer["counts"] == {"accepted": 1, "rejected": 0, "failed": 0, "invalid": 0, "setup": 1}
    assert answer["passes"] == [
        {
            "file": "results.csv", "row": 1, "line": 2, "experiment_id": "exp-1", "variant_id": "b8", "phase": "warm",
            "run_index": 1, "status": "accepted", "evidence": "row",
        },
        {
            "file": "results.csv", "row": 2, "line": 3, "experiment_id": "exp-1", "variant_id": "b8", "phase": "load",
            "run_index": 1, "status": "setup", "evidence": "row",
        },
    ]  # fmt: skip
    assert answer["variants"] == [
        {
            "experiment_id": "exp-1", "variant_id": "b8", "phase": "warm", "rows": 1, "accepted": 1,
            "median_seconds": 12.481, "min_seconds": 12.481, "max_seconds": 12.481,
        },
        {
            "experiment_id": "exp-1", "variant_id": "b8", "phase": "load", "rows": 1, "accepted": 0,
            "median_seconds": None, "min_seconds": None, "max_seconds": None,
        },
    ]  # fmt: skip
    assert answer["experiments"] == [{"experiment_id": "exp-1", "varied": [], "comparable": False}]
    findings = answer["findings"]
    assert isinstance(findings, list)
    assert [(f["code"], f["severity"], f["row"], f["column"]) for f in findings] == [
        ("warm-passes-few", "warning", None, "run_index"),
        ("nothing-varies", "notice", None, "variant_id"),
    ]
