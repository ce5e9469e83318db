"""Rules over the package of a row against a tariff. Contract, sections 3 and 5; protocol, section 5.

They never change the status of a pass: a price says nothing about a corpus.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpucost.cells import visible
from gpucost.findings import Detail, Finding, Rule, Scope, Severity
from gpucost.language import N_
from gpucost.offers import Offer, Tariffs, matching_offers
from gpucost.rules.examination import Problem, said_once
from gpucost.table import Cells, Table

PRICE_COLUMNS = ("experiment_id", "gpu_model", "gpu_count", "duration_days", "lots", "package_total_usd_minor")


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRule(Rule):
    """A rule over the package of a row. With `once`, what holds for many rows of an experiment is said once."""

    examine: Callable[[Cells, Tariffs], Iterator[Problem]]
    once: bool = False


def examine_prices(rule: PriceRule, table: Table, tariffs: Tariffs) -> Iterator[Finding]:
    """Every finding of a price rule, one per distinct package and experiment."""
    combinations = table.combinations(PRICE_COLUMNS)
    problems = [
        (index, problem)
        for index, cells in enumerate(table.cells_of(PRICE_COLUMNS, combinations.members))
        if cells is not None
        for problem in rule.examine(cells, tariffs)
    ]
    found = combinations.rows_of([index for index, _ in problems])
    for (_, problem), rows in zip(problems, found, strict=True):
        if rule.once:
            yield said_once(rule, rows, visible(table.text(int(rows[0]), "experiment_id"), 80), problem)
        else:
            yield Finding(
                rule=rule, column=problem.column, value=problem.value, details=problem.details, rows=rows,
                each_row=True,
            )  # fmt: skip


def _offers(cells: Cells, tariffs: Tariffs) -> dict[Offer, int]:
    """The offers of this row's GPU and days, with the price of one lot in US cents."""
    model, days = cells.text("gpu_model"), cells.integer("duration_days")
    return {
        row.offer: row.price_usd_minor_per_lot
        for row in tariffs.offers
        if row.offer.gpu_model == model and row.duration_days == days
    }


def _package(cells: Cells) -> tuple[str, int, int, int] | None:
    days, lots, total = (cells.integer(name) for name in ("duration_days", "lots", "package_total_usd_minor"))
    model = cells.text("gpu_model")
    return (model, days, lots, total) if model and days is not None and lots is not None and total is not None else None


def _total_differs(cells: Cells, tariffs: Tariffs) -> Iterator[Problem]:
    package, offers = _package(cells), _offers(cells, tariffs)
    if package is None or not offers or matching_offers(tariffs, *package):
        return
    model, days, lots, total = package
    due = " / ".join(f"{lots} × {price} = {lots * price}" for price in sorted(set(offers.values())))
    details: dict[str, Detail] = {"model": visible(model, 60), "days": str(days), "lots": str(lots), "due": due}
    yield Problem("package_total_usd_minor", str(total), details)


def _offer_unknown(cells: Cells, tariffs: Tariffs) -> Iterator[Problem]:
    package = _package(cells)
    if package is not None and not _offers(cells, tariffs):
        yield Problem("gpu_model", package[0], {"days": str(package[1])})


def _gpus_billed(cells: Cells, tariffs: Tariffs) -> tuple[int, int, int] | None:
    """GPUs used, and the fewest and most that the lots bill over the offers that fit this package."""
    package, used, lots = _package(cells), cells.integer("gpu_count"), cells.integer("lots")
    if used is None or lots is None:
        return None
    offers = (matching_offers(tariffs, *package) if package else ()) or tuple(_offers(cells, tariffs))
    billed = [lots * offer.gpus_per_lot for offer in offers]
    return (used, min(billed), max(billed)) if billed else None


def _more_than_billed(cells: Cells, tariffs: Tariffs) -> Iterator[Problem]:
    counted = _gpus_billed(cells, tariffs)
    if counted and counted[0] > counted[2]:
        details: dict[str, Detail] = {"billed": str(counted[2]), "lots": cells.text("lots")}
        yield Problem("gpu_count", str(counted[0]), details)


def _fewer_than_billed(cells: Cells, tariffs: Tariffs) -> Iterator[Problem]:
    counted = _gpus_billed(cells, tariffs)
    if counted and counted[0] < counted[1]:
        details: dict[str, Detail] = {"billed": str(counted[1]), "lots": cells.text("lots")}
        yield Problem("gpu_count", str(counted[0]), details)


def _rule(
    severity: Severity, code: str, examine: Callable[[Cells, Tariffs], Iterator[Problem]], *texts: str, once: bool
) -> PriceRule:
    title, message, remedy = texts
    return PriceRule(
        code=code, scope=Scope.PRICE, severity=severity, section="5", examine=examine, once=once,
        title=title, message=message, remedy=remedy,
    )  # fmt: skip


PRICE_RULES: tuple[PriceRule, ...] = (
    _rule(
        Severity.WARNING, "package-against-tariff", _total_differs,
        N_("A package price against the tariff"),
        N_("`package_total_usd_minor` is {value}; by the tariff, {lots} lots of {model} for {days} days make {due} US"
           " cents."),
        N_("Correct the lots, the days or the total; the price is that of all lots, each lot with all its GPUs."),
        once=False,
    ),
    _rule(
        Severity.NOTICE, "package-without-offer", _offer_unknown,
        N_("No such offer in the tariff"),
        N_("The tariff has no offer of {value} for {days} days: {count} rows of {experiment} could not be checked"
           " against it."),
        N_("Add the offer to the tariff, spelled like `gpu_model` in the rows."),
        once=True,
    ),
    _rule(
        Severity.WARNING, "gpus-more-than-billed", _more_than_billed,
        N_("More GPUs used than billed"),
        N_("`gpu_count` is {value}, and {lots} lots bill {billed} GPUs."),
        N_("Correct the lots or the number of GPUs that were really used."),
        once=False,
    ),
    _rule(
        Severity.NOTICE, "gpus-fewer-than-billed", _fewer_than_billed,
        N_("Fewer GPUs used than billed"),
        N_("{count} rows of {experiment} used {value} GPUs of the {billed} that {lots} lots bill."),
        N_("The package costs the same; say in `notes` whether the others were meant to stay idle."),
        once=True,
    ),
)  # fmt: skip
