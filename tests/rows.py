"""Builders of raw CSV rows: one accepted pass by default, and whatever a test changes in it."""

from collections.abc import Iterable, Mapping

from gpucost.columns import NAMES
from gpucost.reader import write_csv
from gpucost.review import Review, Source, review

ACCEPTED: Mapping[str, str] = {
    "experiment_id": "exp-1",
    "variant_id": "b8",
    "corpus_revision": "sha256:c0",
    "model_revision": "sha256:a1",
    "tokenizer_revision": "sha256:b2",
    "seed": "42",
    "gpu_model": "B200",
    "gpu_count": "2",
    "device": "cuda:0",
    "driver_version": "570.1",
    "python_version": "3.11.9",
    "torch_version": "2.13.0",
    "runtime_version": "CUDA 12.8",
    "precision": "bf16",
    "batch": "8",
    "context": "512",
    "phase": "warm",
    "run_index": "1",
    "warmup_iterations": "2",
    "expected_ids": "1000",
    "observed_ids": "1000",
    "ids_match": "true",
    "format_valid": "true",
    "quality_metric": "macro-f1",
    "quality_threshold": "0.9",
    "quality_tolerance": "",
    "quality_value": "0.912",
    "corpus_accepted": "true",
    "elapsed_seconds": "12.481",
    "baseline_allocated_bytes": "1000",
    "baseline_reserved_bytes": "2000",
    "peak_allocated_bytes": "3000",
    "peak_reserved_bytes": "4000",
    "duration_days": "3",
    "lots": "1",
    "package_total_usd_minor": "129600",
    "accepted_unique_corpora": "1",
    "notes": "whole chain; code rev 1f0c; nothing else on the GPU",
}


def row(**changes: str) -> dict[str, str]:
    """An accepted warm pass, with some cells changed."""
    return {**ACCEPTED, **changes}


def failed(**changes: str) -> dict[str, str]:
    """A pass that overflowed the memory, and says so."""
    cells = {
        "elapsed_seconds": "", "observed_ids": "0", "ids_match": "false", "format_valid": "", "quality_value": "",
        "corpus_accepted": "false", "notes": "out of memory", "accepted_unique_corpora": "",
    }  # fmt: skip
    return row(**{**cells, **changes})


def loading(**changes: str) -> dict[str, str]:
    """A row of phase `load`: the loading alone."""
    cells = {
        "phase": "load", "warmup_iterations": "0", "observed_ids": "", "ids_match": "", "format_valid": "",
        "quality_value": "", "corpus_accepted": "",
    }  # fmt: skip
    return row(**{**cells, **changes})


def five(**changes: str) -> list[dict[str, str]]:
    """The five warm passes of one variant."""
    return [row(run_index=str(run), **changes) for run in range(1, 6)]


def csv_of(rows: Iterable[Mapping[str, str]]) -> bytes:
    """The canonical CSV of some rows."""
    return write_csv([tuple(cells[name] for name in NAMES) for cells in rows])


def reviewed(*rows: Mapping[str, str]) -> Review:
    """The review of one CSV that holds these rows."""
    return review([Source("results.csv", csv_of(rows))])


def codes(found: Review) -> set[str]:
    """The codes of all findings."""
    return {finding.rule.code for finding in found.findings}


def words(found: Review) -> list[str]:
    """The status of every row, as a word."""
    from gpucost.verdicts import Status

    return [Status(status).word for status in found.statuses.tolist()]
