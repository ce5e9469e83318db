"""Measured packages: which whole package each variant ran on, which offer that was, and what was accepted on it.

A quantity belongs to the very package of its rows (GPU, days, lots, total) and to no other. It is attached to an
offer only where the price matches exactly one; it is never added over variants or experiments, never divided by where
a finding stands against it, and never set beside one of another useful work. Protocol, section 5.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gpucost.columns import USEFUL_WORK
from gpucost.findings import Finding, Phrase, Rows, Severity
from gpucost.language import N_
from gpucost.offers import Offer, OfferRow, Package, Tariffs, matching_offers
from gpucost.review import Review
from gpucost.verdicts import Status

QUANTITY = "accepted_unique_corpora"
PACKAGE_COLUMNS = ("gpu_model", "duration_days", "lots", "package_total_usd_minor")
_ABOUT_QUANTITY = frozenset((QUANTITY, *PACKAGE_COLUMNS))


@dataclass(frozen=True, slots=True)
class UsefulWork:
    """What the accepted corpora of a variant were: the columns of `USEFUL_WORK`, in their order, as written."""

    values: tuple[str, ...]

    def named(self) -> dict[str, str]:
        """The value of each column."""
        return dict(zip(USEFUL_WORK, self.values, strict=True))


@dataclass(frozen=True, slots=True)
class MeasuredPackage:
    """The rows of one variant that state one package.

    `total_usd_minor` is the whole price in US cents, one expense whatever the number of rows. `quantity` is the number
    of distinct accepted corpora that these rows state alike, None where they state none or several. `findings` are
    those against the quantity or its package. `offers` are the offers whose price this is.
    """

    experiment_id: str
    variant_id: str
    work: UsefulWork
    gpu_model: str
    duration_days: int
    lots: int
    total_usd_minor: int
    rows: Rows
    accepted_passes: int
    gpus_used: tuple[int, ...]
    quantity: int | None
    findings: tuple[Finding, ...]
    offers: tuple[Offer, ...]
    from_outputs: bool

    @property
    def offer(self) -> Offer | None:
        """The one offer whose price this is; None where none or several match."""
        return self.offers[0] if len(self.offers) == 1 else None

    def obstacle(self) -> Phrase | None:
        """Why the price is not divided by the quantity, None where it is."""
        if self.quantity is None:
            return Phrase(N_("no quantity was recorded for this package"))
        if self.findings:
            return Phrase(N_("the quantity carries a finding: {code}"), {"code": self.findings[0].rule.code})
        if not self.accepted_passes:
            return Phrase(N_("no pass of this variant was accepted"))
        if self.quantity == 0:
            return Phrase(N_("0 corpora were accepted"))
        if not self.offers:
            return Phrase(N_("no offer of the tariff has this price"))
        if len(self.offers) > 1:
            return Phrase(N_("several offers have this price: which one it was cannot be told"))
        return None


def measured_packages(review: Review, tariffs: Tariffs) -> tuple[MeasuredPackage, ...]:
    """Every package that the readable, valid rows of a review state, variant by variant."""
    table = review.table
    usable = table.readable & (review.statuses != Status.INVALID)
    for name in PACKAGE_COLUMNS:
        usable &= table[name].recorded
    names = ("experiment_id", "variant_id", *USEFUL_WORK, *PACKAGE_COLUMNS)
    combinations = table.combinations(names, np.flatnonzero(usable), canonical=True)
    groups = combinations.rows_of(range(len(combinations.members)))
    return tuple(_measured(review, tariffs, rows) for rows in sorted(groups, key=lambda rows: int(rows[0])))


def _measured(review: Review, tariffs: Tariffs, rows: Rows) -> MeasuredPackage:
    table, first = review.table, int(rows[0])
    days, lots, total = (_integer(review, first, name) for name in PACKAGE_COLUMNS[1:])
    model = table.text(first, "gpu_model")
    counted = table[QUANTITY]
    stated = {counted.cells[code].value for code in counted.codes[rows].tolist()} - {None}
    quantity = next(iter(stated)) if len(stated) == 1 else None
    about = tuple(
        finding
        for finding in review.findings
        if finding.column in _ABOUT_QUANTITY
        and finding.severity is not Severity.NOTICE
        and len(finding.rows)
        and np.isin(rows, finding.rows).any()
    )
    used = table["gpu_count"]
    gpus = sorted({v for c in used.codes[rows].tolist() if isinstance(v := used.cells[c].value, int)})
    accepted = rows[review.statuses[rows] == Status.ACCEPTED]
    return MeasuredPackage(
        experiment_id=table.text(first, "experiment_id"),
        variant_id=table.text(first, "variant_id"),
        work=UsefulWork(tuple(table.cell(first, name).canonical for name in USEFUL_WORK)),
        gpu_model=model,
        duration_days=days,
        lots=lots,
        total_usd_minor=total,
        rows=rows,
        accepted_passes=len(accepted),
        gpus_used=tuple(gpus),
        quantity=quantity if isinstance(quantity, int) else None,
        findings=about,
        offers=matching_offers(tariffs, model, days, lots, total),
        from_outputs=bool(len(accepted)) and all(review.evidence_of(row) == "outputs" for row in accepted.tolist()),
    )


def _integer(review: Review, row: int, name: str) -> int:
    value = review.cell(row, name).value
    if not isinstance(value, int):
        message = f"{name} of a valid row is a whole number"
        raise TypeError(message)
    return value


def useful_works(measured: Iterable[MeasuredPackage]) -> tuple[UsefulWork, ...]:
    """The distinct useful works that carry a quantity, in order of appearance."""
    return tuple(dict.fromkeys(one.work for one in measured if one.quantity is not None))


@dataclass(frozen=True, slots=True)
class PackageLine:
    """One whole package beside the evidence that stands behind it.

    `measured` are the variants that ran on this very package. `quantity` is the one whose number the price is divided
    by; a package on which several variants state one has a line for each, and they are never added. `unit_cost` is a
    decimal text of US cents per accepted corpus, None with its `reason`. A typed quantity is
    `package.accepted_results`, and is shown as typed.
    """

    package: Package
    measured: tuple[MeasuredPackage, ...]
    quantity: MeasuredPackage | None
    unit_cost: str | None
    reason: Phrase | None


def package_lines(
    prices: Sequence[OfferRow],
    lots: int,
    measured: Sequence[MeasuredPackage],
    work: UsefulWork | None,
    typed: int | None = None,
) -> tuple[PackageLine, ...]:
    """The packages of some prices and a number of lots, each with its own evidence for one useful work.

    `typed` is a quantity that a person typed for one period; it takes the place of the measured ones.
    """
    return tuple(line for price in prices for line in _lines(Package(price, lots, typed), measured, work))


def _lines(package: Package, measured: Sequence[MeasuredPackage], work: UsefulWork | None) -> Iterator[PackageLine]:
    price = package.price
    own = tuple(
        one
        for one in measured
        if one.offer == price.offer
        and one.duration_days == price.duration_days
        and one.lots == package.lots
        and (work is None or one.work == work)
    )
    if package.accepted_results is not None:
        cost = package.usd_minor_per_accepted_result
        yield PackageLine(package, own, None, cost, None if cost else Phrase(N_("0 corpora were accepted")))
        return
    stated = [one for one in own if one.quantity is not None]
    if not stated:
        reason = own[0].obstacle() if own else Phrase(N_("nothing was measured on this package"))
        yield PackageLine(package, own, None, None, reason)
    for one in stated:
        obstacle = one.obstacle()
        counted = Package(price, package.lots, one.quantity)
        cost = counted.usd_minor_per_accepted_result if obstacle is None else None
        yield PackageLine(package, (one,), one, cost, obstacle)
