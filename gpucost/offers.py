"""Offers and packages: what a whole rental of 3, 7 or 30 days costs, in exact cents, and nothing projected.

A tariff gives the price of one lot, which covers every GPU of the lot. A package is that price times the lots.
It is never cut into hours, and it is divided only by a number of results that somebody counted and accepted.
Contract, sections 1, 4 and 5; protocol, section 5.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from gpucost.cells import CellType, invisible_characters, parse_cell, skeleton, visible
from gpucost.columns import PACKAGE_DAYS
from gpucost.findings import Detail, Finding, Phrase, Rule, Severity
from gpucost.language import N_
from gpucost.rules import tariffs as rules
from gpucost.tariff_csv import TARIFF_NAMES, TariffLine, separate, write_tariffs

__all__ = [
    "EXAMPLE_SOURCE", "EXAMPLE_TARIFFS", "PRICES_ALONE", "SAME_QUANTITY", "TARIFF_NAMES", "Offer", "OfferRow",
    "Package", "PackageTable", "PriceRatio", "Tariffs", "example_tariffs", "matching_offers", "packages",
    "price_ratio", "read_tariffs", "tariffs_from_rows", "write_tariffs",
]  # fmt: skip

EXAMPLE_TARIFFS = Path(__file__).parent / "example" / "tariffs.csv"
EXAMPLE_SOURCE = "example price, not an offer"
"""What `source` says in the list that ships: whoever copies a row copies the warning."""

SAME_QUANTITY = N_(
    "The same typed quantity stands beside each whole package. It was accepted over one period: choose its days."
)
PRICES_ALONE = N_(
    "{dearer} costs {ratio} times as much as {cheaper}: it needs {ratio} times as many accepted corpora for an equal"
    " unit cost. This is arithmetic on the two prices alone, and says nothing about what either can do."
)
"""The label of a `PriceRatio`; the surfaces name the two packages and write the ratio in the reader's language."""

_PLACES = 4
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_NAMES = ("provider", "gpu_model")


@dataclass(frozen=True, slots=True)
class Offer:
    """What a provider sells: lots of `gpus_per_lot` GPUs of one model."""

    provider: str
    gpu_model: str
    gpus_per_lot: int


@dataclass(frozen=True, slots=True)
class OfferRow:
    """One price of a tariff: that of one lot, all its GPUs included, for the whole `duration_days`.

    `row` counts data rows from 1, `line` is the physical line where the row starts.
    """

    offer: Offer
    duration_days: int
    price_usd_minor_per_lot: int
    valid_from: date
    source: str
    row: int
    line: int


@dataclass(frozen=True, slots=True)
class Tariffs:
    """A tariff as it was received. `offers` are the rows that may be priced, in file order; a faulty or repeated one
    is not among them, and stands in `findings`, whose `row` and `line` are those of the tariff file."""

    name: str
    sha256: str
    offers: tuple[OfferRow, ...]
    findings: tuple[Finding, ...]

    @property
    def gpu_models(self) -> tuple[str, ...]:
        """The distinct models that have a price, in file order."""
        return tuple(dict.fromkeys(row.offer.gpu_model for row in self.offers))

    @property
    def is_example(self) -> bool:
        """Whether a price comes from the example that ships: every screen that shows it then says so."""
        return any(row.source == EXAMPLE_SOURCE for row in self.offers)


def read_tariffs(name: str, data: bytes) -> Tariffs:
    """Read one tariff CSV strictly. Never raises on what stands in it; `name` is shown, never opened."""
    separated = separate(name, data)
    read = [_ReadRow(name, line) for line in separated.lines]
    findings = [*separated.findings, *(found for row in read for found in row.findings), *_look_alikes(name, read)]
    repeated, about_repeated = _repeated(name, read)
    findings += about_repeated
    offers = tuple(row.priced for row in read if row.priced is not None and row.key not in repeated)
    findings.sort(key=lambda finding: finding.row or 0)
    return Tariffs(name, hashlib.sha256(data).hexdigest(), offers, tuple(findings))


def tariffs_from_rows(rows: Iterable[Mapping[str, str]], name: str = "tariffs.csv") -> Tariffs:
    """The tariff that some typed rows make: exactly what reading their canonical CSV would give, SHA-256 included."""
    return read_tariffs(name, write_tariffs(rows))


def example_tariffs() -> Tariffs:
    """The list of invented prices that ships."""
    return read_tariffs(EXAMPLE_TARIFFS.name, EXAMPLE_TARIFFS.read_bytes())


_Key = tuple[Offer, int]


class _ReadRow:
    """One row, cell by cell. `key` is None where the offer or its duration cannot be told, `priced` where anything
    is wrong with the row itself."""

    def __init__(self, name: str, line: TariffLine) -> None:
        self.line = line
        self.findings: list[Finding] = []
        self._name = name
        provider, gpu_model = self._text("provider"), self._text("gpu_model")
        gpus = self._integer("gpus_per_lot", rules.TARIFF_GPUS_PER_LOT, lambda number: number >= 1)
        days = self._integer("duration_days", rules.TARIFF_DURATION, PACKAGE_DAYS.__contains__)
        price = self._integer("price_usd_minor_per_lot", rules.TARIFF_PRICE, lambda number: number >= 1, money=True)
        day = self._date("valid_from")
        source = self._text("source")
        self.key: _Key | None = None
        self.priced: OfferRow | None = None
        if provider is None or gpu_model is None or gpus is None or days is None:
            return
        self.key = (Offer(provider, gpu_model, gpus), days)
        if price is not None and day is not None and source is not None:
            self.priced = OfferRow(*self.key, price, day, source, line.row, line.line)

    def say(self, rule: Rule, column: str, value: str | None, **details: Detail) -> None:
        """Add one finding about a cell of this row."""
        named = {"tariffs": visible(self._name, 80), **details}
        self.findings.append(
            Finding(rule=rule, row=self.line.row, line=self.line.line, column=column, value=value, details=named)
        )

    def _cell(self, column: str) -> str | None:
        text = self.line.cells[column]
        if "\0" in text:
            self.say(rules.TARIFF_CELL_NUL, column, text)
        elif not skeleton(text):
            self.say(rules.TARIFF_CELL_EMPTY, column, text or None)
        else:
            return text
        return None

    def _text(self, column: str) -> str | None:
        text = self._cell(column)
        if text is not None and column in _NAMES and not _is_clean(text):
            self.say(rules.TARIFF_NAME_INVISIBLE, column, text)
        return text

    def _integer(self, column: str, rule: Rule, allowed: Callable[[int], bool], *, money: bool = False) -> int | None:
        text = self._cell(column)
        if text is None:
            return None
        cell = parse_cell(text, CellType.INTEGER, money=money)
        if not isinstance(cell.value, int) or not allowed(cell.value):
            self.say(rule, column, text)
            return None
        if cell.respelled:
            self.say(rules.TARIFF_CELL_RESPELLED, column, text, canonical=cell.canonical)
        return cell.value

    def _date(self, column: str) -> date | None:
        text = self._cell(column)
        if text is None:
            return None
        try:
            # The pattern first: fromisoformat also reads 20260924 and 2026-W39-4.
            return date.fromisoformat(text if _ISO_DATE.fullmatch(text) else "")
        except ValueError:
            self.say(rules.TARIFF_DATE, column, text)
            return None


def _is_clean(text: str) -> bool:
    return text == text.strip() and not invisible_characters(text)


def _look_alikes(name: str, read: Iterable[_ReadRow]) -> list[Finding]:
    """Each name that reads like an earlier one of its column and is another, said once."""
    findings: list[Finding] = []
    for column in _NAMES:
        likenesses: dict[str, TariffLine] = {}
        known: set[str] = set()
        for row in read:
            text = row.line.cells[column]
            if text in known or not skeleton(text) or not _is_clean(text):
                continue
            known.add(text)
            first = likenesses.setdefault(skeleton(text).casefold(), row.line)
            if first is not row.line:
                details = {
                    "tariffs": visible(name, 80), "twin": visible(first.cells[column]), "first": str(first.row),
                }  # fmt: skip
                findings.append(
                    Finding(
                        rule=rules.TARIFF_NAME_LOOK_ALIKE, row=row.line.row, line=row.line.line, column=column,
                        value=text, details=details,
                    )
                )  # fmt: skip
    return findings


def _repeated(name: str, read: Iterable[_ReadRow]) -> tuple[set[_Key], list[Finding]]:
    """The offers and durations that stand more than once, and a finding on each later row."""
    firsts: dict[_Key, TariffLine] = {}
    repeated: set[_Key] = set()
    findings: list[Finding] = []
    for row in read:
        if row.key is None:
            continue
        first = firsts.setdefault(row.key, row.line)
        if first is row.line:
            continue
        repeated.add(row.key)
        offer, days = row.key
        details = {
            "tariffs": visible(name, 80), "provider": visible(offer.provider), "gpus": str(offer.gpus_per_lot),
            "days": str(days), "first": str(first.row), "first_line": str(first.line),
        }  # fmt: skip
        findings.append(
            Finding(
                rule=rules.TARIFF_REPEATED, row=row.line.row, line=row.line.line, column="gpu_model",
                value=offer.gpu_model, details=details,
            )
        )  # fmt: skip
    return repeated, findings


# Packages


@dataclass(frozen=True, slots=True)
class Package:
    """A whole rental of some lots. `accepted_results` is the number of distinct results that were counted and
    accepted over the package, None where nobody counted."""

    price: OfferRow
    lots: int
    accepted_results: int | None = None

    @property
    def gpus(self) -> int:
        """How many GPUs are billed."""
        return self.price.offer.gpus_per_lot * self.lots

    @property
    def total_usd_minor(self) -> int:
        """The price of all lots, in US cents. The lot's price already covers its GPUs."""
        return self.price.price_usd_minor_per_lot * self.lots

    @property
    def usd_minor_per_accepted_result(self) -> str | None:
        """US cents per accepted result as a decimal, half even to at most 4 places; None where nothing was counted,
        or nothing accepted."""
        if not self.accepted_results:
            return None
        return _decimal(Fraction(self.total_usd_minor, self.accepted_results))

    def to_json(self) -> dict[str, Any]:
        """The package as the contract writes it (section 4)."""
        offer = self.price.offer
        return {
            "provider": offer.provider,
            "gpu_model": offer.gpu_model,
            "gpus_per_lot": offer.gpus_per_lot,
            "duration_days": self.price.duration_days,
            "lots": self.lots,
            "gpus": self.gpus,
            "total_usd_minor": self.total_usd_minor,
            "accepted_results": self.accepted_results,
            "usd_minor_per_accepted_result": self.usd_minor_per_accepted_result,
        }


@dataclass(frozen=True, slots=True)
class PackageTable:
    """The packages that were asked for, in the order of the tariff. `refusals` say what has no price or no unit
    cost, and why."""

    tariffs: Tariffs
    packages: tuple[Package, ...]
    refusals: tuple[Finding, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that must be said beside the packages: what is wrong with the tariff, then the refusals."""
        return (*self.tariffs.findings, *self.refusals)

    @property
    def exit_status(self) -> int:
        """1 where an error was found in the tariff or in what was asked of it, otherwise 0."""
        return int(any(finding.severity is Severity.ERROR for finding in self.findings))


def packages(
    tariffs: Tariffs,
    *,
    gpu: str | None = None,
    days: int | None = None,
    lots: int = 1,
    accepted_results: int | None = None,
) -> PackageTable:
    """The packages of a tariff, of one GPU model (an exact name) or duration if wished.

    Raises ValueError for fewer lots than 1, a quantity below 0, and days that no package has: bad usage.
    """
    if lots < 1 or (accepted_results is not None and accepted_results < 0):
        message = f"{lots} lots and {accepted_results} accepted results: no package has these"
        raise ValueError(message)
    if days is not None and days not in PACKAGE_DAYS:
        message = f"{days} days: a package lasts {PACKAGE_DAYS} days"
        raise ValueError(message)
    of_model = [row for row in tariffs.offers if gpu is None or row.offer.gpu_model == gpu]
    chosen = [row for row in of_model if days is None or row.duration_days == days]
    refusals: list[Finding] = []
    if gpu is not None and not of_model:
        refusals.append(_refusal(tariffs, rules.TARIFF_GPU_UNKNOWN, "gpu_model", gpu, offered=_offered(tariffs, gpu)))
    elif of_model and not chosen:
        offered = ", ".join(map(str, sorted({row.duration_days for row in of_model})))
        refusals.append(_refusal(tariffs, rules.TARIFF_DAYS_UNKNOWN, "duration_days", str(days), offered=offered))
    if accepted_results == 0 and chosen:
        refusals.append(_refusal(tariffs, rules.TARIFF_NOTHING_ACCEPTED, None, "0"))
    return PackageTable(tariffs, tuple(Package(row, lots, accepted_results) for row in chosen), tuple(refusals))


def _refusal(tariffs: Tariffs, rule: Rule, column: str | None, value: str, **details: Detail) -> Finding:
    return Finding(rule=rule, column=column, value=value, details={"tariffs": visible(tariffs.name, 80), **details})


def _offered(tariffs: Tariffs, gpu: str) -> Phrase:
    """What a tariff offers instead of a model that it does not have."""
    if not tariffs.offers:
        return Phrase(N_("nothing in it can be priced"))
    models = ", ".join(visible(model, 60) for model in tariffs.gpu_models)
    likeness = skeleton(gpu).casefold()
    near = next((model for model in tariffs.gpu_models if skeleton(model).casefold() == likeness), None)
    if near is None:
        return Phrase(N_("on offer: {models}"), {"models": models})
    return Phrase(
        N_("on offer: {models}, where {near} differs only in its spelling"), {"models": models, "near": visible(near)}
    )


def matching_offers(tariffs: Tariffs, gpu_model: str, days: int, lots: int, total_usd_minor: int) -> tuple[Offer, ...]:
    """The offers that a package may have been bought from: same model and days, and the price of all its lots.

    A price agrees with the tariff where there is one; a quantity belongs to an offer only where there is exactly one.
    """
    return tuple(
        row.offer
        for row in tariffs.offers
        if row.offer.gpu_model == gpu_model
        and row.duration_days == days
        and lots >= 1
        and row.price_usd_minor_per_lot * lots == total_usd_minor
    )


@dataclass(frozen=True, slots=True)
class PriceRatio:
    """How many times the price of the cheaper package that of the dearer one is, exactly; label it `PRICES_ALONE`."""

    dearer: Package
    cheaper: Package

    @property
    def exact(self) -> Fraction:
        """The ratio, 1 or more. It is also how many times as many accepted corpora the dearer package needs."""
        return Fraction(self.dearer.total_usd_minor, self.cheaper.total_usd_minor)

    @property
    def decimal(self) -> str:
        """The ratio as a decimal, half even to at most 4 places."""
        return _decimal(self.exact)


def price_ratio(one: Package, other: Package) -> PriceRatio:
    """The ratio of two package prices. Of two equal prices the first counts as the dearer."""
    in_order = one.total_usd_minor >= other.total_usd_minor
    return PriceRatio(one, other) if in_order else PriceRatio(other, one)


def _decimal(value: Fraction) -> str:
    """A positive fraction as a decimal, half even to at most 4 places, without trailing zeros."""
    whole, rest = divmod(round(value * 10**_PLACES), 10**_PLACES)
    return f"{whole}.{rest:0{_PLACES}}".rstrip("0").rstrip(".")
