"""Choosing rows of a review by what a reader looks for; over columns, so that a long review answers at once."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from gpucost.findings import Rows, Severity
from gpucost.review import Review
from gpucost.table import CodedColumn
from gpucost.verdicts import Status


@dataclass(frozen=True, slots=True)
class Choice:
    """What rows a reader wants. An empty collection means any; names are compared as they stand.

    `severities`: rows that a finding of this severity concerns, also one that is said once for many rows.
    """

    experiments: Collection[str] = ()
    variants: Collection[str] = ()
    phases: Collection[str] = ()
    statuses: Collection[Status] = ()
    severities: Collection[Severity] = ()


def chosen_rows(review: Review, choice: Choice) -> Rows:
    """The rows that satisfy every part of a choice, in file order."""
    mask = np.ones(len(review.table), np.bool_)
    for name, wanted in (
        ("experiment_id", choice.experiments),
        ("variant_id", choice.variants),
        ("phase", choice.phases),
    ):
        if wanted:
            mask &= _holds(review.table[name], wanted)
    if choice.statuses:
        mask &= np.isin(review.statuses, [int(status) for status in choice.statuses])
    if choice.severities:
        concerned = np.zeros(len(review.table), np.bool_)
        for finding in review.findings:
            if finding.severity in choice.severities:
                concerned[finding.rows] = True
        mask &= concerned
    return np.flatnonzero(mask)


def _holds(column: CodedColumn, wanted: Collection[str]) -> np.typing.NDArray[np.bool_]:
    known = np.fromiter((text in wanted for text in column.texts), np.bool_, len(column.texts))
    return known[column.codes] if len(known) else np.zeros(len(column.codes), np.bool_)


def names_in(review: Review, column: str, experiments: Collection[str] = ()) -> list[str]:
    """The distinct names of an identifying column over the readable rows, in the order of their first row."""
    rows = review.table.readable_rows
    if experiments:
        rows = rows[_holds(review.table["experiment_id"], experiments)[rows]]
    coded = review.table[column]
    return [coded.texts[code] for code in dict.fromkeys(coded.codes[rows].tolist())]
