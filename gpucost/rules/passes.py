"""Rules over one row: its cells against each other. Contract, sections 2 and 3; protocol, sections 1, 3 and 4."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal

import numpy as np

from gpucost.cells import visible
from gpucost.columns import BY_NAME, CONFIGURATION, ENVIRONMENT, IDENTITY, MEMORY, PACKAGE_DAYS
from gpucost.findings import NO_ROWS, Detail, Phrase, Rows, Scope, Severity
from gpucost.language import N_
from gpucost.quality import Metric, metric_named
from gpucost.rules.examination import Problem, RowRule
from gpucost.table import EXPLAINED, TIMED, Cells, Table
from gpucost.verdicts import CONDITION_COLUMNS, LOAD, Condition, acceptance_conditions

SECONDS_PER_DAY = 86_400


def _error(
    code: str,
    section: str,
    columns: Sequence[str],
    examine: Callable[[Cells], Iterable[Problem]],
    *texts: str,
    suspects: Callable[[Table], Rows] | None = None,
) -> RowRule:
    return _rule(Severity.ERROR, code, section, columns, examine, texts, suspects=suspects)


def _warning(
    code: str,
    section: str,
    columns: Sequence[str],
    examine: Callable[[Cells], Iterable[Problem]],
    *texts: str,
    once: bool = False,
    suspects: Callable[[Table], Rows] | None = None,
) -> RowRule:
    return _rule(Severity.WARNING, code, section, columns, examine, texts, once=once, suspects=suspects)


def _rule(
    severity: Severity,
    code: str,
    section: str,
    columns: Sequence[str],
    examine: Callable[[Cells], Iterable[Problem]],
    texts: Sequence[str],
    *,
    once: bool = False,
    suspects: Callable[[Table], Rows] | None = None,
) -> RowRule:
    title, message, remedy = texts
    return RowRule(
        code=code, scope=Scope.ROW, severity=severity, section=section, columns=columns, examine=examine, once=once,
        suspects=suspects, title=title, message=message, remedy=remedy,
    )  # fmt: skip


# What a pass is


def _empty_identity(cells: Cells) -> Iterator[Problem]:
    for name in IDENTITY:
        if not cells.has(name):
            yield Problem(name)


def _unidentified(table: Table) -> Rows:
    """The readable rows that lack a part of their identity."""
    whole = np.logical_and.reduce([table[name].recorded for name in IDENTITY])
    return np.flatnonzero(~whole & table.readable)


def _days(cells: Cells) -> Iterator[Problem]:
    days = cells.integer("duration_days")
    if days is not None and days not in PACKAGE_DAYS:
        yield Problem("duration_days", cells.text("duration_days"))


def _time_not_positive(cells: Cells) -> Iterator[Problem]:
    elapsed = cells.decimal("elapsed_seconds")
    if elapsed is not None and elapsed <= 0:
        yield Problem("elapsed_seconds", cells.text("elapsed_seconds"))


def _timed_outside(table: Table, lowest: float, highest: float) -> Rows:
    """The readable rows whose duration lies at or outside two bounds, as nearly as floats tell."""
    elapsed = table["elapsed_seconds"]
    outside = (elapsed.numbers <= lowest) | (elapsed.numbers >= highest)
    return np.flatnonzero(outside[elapsed.codes] & table.readable) if outside.any() else NO_ROWS


def _accepted_without_time(cells: Cells) -> Iterator[Problem]:
    if cells.flag("corpus_accepted") and not cells.flag(TIMED):
        yield Problem("corpus_accepted", cells.text("corpus_accepted"))


def _load_accepted(cells: Cells) -> Iterator[Problem]:
    if cells.text("phase") == LOAD and cells.flag("corpus_accepted"):
        yield Problem("corpus_accepted", cells.text("corpus_accepted"))


_LOAD_EMPTY = ("observed_ids", "ids_match", "format_valid", "quality_value")


def _load_filled(cells: Cells) -> Iterator[Problem]:
    if cells.text("phase") == LOAD and cells.flag(TIMED):
        for name in _LOAD_EMPTY:
            if cells.has(name):
                yield Problem(name, cells.text(name))


# What a corpus must satisfy


def _ids_against_counts(cells: Cells) -> Iterator[Problem]:
    expected, observed = cells.integer("expected_ids"), cells.integer("observed_ids")
    if cells.flag("ids_match") and expected is not None and observed is not None and expected != observed:
        details = {"observed": str(observed), "expected": str(expected)}
        yield Problem("ids_match", cells.text("ids_match"), details)


def _contradicted(cells: Cells) -> list[Condition]:
    if cells.text("phase") == LOAD or not cells.flag(TIMED) or not cells.flag("corpus_accepted"):
        return []
    return [condition for condition in acceptance_conditions(cells) if condition.met is False]


def _accepted_although(*names: str) -> Callable[[Cells], Iterator[Problem]]:
    def examine(cells: Cells) -> Iterator[Problem]:
        for condition in _contradicted(cells):
            if condition.name in names:
                details = {"condition": condition.phrase}
                yield Problem(condition.column, cells.text(condition.column), details)

    return examine


def _not_recorded(cells: Cells) -> Iterator[Problem]:
    if cells.text("phase") == LOAD or not cells.flag(TIMED):
        return
    missing = [
        condition.column
        for condition in acceptance_conditions(cells)
        if condition.met is None and not cells.has(condition.column)
    ]
    if not cells.has("corpus_accepted"):
        missing.append("corpus_accepted")
    if missing:
        yield Problem(missing[0], None, {"columns": ", ".join(f"`{name}`" for name in missing)})


def _unknown_metric(cells: Cells) -> Iterator[Problem]:
    name = cells.text("quality_metric")
    if name and metric_named(name) is None:
        yield Problem("quality_metric", name)


_BOUNDED = ("quality_value", "quality_threshold", "quality_tolerance")


def _bounds(metric: Metric, name: str) -> tuple[Decimal | None, Decimal | None]:
    return (Decimal(0), metric.span) if name == "quality_tolerance" else (metric.lowest, metric.highest)


def _out_of_bounds(cells: Cells) -> Iterator[Problem]:
    metric = metric_named(cells.text("quality_metric"))
    if metric is None:
        return
    for name in _BOUNDED:
        value = cells.decimal(name)
        lowest, highest = _bounds(metric, name)
        if value is not None and ((lowest is not None and value < lowest) or (highest is not None and value > highest)):
            bounds = (
                Phrase(N_("{lowest} to {highest}"), {"lowest": str(lowest), "highest": str(highest)})
                if highest is not None
                else Phrase(N_("{lowest} or more"), {"lowest": str(lowest)})
            )
            details: dict[str, Detail] = {"metric": visible(cells.text("quality_metric"), 60), "bounds": bounds}
            yield Problem(name, cells.text(name), details)


def _negative_tolerance(cells: Cells) -> Iterator[Problem]:
    tolerance = cells.decimal("quality_tolerance")
    # Where the metric is known, its bounds say the same with more to go on.
    if tolerance is not None and tolerance < 0 and metric_named(cells.text("quality_metric")) is None:
        yield Problem("quality_tolerance", cells.text("quality_tolerance"))


# What must be explained


def _failed_unexplained(cells: Cells) -> Iterator[Problem]:
    if not cells.flag(TIMED) and not cells.flag(EXPLAINED):
        yield Problem("notes")


def _refused_unexplained(cells: Cells) -> Iterator[Problem]:
    refused = cells.flag("corpus_accepted") is False and cells.flag(TIMED) and cells.text("phase") != LOAD
    if refused and not cells.flag(EXPLAINED) and all(c.met is not False for c in acceptance_conditions(cells)):
        yield Problem("notes")


# Memory


def _peak_below_baseline(cells: Cells) -> Iterator[Problem]:
    for kind in ("allocated", "reserved"):
        baseline, peak = cells.integer(f"baseline_{kind}_bytes"), cells.integer(f"peak_{kind}_bytes")
        if baseline is not None and peak is not None and peak < baseline:
            yield Problem(f"peak_{kind}_bytes", str(peak), {"baseline": str(baseline)})


def _allocated_above_reserved(cells: Cells) -> Iterator[Problem]:
    for kind in ("baseline", "peak"):
        allocated, reserved = cells.integer(f"{kind}_allocated_bytes"), cells.integer(f"{kind}_reserved_bytes")
        if allocated is not None and reserved is not None and allocated > reserved:
            yield Problem(f"{kind}_allocated_bytes", str(allocated), {"reserved": str(reserved)})


def on_cpu(device: str) -> bool:
    """Whether a device is the processor itself, on which the GPU's cells are meant to be empty."""
    return device.lower().split(":")[0] == "cpu"


def _memory_on_cpu(cells: Cells) -> Iterator[Problem]:
    if on_cpu(cells.text("device")):
        for name in MEMORY:
            if cells.has(name):
                yield Problem(name, cells.text(name), {"device": visible(cells.text("device"), 60)})
                return


# Warm-ups, packages, provenance


def _warm_without_warm_up(cells: Cells) -> Iterator[Problem]:
    if cells.text("phase") == "warm" and cells.integer("warmup_iterations") == 0:
        yield Problem("warmup_iterations", cells.text("warmup_iterations"))


def _cold_with_warm_up(cells: Cells) -> Iterator[Problem]:
    warmups = cells.integer("warmup_iterations")
    if cells.text("phase") == "cold" and warmups:
        yield Problem("warmup_iterations", cells.text("warmup_iterations"))


def _longer_than_package(cells: Cells) -> Iterator[Problem]:
    elapsed, days = cells.decimal("elapsed_seconds"), cells.integer("duration_days")
    if elapsed is not None and days is not None and elapsed > days * SECONDS_PER_DAY:
        yield Problem("elapsed_seconds", cells.text("elapsed_seconds"), {"days": str(days)})


_MUTABLE = frozenset(
    [
        "main",
        "master",
        "head",
        "latest",
        "trunk",
        "dev",
        "develop",
        "development",
        "stable",
        "nightly",
        "current",
        "default",
        "edge",
        "release",
        "newest",
    ]
)


def _mutable_revision(cells: Cells) -> Iterator[Problem]:
    for name in ("corpus_revision", "model_revision", "tokenizer_revision"):
        text = cells.text(name)
        # `name@main`, `name:latest`, `refs/heads/main`: what follows the last separator is the moving part.
        moving = text.lower().replace(":", "/").replace("@", "/").split("/")[-1].strip()
        if moving in _MUTABLE:
            yield Problem(name, text)


_GPU_ONLY = ("gpu_model", "driver_version", "runtime_version")
_PROVENANCE = tuple(
    name
    for name in (
        "corpus_revision", "model_revision", "tokenizer_revision", *ENVIRONMENT, *CONFIGURATION, "warmup_iterations",
    )
    if name not in _GPU_ONLY
)  # fmt: skip


def _provenance(name: str, *, gpu_only: bool) -> Callable[[Cells], Iterator[Problem]]:
    def examine(cells: Cells) -> Iterator[Problem]:
        if not cells.has(name) and cells.flag(TIMED) and not (gpu_only and on_cpu(cells.text("device"))):
            yield Problem(name, None, {"title": Phrase(BY_NAME[name].title)})

    return examine


def _empty_provenance(cells: Cells) -> Iterator[Problem]:
    for name in dict.fromkeys(_PROVENANCE):
        yield from _provenance(name, gpu_only=False)(cells)
    for name in _GPU_ONLY:
        yield from _provenance(name, gpu_only=True)(cells)


def _empty_notes(cells: Cells) -> Iterator[Problem]:
    if cells.flag(TIMED) and not cells.flag(EXPLAINED):
        yield Problem("notes")


def _tolerance_unchecked(cells: Cells) -> Iterator[Problem]:
    if cells.has("quality_tolerance"):
        yield Problem("quality_tolerance", cells.text("quality_tolerance"))


_ACCEPTANCE = ("phase", TIMED, "corpus_accepted", *CONDITION_COLUMNS)
_ACCEPTED_REMEDY = N_("Write `false`, or correct the cell after a new check of the outputs.")

PASS_RULES: tuple[RowRule, ...] = (
    _error(
        "identity-empty", "4", IDENTITY, _empty_identity,
        N_("A pass without identity"),
        N_("`{column}` is empty: a pass is identified by its experiment, variant, phase and run."),
        N_("Fill `{column}` from the protocol or the log of the run."),
        suspects=_unidentified,
    ),
    _error(
        "package-days", "5", ("duration_days",), _days,
        N_("A package of another length"),
        N_("`duration_days` is {value}, and packages last 3, 7 or 30 whole days."),
        N_("Write the length of the whole package that was rented; it is never cut nor stretched."),
    ),
    _error(
        "time-not-positive", "3", ("elapsed_seconds",), _time_not_positive,
        N_("A time of zero or below"),
        N_("`elapsed_seconds` is {value}, and no pass lasts that."),
        N_("Leave the time of a failed pass empty and say why in `notes`; otherwise write what the clock measured."),
        suspects=lambda table: _timed_outside(table, 0, math.inf),
    ),
    _error(
        "accepted-without-time", "3", (TIMED, "corpus_accepted"), _accepted_without_time,
        N_("Accepted without a time"),
        N_("`corpus_accepted` is {value} on a pass that has no time: a failed pass accepts nothing."),
        N_("Write `false`, or the time that was measured."),
    ),
    _error(
        "load-accepted", "3", ("phase", "corpus_accepted"), _load_accepted,
        N_("A loading that accepts a corpus"),
        N_("`corpus_accepted` is {value} on a row of phase `load`, where no corpus passes through."),
        N_("Leave the cell empty, or write `false`."),
    ),
    _error(
        "ids-match-counts-differ", "1", ("expected_ids", "observed_ids", "ids_match"), _ids_against_counts,
        N_("IDs match, and the counts differ"),
        N_("`ids_match` is {value} though {observed} IDs were observed and {expected} expected."),
        N_("Check the outputs again with `gpucost audit`, and write what it finds."),
    ),
    _error(
        "accepted-ids", "1", _ACCEPTANCE, _accepted_although("ids_match", "counts"),
        N_("Accepted against its own IDs"),
        N_("`corpus_accepted` is true although {condition}."),
        _ACCEPTED_REMEDY,
    ),
    _error(
        "accepted-format", "1", _ACCEPTANCE, _accepted_although("format_valid"),
        N_("Accepted against its own format"),
        N_("`corpus_accepted` is true although {condition}."),
        _ACCEPTED_REMEDY,
    ),
    _error(
        "accepted-quality", "1", _ACCEPTANCE, _accepted_although("quality"),
        N_("Accepted against its own quality"),
        N_("`corpus_accepted` is true although {condition}."),
        N_("Write `false`: the tolerance never softens the threshold, and both were fixed before the measurement."),
    ),
    _error(
        "quality-out-of-bounds", "1", ("quality_metric", *_BOUNDED), _out_of_bounds,
        N_("A quality outside its bounds"),
        N_("`{column}` is {value}, and {metric} allows {bounds}: percent or fraction?"),
        N_("Write the value as the metric gives it, such as 0.912 for 91.2 percent; nothing is divided by 100 here."),
    ),
    _error(
        "tolerance-negative", "1", ("quality_metric", "quality_tolerance"), _negative_tolerance,
        N_("A tolerance below zero"),
        N_("`quality_tolerance` is {value}; it is the largest drop allowed, and cannot be below zero."),
        N_("Write the drop as a positive number, or leave the cell empty."),
    ),
    _warning(
        "condition-not-recorded", "1", _ACCEPTANCE, _not_recorded,
        N_("A condition of acceptance not recorded"),
        N_("The pass was measured, and {columns} was not recorded: a condition that was not recorded is never taken as"
           " met, so the pass is rejected."),
        N_("Check the outputs with `gpucost audit` and fill the cells from it."),
    ),
    _warning(
        "metric-unknown", "1", ("quality_metric",), _unknown_metric,
        N_("An unknown metric"),
        N_("It is not known whether more or less of {value} is better: its quality is not taken as met"
           " ({count} rows of {experiment})."),
        N_("Use a known name, such as macro-f1, accuracy or error-rate, or fix its direction in a protocol file."),
        once=True,
    ),
    _warning(
        "failure-unexplained", "3", (TIMED, EXPLAINED), _failed_unexplained,
        N_("A failed pass without its reason"),
        N_("The pass has no time and `notes` does not say why."),
        N_("Write the incident in `notes`: a memory overflow, an exception, a time limit."),
    ),
    _warning(
        "refusal-unexplained", "1", (EXPLAINED, *_ACCEPTANCE), _refused_unexplained,
        N_("A refusal without its reason"),
        N_("The corpus is refused though every recorded condition holds, and `notes` does not say why."),
        N_("Write the decision in `notes`, or check the outputs again with `gpucost audit`."),
    ),
    _warning(
        "load-filled", "3", ("phase", TIMED, *_LOAD_EMPTY), _load_filled,
        N_("A loading with a corpus in it"),
        N_("`{column}` is {value} on a row of phase `load`, where no corpus passes through."),
        N_("Leave the cell empty; the pass that classified the corpus has a row of its own."),
    ),
    _warning(
        "memory-peak-below-baseline", "3", MEMORY, _peak_below_baseline,
        N_("A peak below its baseline"),
        N_("`{column}` is {value} bytes, below the baseline of {baseline}: a peak is absolute and holds the baseline."),
        N_("Record the absolute peak after a reset, for the measured device; do not subtract the baseline."),
    ),
    _warning(
        "memory-allocated-above-reserved", "3", MEMORY, _allocated_above_reserved,
        N_("Allocated above reserved"),
        N_("`{column}` is {value} bytes, above the {reserved} reserved: allocated memory is part of the reserved."),
        N_("Check that both were read on the same device and in the same order of columns."),
    ),
    _warning(
        "memory-on-cpu", "4", ("device", *MEMORY), _memory_on_cpu,
        N_("GPU memory on a CPU"),
        N_("`{column}` is {value} on the device {device}: the GPU allocator's figures do not exist there."),
        N_("Leave the four memory cells empty on a CPU."),
    ),
    _warning(
        "warm-without-warm-up", "3", ("phase", "warmup_iterations"), _warm_without_warm_up,
        N_("Warm without a warm-up"),
        N_("The pass is called `warm` after {value} warm-up iterations."),
        N_("Write the warm-ups that were really run, or the phase `cold`."),
    ),
    _warning(
        "cold-with-warm-up", "3", ("phase", "warmup_iterations"), _cold_with_warm_up,
        N_("Cold after a warm-up"),
        N_("The pass is called `cold` after {value} warm-up iterations; it is the first one of a fresh process."),
        N_("Write 0, or the phase `warm`."),
    ),
    _warning(
        "time-longer-than-package", "5", ("elapsed_seconds", "duration_days"), _longer_than_package,
        N_("Longer than its package"),
        N_("`elapsed_seconds` is {value}, longer than the whole package of {days} days."),
        N_("Check the unit (seconds, not milliseconds) and the package."),
        suspects=lambda table: _timed_outside(table, -math.inf, min(PACKAGE_DAYS) * SECONDS_PER_DAY),
    ),
    _warning(
        "revision-mutable", "1", ("corpus_revision", "model_revision", "tokenizer_revision"), _mutable_revision,
        N_("A revision that can move"),
        N_("`{column}` is {value}, a name whose content changes with time ({count} rows of {experiment})."),
        N_("Write a commit or a SHA-256."),
        once=True,
    ),
    _warning(
        "provenance-empty", "2", tuple(dict.fromkeys((TIMED, "device", *_PROVENANCE, *_GPU_ONLY))), _empty_provenance,
        N_("Provenance not recorded"),
        N_("`{column}` ({title}) is empty on {count} measured rows of {experiment}."),
        N_("Record what was observed on the machine. It cannot be filled in later from a promise."),
        once=True,
    ),
    _rule(
        Severity.NOTICE, "notes-empty", "4", (TIMED, EXPLAINED), _empty_notes,
        (N_("No notes"),
         N_("`notes` is empty on {count} measured rows of {experiment}: what the timer covered and the revision of the"
            " code are unknown."),
         N_("Write the timer's scope, the code revision and where the outputs are kept.")),
        once=True,
    ),
    _rule(
        Severity.NOTICE, "tolerance-unchecked", "1", ("quality_tolerance",), _tolerance_unchecked,
        (N_("A tolerance that cannot be checked"),
         N_("The tolerance {value} is the largest drop against a reference value that the CSV does not hold: it could"
            " not be checked on {count} rows of {experiment}."),
         N_("Give the reference to `gpucost audit --reference-value`, and say in `notes` what it is.")),
        once=True,
    ),
)  # fmt: skip
