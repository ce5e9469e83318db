"""Tables for the pages: a review's rows as data frames, a page of rows at a time, with the texts as they were typed."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from gpucost.cells import visible
from gpucost.columns import MEMORY
from gpucost.findings import Rows, Severity
from gpucost.language import Translator
from gpucost.review import Review
from gpucost.sentences import STATUS_WORDS
from gpucost.verdicts import Status, VariantFigures

MARKS: dict[Status, str] = {
    Status.ACCEPTED: "✓",
    Status.REJECTED: "⊘",
    Status.FAILED: "✕",
    Status.INVALID: "?",
    Status.SETUP: "▸",
}
"""The shape that stands beside the word of a status, everywhere."""


def badge(status: Status, to: Translator) -> str:
    """A status as shape and word."""
    return f"{MARKS[status]} {to.gettext(STATUS_WORDS[status])}"


def passes(review: Review, rows: Rows, to: Translator) -> pd.DataFrame:
    """Some rows as the review table shows them: every text as typed, invisible characters made visible."""
    table = review.table
    totals = review.finding_totals[rows]

    def texts(name: str) -> list[str]:
        column = table[name]
        return [visible(column.texts[code], 120) for code in column.codes[rows].tolist()]

    names = [visible(file.name, 60) for file in review.files]
    return pd.DataFrame(
        {
            "status": [[badge(Status(status), to)] for status in review.statuses[rows].tolist()],
            "experiment": texts("experiment_id"),
            "variant": texts("variant_id"),
            "phase": texts("phase"),
            "run": texts("run_index"),
            "seconds": texts("elapsed_seconds"),
            "quality": [
                f"{value or '–'} / {threshold or '–'}"
                for value, threshold in zip(texts("quality_value"), texts("quality_threshold"), strict=True)
            ],
            "ids": [
                f"{observed or '–'} / {expected or '–'}"
                for observed, expected in zip(texts("observed_ids"), texts("expected_ids"), strict=True)
            ],
            "findings": [_counts(line) for line in totals.tolist()],
            "evidence": [review.evidence_of(row) for row in rows.tolist()],
            "file": [names[file] for file in table.files[rows].tolist()],
            "line": table.line_numbers[rows],
        }
    )


def _counts(totals: Sequence[int]) -> str:
    """How many errors, warnings and notices stand on a row."""
    marks = {Severity.ERROR: "E", Severity.WARNING: "W", Severity.NOTICE: "N"}
    return " ".join(f"{count}{marks[severity]}" for severity, count in zip(Severity, totals, strict=True) if count)


def points(review: Review, figures: Sequence[VariantFigures], to: Translator) -> pd.DataFrame:
    """The raw durations of some variants in one phase: `variant`, `run`, `seconds` (NaN where none), `exact`,
    `status`, `word`, `row`, `cross`."""
    table = review.table
    records = []
    elapsed = table["elapsed_seconds"]
    for one in figures:
        for row in one.rows.tolist():
            status = Status(review.statuses[row])
            code = int(elapsed.codes[row])
            timed = status in (Status.ACCEPTED, Status.REJECTED, Status.SETUP)
            records.append(
                {
                    "variant": visible(one.variant_id, 60),
                    "run": visible(table.text(row, "run_index"), 20),
                    "seconds": float(elapsed.numbers[code]) if timed else np.nan,
                    "exact": visible(elapsed.texts[code], 40) or "–",
                    "status": status.word,
                    "word": badge(status, to),
                    "row": row,
                    "cross": MARKS[status],
                }
            )
    columns = ["variant", "run", "seconds", "exact", "status", "word", "row", "cross"]
    return pd.DataFrame(records, columns=columns)


def medians(figures: Sequence[VariantFigures]) -> pd.DataFrame:
    """Median and range of each variant in one phase, over its accepted passes; variants without any are left out."""
    records = [
        {
            "variant": visible(one.variant_id, 60),
            "median": float(one.median_seconds),
            "low": float(one.min_seconds),
            "high": float(one.max_seconds),
            "label": f"{one.median_seconds} s (n = {len(one.accepted_rows)})",
        }
        for one in figures
        if one.median_seconds is not None and one.min_seconds is not None and one.max_seconds is not None
    ]
    return pd.DataFrame(records, columns=["variant", "median", "low", "high", "label"])


def memory(review: Review, figures: Sequence[VariantFigures], words: dict[str, str]) -> pd.DataFrame:
    """The four memory figures of every pass: `variant`, `run`, `series`, `word`, `bytes`, `exact`. A cell that was not
    recorded has no line."""
    table = review.table
    records = []
    for one in figures:
        for row in one.rows.tolist():
            for name in MEMORY:
                value = table.cell(row, name).value
                if isinstance(value, int):
                    records.append(
                        {
                            "variant": visible(one.variant_id, 60),
                            "run": visible(table.text(row, "run_index"), 20),
                            "series": name,
                            "word": words[name],
                            "bytes": float(value),
                            "exact": str(value),
                        }
                    )
    return pd.DataFrame(records, columns=["variant", "run", "series", "word", "bytes", "exact"])
