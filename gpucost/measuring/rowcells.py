"""The cells of a measured row: what was announced, what was observed, and the notes that say the rest.

Nothing here is copied from an offer or a promise, and nothing is filled that was not observed. Protocol, sections 2
and 4.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from unicodedata import category

from gpucost.audit import AuditReport
from gpucost.columns import MEMORY
from gpucost.measuring.seal import Seal
from gpucost.protocol import Protocol
from gpucost.schedule import PlannedPass
from gpucost.verdicts import LOAD

NANOSECONDS = Decimal(10) ** 9

SCOPES = {
    "processing": "scope: processing alone (what the workload prepares, such as tokens, is made before the clock)",
    "whole-chain": "scope: whole chain (reading the texts, preparing, processing, writing the outputs)",
}


@dataclass
class RowCells:
    """Makes the cells of one run's rows. `ready` and `observed` are what the worker and the machine said,
    `described` what the workload last said of itself, by variant."""

    protocol: Protocol
    sealed: Seal
    expected_ids: int
    texts: int
    observed: Mapping[str, Any] = field(default_factory=dict)
    ready: Mapping[str, Any] = field(default_factory=dict)
    described: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def planned(self, planned: PlannedPass, warm_ups: int) -> dict[str, str]:
        """The cells that do not depend on how a pass went."""
        protocol, sealed, ready = self.protocol, self.sealed, self.ready
        variant = next(one for one in protocol.variants if one.variant_id == planned.variant_id)
        described = self.described.get(planned.variant_id, {})
        # A variant that never came to load is of the same model: its row names it as the others do.
        told = described or next(iter(self.described.values()), {})
        on_cpu = protocol.configuration.device == "cpu"
        return {
            "experiment_id": protocol.experiment.id,
            "variant_id": variant.variant_id,
            "corpus_revision": sealed.corpus_revision,
            "model_revision": str(told.get("model_revision") or sealed.model_revision),
            "tokenizer_revision": str(told.get("tokenizer_revision") or sealed.tokenizer_revision),
            "seed": str(variant.seed),
            "gpu_model": ready.get("gpu_model") or "",
            "gpu_count": "0" if on_cpu else "1",
            "device": protocol.configuration.device,
            "driver_version": "" if on_cpu else str(self.observed.get("driver_version") or ""),
            "python_version": str(self.observed.get("python_version") or ""),
            "torch_version": ready.get("torch_version") or "",
            "runtime_version": ready.get("runtime_version") or "",
            "precision": str(described.get("precision") or variant.precision),
            "batch": str(variant.batch),
            "context": str(variant.context),
            "phase": planned.phase,
            "run_index": str(planned.run_index),
            "warmup_iterations": str(warm_ups),
            "expected_ids": str(self.expected_ids),
            "quality_metric": protocol.metric.name,
            "quality_threshold": format(protocol.quality.threshold, "f"),
            "quality_tolerance": format(protocol.quality.tolerance, "f"),
            "corpus_accepted": "false",
            **_package(protocol),
        }

    def notes(self, variant_id: str, seen: str, *more: str) -> str:
        """Scope, code, options, order, isolation, concurrency, tolerance, truncation, seal, then pieces and incident."""
        protocol, sealed = self.protocol, self.sealed
        described = self.described.get(variant_id, {})
        options = described.get("options") or protocol.model.options
        shown = ", ".join(f"{name}={value}" for name, value in options.items()) or "none"
        truncated = described.get("truncated_texts")
        quality = protocol.quality
        parts = [
            SCOPES[protocol.passes.scope],
            f"code {sealed.code.told}",
            f"workload {protocol.model.workload}, options: {shown}",
            f"order: {protocol.passes.order}",
            f"isolation: {protocol.isolation}",
            f"CPU threads announced: {protocol.configuration.threads}",
            seen,
            f"tolerance: {quality.tolerance_meaning}, from the reference value {quality.reference_value}",
            "" if truncated is None else f"texts truncated: {truncated} of {self.texts}",
            f"protocol sha256 {sealed.protocol_sha256}, sealed {sealed.sealed_at}",
            *more,
        ]
        return one_line("; ".join(part for part in parts if part))


def one_line(text: str) -> str:
    """A text as one line: a row of the CSV is one line, so that a half-written one is always found and taken off."""
    breaking = ("Cc", "Cs", "Zl", "Zp")
    return "".join(f"⟨U+{ord(one):04X}⟩" if category(one) in breaking else one for one in text)


def measured_cells(answer: Mapping[str, Any]) -> dict[str, str]:
    """The raw duration of an answer, in seconds with every nanosecond, and its memory figures."""
    return {"elapsed_seconds": format(elapsed_seconds(answer), "f"), **memory_cells(answer)}


def elapsed_seconds(answer: Mapping[str, Any]) -> Decimal:
    """The duration of an answer, exact."""
    return Decimal(answer["elapsed_ns"]) / NANOSECONDS


def memory_cells(answer: Mapping[str, Any]) -> dict[str, str]:
    """Both baselines and both peaks, in bytes; '' for what was not recorded."""
    figures = [*(answer.get("baseline") or (None, None)), *(answer.get("peaks") or (None, None))]
    return {name: "" if figure is None else str(figure) for name, figure in zip(MEMORY, figures, strict=True)}


def audited_cells(report: AuditReport) -> dict[str, str]:
    """What the control of a pass says, and nothing else."""
    value = report.quality_value
    return {
        "observed_ids": str(report.observed),
        "ids_match": _flag(report.ids_match),
        "format_valid": _flag(report.format_valid),
        "quality_value": "" if value is None else format(value, "f"),
        "corpus_accepted": _flag(report.accepted is True),
    }


def _package(protocol: Protocol) -> dict[str, str]:
    package = protocol.package
    if package is None:
        return {}
    total = package.total_usd_minor
    return {
        "duration_days": str(package.duration_days),
        "lots": str(package.lots),
        "package_total_usd_minor": "" if total is None else str(total),
    }


def row_status(row: Mapping[str, str]) -> str:
    """The status of a row that this run wrote, from its own cells."""
    if not row.get("elapsed_seconds"):
        return "failed"
    if row["phase"] == LOAD:
        return "setup"
    return "accepted" if row["corpus_accepted"] == "true" else "rejected"


def _flag(value: bool) -> str:  # noqa: FBT001
    return "true" if value else "false"
