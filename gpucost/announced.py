"""What the protocol file of a run's folder announces, as far as a review needs it.

A folder may hold a whole sealed protocol or only a few of its keys: what is there and has the right type is used, the
rest is not announced. Contract, sections 2 to 4.
"""

import hashlib
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gpucost.quality import Direction, Metric, metric_named


@dataclass(frozen=True, slots=True)
class Announced:
    """What was announced; None for what was not. `tolerance` is the largest drop against `reference_value`."""

    sha256: str
    classes: tuple[str, ...] | None = None
    metric: str | None = None
    direction: Direction | None = None
    tolerance: Decimal | None = None
    reference_value: Decimal | None = None
    tolerance_meaning: str | None = None
    scope: str | None = None
    useful_unit: str | None = None

    def metric_named(self, name: str) -> Metric | None:
        """The metric of a row: a known one, or the announced one with its announced direction."""
        known = metric_named(name)
        if known is not None or self.direction is None or name != self.metric:
            return known
        return Metric(name, self.direction, None, None)


def read_announced(data: bytes) -> Announced:
    """Read the protocol file of a folder. Raises tomllib.TOMLDecodeError or UnicodeDecodeError where it cannot be."""
    values = tomllib.loads(data.decode("utf-8-sig"), parse_float=Decimal)
    quality, direction = _table(values, "quality"), None
    if quality.get("direction") in [one.value for one in Direction]:
        direction = Direction(quality["direction"])
    classes = _table(values, "output").get("classes")
    whole = isinstance(classes, list) and all(isinstance(name, str) for name in classes)
    return Announced(
        hashlib.sha256(data).hexdigest(),
        classes=tuple(classes) if whole and classes is not None else None,
        metric=_text(quality, "metric"),
        direction=direction,
        tolerance=_number(quality, "tolerance"),
        reference_value=_number(quality, "reference_value"),
        tolerance_meaning=_text(quality, "tolerance_meaning"),
        scope=_text(_table(values, "passes"), "scope"),
        useful_unit=_text(_table(values, "experiment"), "useful_unit"),
    )


def _table(values: dict[str, Any], name: str) -> dict[str, Any]:
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def _text(values: dict[str, Any], name: str) -> str | None:
    found = values.get(name)
    return found if isinstance(found, str) and found else None


def _number(values: dict[str, Any], name: str) -> Decimal | None:
    found = values.get(name)
    if isinstance(found, bool) or not isinstance(found, int | Decimal):
        return None
    value = Decimal(found)
    return value if value.is_finite() else None
