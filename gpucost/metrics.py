"""Quality metrics of a classification, computed by scikit-learn.

scikit-learn is imported when a metric is asked for, and not before: most commands never need it.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

COMPUTABLE = ("macro-f1", "micro-f1", "accuracy", "balanced-accuracy", "mcc", "cohen-kappa")
"""The metrics that the audit computes, by canonical name (contract, section 4)."""


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
    confusion: tuple[tuple[int, ...], ...]


def measure_quality(
    metric: str, reference: Sequence[str], outputs: Sequence[str], classes: Sequence[str] | None
) -> Quality:
    """The quality of outputs against their references, label by label in the same order.

    Macro-F1 is the mean over the classes that occur in the reference or the outputs; a class that is never predicted
    counts 0. A label outside the declared classes is no class of its own: it counts as a wrong answer.
    """
    from sklearn import metrics as sk

    occurring = set(reference) | set(outputs)
    declared = set(classes) if classes is not None else occurring
    averaged = tuple(sorted(occurring & declared))
    labels = tuple(sorted(occurring))
    figures: Any = sk.precision_recall_fscore_support(
        reference, outputs, labels=list(averaged), average=None, zero_division=0
    )
    predicted = {label: 0 for label in averaged}
    for label in outputs:
        if label in predicted:
            predicted[label] += 1
    per_class = tuple(
        ClassFigures(name, float(p), float(r), float(f), int(s), predicted[name])
        for name, p, r, f, s in zip(averaged, *figures, strict=True)
    )
    value = _value(metric, reference, outputs, list(averaged))
    matrix = sk.confusion_matrix(reference, outputs, labels=list(labels))
    return Quality(
        None if math.isnan(value) else Decimal(repr(value)),
        averaged,
        per_class,
        labels,
        tuple(tuple(int(count) for count in line) for line in matrix),
    )


def _value(metric: str, reference: Sequence[str], outputs: Sequence[str], averaged: list[str]) -> float:
    from sklearn import metrics as sk

    with warnings.catch_warnings():
        # scikit-learn warns of classes that only one side holds; the audit reports them itself.
        warnings.simplefilter("ignore")
        if metric == "macro-f1":
            return float(sk.f1_score(reference, outputs, labels=averaged, average="macro", zero_division=0))
        if metric == "micro-f1":
            return float(sk.f1_score(reference, outputs, labels=averaged, average="micro", zero_division=0))
        functions: dict[str, Any] = {
            "accuracy": sk.accuracy_score,
            "balanced-accuracy": sk.balanced_accuracy_score,
            "mcc": sk.matthews_corrcoef,
            "cohen-kappa": sk.cohen_kappa_score,
        }
        return float(functions[metric](reference, outputs))
