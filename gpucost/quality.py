"""Quality metrics by name: their range, which direction is better, and the acceptance rule.

The rule compares decimals as they were written, never after rounding (contract, section 2; protocol, section 1).
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum


class Direction(Enum):
    """Which way a metric improves."""

    MORE_IS_BETTER = "more"
    LESS_IS_BETTER = "less"


@dataclass(frozen=True, slots=True)
class Metric:
    """A known quality metric. `lowest` and `highest` are None where the metric has no such bound."""

    name: str
    direction: Direction
    lowest: Decimal | None
    highest: Decimal | None

    def in_range(self, value: Decimal) -> bool:
        """Whether a value of this metric can exist."""
        above = self.lowest is None or value >= self.lowest
        return above and (self.highest is None or value <= self.highest)

    @property
    def span(self) -> Decimal | None:
        """The largest difference between two values, None where unbounded."""
        return None if self.lowest is None or self.highest is None else self.highest - self.lowest


def _metrics() -> dict[str, Metric]:
    zero, one = Decimal(0), Decimal(1)
    more, less = Direction.MORE_IS_BETTER, Direction.LESS_IS_BETTER
    fractions = [
        "macro-f1",
        "micro-f1",
        "weighted-f1",
        "accuracy",
        "balanced-accuracy",
        "precision",
        "recall",
        "exact-match",
        "roc-auc",
    ]
    known = [Metric(name, more, zero, one) for name in fractions]
    known += [Metric(name, more, -one, one) for name in ("mcc", "cohen-kappa")]
    known += [Metric(name, less, zero, one) for name in ("error-rate", "hamming-loss")]
    known += [Metric(name, less, zero, None) for name in ("wer", "cer", "log-loss", "mae", "rmse", "perplexity")]
    return {metric.name: metric for metric in known}


METRICS = _metrics()
"""The metrics of the contract, by canonical name."""


def metric_named(name: str) -> Metric | None:
    """The known metric of that name, whatever its case, with `-`, `_` or a space; None for another name."""
    return METRICS.get(name.lower().replace("_", "-").replace(" ", "-"))


def reaches(direction: Direction, value: Decimal, threshold: Decimal) -> bool:
    """Whether a value reaches the threshold; equal is enough."""
    return value >= threshold if direction is Direction.MORE_IS_BETTER else value <= threshold


def within_tolerance(direction: Direction, value: Decimal, reference: Decimal, tolerance: Decimal) -> bool:
    """Whether the drop against the reference value is at most the tolerance (absolute)."""
    drop = reference - value if direction is Direction.MORE_IS_BETTER else value - reference
    return drop <= tolerance
