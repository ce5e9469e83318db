"""Quantities: attached to their very package, divided only where nothing stands against them, never added."""

import pytest

from gpucost.offers import read_tariffs
from gpucost.quantities import measured_packages, package_lines, useful_works
from gpucost.review import Review, Source, review
from tests.rows import csv_of, failed, five

TARIFF = (
    b"provider,gpu_model,gpus_per_lot,duration_days,price_usd_minor_per_lot,valid_from,source\n"
    b"north,B200,2,3,129600,2026-01-01,test price\n"
    b"north,B200,2,7,259200,2026-01-01,test price\n"
)
TARIFFS = read_tariffs("t.csv", TARIFF)


def of(*rows: dict[str, str]) -> Review:
    return review([Source("results.csv", csv_of(rows))], TARIFFS)


def lines(found: Review, lots: int = 1, typed: int | None = None) -> dict[int, tuple[str | None, str]]:
    """By days: the unit cost, and why there is none."""
    measured = measured_packages(found, TARIFFS)
    works = useful_works(measured)
    made = package_lines(TARIFFS.offers, lots, measured, works[0] if works else None, typed)
    return {
        line.package.price.duration_days: (line.unit_cost, line.reason.template if line.reason else "") for line in made
    }


def test_a_quantity_divides_the_price_of_its_own_package_only() -> None:
    found = of(*five(accepted_unique_corpora="7"))
    assert lines(found) == {3: ("18514.2857", ""), 7: (None, "nothing was measured on this package")}


def test_another_number_of_lots_is_another_package() -> None:
    found = of(*five(accepted_unique_corpora="7"))
    assert lines(found, lots=2)[3] == (None, "nothing was measured on this package")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"accepted_unique_corpora": ""}, "no quantity was recorded for this package"),
        ({"accepted_unique_corpora": "5"}, "the quantity carries a finding: {code}"),
        ({"accepted_unique_corpora": "0"}, "0 corpora were accepted"),
        ({"package_total_usd_minor": "129601", "accepted_unique_corpora": "7"}, "nothing was measured on this package"),
    ],
)
def test_a_quantity_that_cannot_be_used_gives_no_unit_cost(changes: dict[str, str], why: str) -> None:
    assert lines(of(*five(**changes)))[3] == (None, why)


def test_quantities_of_two_variants_stand_on_lines_of_their_own_and_are_not_added() -> None:
    found = of(*five(accepted_unique_corpora="7"), *five(variant_id="b16", batch="16", accepted_unique_corpora="9"))
    measured = measured_packages(found, TARIFFS)
    made = package_lines(TARIFFS.offers[:1], 1, measured, useful_works(measured)[0])
    assert [(line.measured[0].variant_id, line.unit_cost) for line in made] == [("b8", "18514.2857"), ("b16", "14400")]


def test_quantities_of_different_work_are_told_apart() -> None:
    found = of(
        *five(accepted_unique_corpora="7"),
        *five(experiment_id="exp-2", corpus_revision="sha256:other", accepted_unique_corpora="9"),
    )
    measured = measured_packages(found, TARIFFS)
    works = useful_works(measured)
    assert len(works) == 2
    costs = [package_lines(TARIFFS.offers[:1], 1, measured, work)[0].unit_cost for work in works]
    assert costs == ["18514.2857", "14400"]


def test_a_price_that_two_offers_have_belongs_to_neither() -> None:
    two = read_tariffs("t.csv", TARIFF + b"south,B200,2,3,129600,2026-01-01,test price\n")
    (one,) = measured_packages(review([Source("r.csv", csv_of(five(accepted_unique_corpora="7")))], two), two)
    assert one.offer is None
    assert len(one.offers) == 2
    assert one.obstacle() is not None


def test_a_failed_variant_states_its_package_and_no_unit_cost() -> None:
    found = of(failed(accepted_unique_corpora="0"))
    (one,) = measured_packages(found, TARIFFS)
    assert (one.accepted_passes, one.quantity) == (0, 0)
    assert lines(found)[3][0] is None


def test_a_typed_quantity_takes_the_place_of_the_measured_one() -> None:
    assert lines(of(*five(accepted_unique_corpora="7")), typed=4)[3] == ("32400", "")
