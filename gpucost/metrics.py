"""Quality metrics of a classification.

scikit-learn counts the confusions and computes the figures of each class. The headline is then one exact fraction of
those counts, rounded once: a mean of binary fractions gives 0.6999999999999998 for three classes at exactly 0.7, and a
threshold of 0.7 would refuse it. scikit-learn is imported when a metric is asked for, and not before.
"""

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

COMPUTABLE = ("macro-f1", "micro-f1", "accuracy", "balanced-accuracy", "mcc", "cohen-kappa")
"""The metrics that the audit computes, by canonical name (contract, section 4)."""

Confusion = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """The figures of one class: fractions from 0 to 1; `support` is its number of reference labels, `predicted` its
    number of output labels."""

    name: str
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int


@dataclass(frozen=True, slots=True)
class Quality:
    """What a set of outputs is worth. `value` is None where the metric is undefined on it.

    `confusion[i][j]` counts the texts of reference class `labels[i]` that were given the label `labels[j]`.
    """

    value: Decimal | None
    classes_averaged: tuple[str, ...]
    per_class: tuple[ClassFigures, ...]
    labels: tuple[str, ...]
    confusion: Confusion


def measure_quality(
    metric: str, reference: Sequence[str], outputs: Sequence[str], classes: Sequence[str] | None
) -> Quality:
    """The quality of outputs against their references, label by label in the same order.

    Macro-F1 is the mean over the classes that occur in the reference or the outputs; a class that is never predicted
    counts 0. Balanced accuracy is the mean recall over the classes of the reference. A label outside the declared
    classes is no class of its own: it counts as a wrong answer. Micro-F1 is the accuracy, for each text has one label.
    """
    from sklearn import metrics as sk

    pairs = Counter(zip(reference, outputs, strict=True))
    labels = tuple(sorted({label for pair in pairs for label in pair}))
    declared = labels if classes is None else frozenset(classes)
    # Positions instead of texts: an array of texts would drop a NUL at their end.
    place = {label: position for position, label in enumerate(labels)}
    due, given = [place[pair[0]] for pair in pairs], [place[pair[1]] for pair in pairs]
    weights = list(pairs.values())
    positions = list(range(len(labels)))
    with warnings.catch_warnings():
        # scikit-learn warns of classes that only one side holds; the audit reports them itself.
        warnings.simplefilter("ignore")
        matrix: Any = sk.confusion_matrix(due, given, labels=positions, sample_weight=weights)
        precision, recall, f1, _support = sk.precision_recall_fscore_support(
            due, given, labels=positions, sample_weight=weights, average=None, zero_division=0
        )
        matthews = float(sk.matthews_corrcoef(due, given, sample_weight=weights))
    confusion = tuple(tuple(int(count) for count in line) for line in matrix)
    columns = [sum(column) for column in zip(*confusion, strict=True)]
    averaged = [position for position, label in enumerate(labels) if label in declared]
    per_class = tuple(
        ClassFigures(labels[i], float(precision[i]), float(recall[i]), float(f1[i]), sum(confusion[i]), columns[i])
        for i in averaged
    )
    value = matthews if metric == "mcc" else _rounded(_HEADLINES[metric](confusion, averaged))
    return Quality(
        None if math.isnan(value) else Decimal(repr(value)),
        tuple(labels[i] for i in averaged),
        per_class,
        labels,
        confusion,
    )


def _rounded(exact: Fraction | None) -> float:
    """The float nearest to a fraction, NaN where there is none."""
    return math.nan if exact is None else float(exact)


def _mean(fractions: Iterable[Fraction]) -> Fraction | None:
    values = list(fractions)
    return sum(values, Fraction(0)) / len(values) if values else None


def _accuracy(confusion: Confusion, _averaged: Sequence[int]) -> Fraction | None:
    total = sum(map(sum, confusion))
    return Fraction(sum(line[i] for i, line in enumerate(confusion)), total) if total else None


def _macro_f1(confusion: Confusion, averaged: Sequence[int]) -> Fraction | None:
    columns = [sum(column) for column in zip(*confusion, strict=True)]
    return _mean(Fraction(2 * confusion[i][i], sum(confusion[i]) + columns[i]) for i in averaged)


def _balanced_accuracy(confusion: Confusion, _averaged: Sequence[int]) -> Fraction | None:
    return _mean(Fraction(line[i], sum(line)) for i, line in enumerate(confusion) if sum(line))


def _cohen_kappa(confusion: Confusion, averaged: Sequence[int]) -> Fraction | None:
    """Undefined where both sides hold one and the same label throughout: chance alone agrees fully."""
    observed, total = _accuracy(confusion, averaged), sum(map(sum, confusion))
    if observed is None:
        return None
    columns = [sum(column) for column in zip(*confusion, strict=True)]
    chance = Fraction(sum(sum(line) * columns[i] for i, line in enumerate(confusion)), total**2)
    return None if chance == 1 else (observed - chance) / (1 - chance)


_HEADLINES: dict[str, Callable[[Confusion, Sequence[int]], Fraction | None]] = {
    "macro-f1": _macro_f1,
    "micro-f1": _accuracy,
    "accuracy": _accuracy,
    "balanced-accuracy": _balanced_accuracy,
    "cohen-kappa": _cohen_kappa,
}
