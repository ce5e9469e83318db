"""The audit of a corpus: expected IDs against individual outputs, exactly once, and the quality rule.

It takes bytes, never paths, and never raises on what stands in them. IDs are compared as exact strings: nothing is
trimmed, normalised or made unique. Contract, section 4 (`audit`); protocol, section 1.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any, Literal
from unicodedata import normalize

import orjson

from gpucost.cells import named_character, visible
from gpucost.language import N_, Translator, translator
from gpucost.likeness import appearance, likeness_keys, scientific_keys
from gpucost.metrics import COMPUTABLE, Quality, measure_quality
from gpucost.phrases import Phrase
from gpucost.quality import Metric, metric_named, reaches, within_tolerance
from gpucost.records import (
    BadRecord,
    Batch,
    Document,
    Record,
    is_blank,
    is_plain_list,
    read_id_list,
    read_outputs,
    read_records,
    unusable,
)

__all__ = ["COMPUTABLE", "AuditReport", "AuditUsageError", "Corpus", "Document", "audit", "control_json"]

SHOWN = 100
"""Entries that a list of the report holds at most; its count is exact."""
HINTS = 10


class AuditUsageError(Exception):
    """What was asked for cannot be audited: an unknown metric, a tolerance without its reference value."""

    def __init__(self, phrase: Phrase) -> None:
        """`phrase` says why, and is translated where it is shown."""
        super().__init__(phrase.render(translator("en")))
        self.phrase = phrase


@dataclass(frozen=True, slots=True)
class Names:
    """Some IDs: how many there are, and the first of them."""

    count: int
    ids: tuple[str, ...]

    @classmethod
    def of(cls, names: Sequence[str]) -> "Names":
        """Count them all and keep the first."""
        return cls(len(names), tuple(names[:SHOWN]))

    def to_json(self) -> dict[str, Any]:
        """The two fields."""
        return {"count": self.count, "ids": list(self.ids)}


@dataclass(frozen=True, slots=True)
class Leaks:
    """What evaluation and another split share; None where one side has none to compare."""

    ids: Names | None
    texts: Names | None

    @property
    def any(self) -> bool:
        """Whether anything is shared."""
        return any(names is not None and names.count > 0 for names in (self.ids, self.texts))


@dataclass(frozen=True, slots=True)
class QualityRule:
    """The rule fixed before the measurement. `tolerance` is the largest drop against `reference_value`.

    A metric alone is computed and decides nothing.
    """

    metric: Metric
    threshold: Decimal | None
    tolerance: Decimal | None = None
    reference_value: Decimal | None = None

    @property
    def decides(self) -> bool:
        """Whether there is something that a value can fail."""
        return self.threshold is not None or self.tolerance is not None

    def reached(self, value: Decimal) -> bool:
        """Whether a value reaches the threshold."""
        return self.threshold is None or reaches(self.metric.direction, value, self.threshold)

    def tolerated(self, value: Decimal) -> bool:
        """Whether a value drops no further than allowed."""
        if self.tolerance is None or self.reference_value is None:
            return True
        return within_tolerance(self.metric.direction, value, self.reference_value, self.tolerance)


@dataclass(frozen=True)
class AuditReport:
    """What the outputs of one pass are: counts, lists cut at 100 entries, the metric and the verdict.

    `faults` are problems of the pieces themselves (an expected list that repeats an ID, a file that is no CSV): with
    one, nothing is ever accepted. `expected_sound` and `outputs_readable` say whether they concern the expected list
    or the outputs. `warnings` change no verdict. `expected` counts the list as it stands, repetitions included.
    """

    expected: int
    observed: int
    missing: Names
    duplicate: Names
    extra: Names
    invalid_count: int
    invalid_rows: tuple[BadRecord, ...]
    faults: tuple[Phrase, ...]
    warnings: tuple[Phrase, ...]
    rule: QualityRule | None
    quality: Quality | None
    leaks: Leaks | None
    has_reference: bool = field(default=False)
    expected_sound: bool = field(default=True)
    outputs_readable: bool = field(default=True)

    @property
    def ids_match(self) -> bool:
        """Every expected ID exactly once, and no other. Never so where the expected list itself is faulty."""
        told_apart = self.expected_sound and self.outputs_readable
        return told_apart and not (self.missing.count or self.duplicate.count or self.extra.count)

    @property
    def format_valid(self) -> bool:
        """Whether every output row is valid."""
        return self.invalid_count == 0 and self.outputs_readable

    @property
    def quality_value(self) -> Decimal | None:
        """The metric, None where it could not be computed."""
        return self.quality.value if self.quality is not None else None

    @property
    def quality_met(self) -> bool | None:
        """Whether the quality rule holds; None where there is no rule, or no value."""
        if self.rule is None or not self.rule.decides or self.quality_value is None:
            return None
        return self.rule.reached(self.quality_value) and self.rule.tolerated(self.quality_value)

    @property
    def accepted(self) -> bool | None:
        """Whether the corpus is accepted; None where no reference or no rule was given."""
        if not self.has_reference or self.rule is None or not self.rule.decides:
            return None
        return not self._wrong and self.quality_met is True

    @property
    def exit_status(self) -> Literal[0, 1]:
        """1 where anything is wrong; warnings never change it."""
        return 1 if self._wrong or self.accepted is False else 0

    @property
    def _wrong(self) -> bool:
        leaked = self.leaks is not None and self.leaks.any
        return bool(self.faults) or not self.ids_match or not self.format_valid or leaked

    def reasons(self) -> Iterator[Phrase]:
        """Why the corpus is not accepted, in order of consequence, with figures."""
        yield from self.faults
        if self.outputs_readable:
            yield from _counted(
                self.missing, N_("1 expected ID is missing: {ids}"), N_("{count} expected IDs are missing: {ids}")
            )
        yield from _counted(
            self.duplicate, N_("1 ID stands more than once: {ids}"), N_("{count} IDs stand more than once: {ids}")
        )
        yield from _counted(self.extra, N_("1 ID was not expected: {ids}"), N_("{count} IDs were not expected: {ids}"))
        if self.invalid_count:
            one, many = N_("1 output row is not valid"), N_("{count} output rows are not valid")
            yield Phrase(one if self.invalid_count == 1 else many, {"count": str(self.invalid_count)})
        if self.leaks is not None:
            yield from _counted(
                self.leaks.ids,
                N_("1 evaluation ID also stands in the other split: {ids}"),
                N_("{count} evaluation IDs also stand in the other split: {ids}"),
            )
            yield from _counted(
                self.leaks.texts,
                N_("1 evaluation text also stands in the other split, that of: {ids}"),
                N_("{count} evaluation texts also stand in the other split, those of: {ids}"),
            )
        yield from self._quality_reasons()

    def _quality_reasons(self) -> Iterator[Phrase]:
        rule, quality = self.rule, self.quality
        if rule is None or not rule.decides or quality is None:
            return
        if quality.value is None:
            yield Phrase(N_("{metric} is undefined on these labels"), {"metric": rule.metric.name})
            return
        value = quality.value
        details = {"metric": rule.metric.name, "value": str(value)}
        if not rule.reached(value):
            template = N_("{metric} {value} does not reach the threshold {threshold}")
            yield Phrase(template, {**details, "threshold": str(rule.threshold)})
        if rule.reference_value is not None and not rule.tolerated(value):
            drop = {
                "tolerance": str(rule.tolerance),
                "reference": str(rule.reference_value),
                "drop": str(abs(rule.reference_value - value)),
            }
            template = N_("{metric} {value} drops by {drop} from the reference {reference}; {tolerance} is allowed")
            yield Phrase(template, {**details, **drop})

    def to_json(self, to: Translator) -> dict[str, Any]:
        """The fields of the contract. Only the texts of `warnings` and of the reasons depend on the language."""
        rows = [
            {"row": bad.row, "line": bad.line, "value": bad.value, "reason": bad.reason.render(to)}
            for bad in self.invalid_rows
        ]
        answer: dict[str, Any] = {
            "expected": self.expected,
            "observed": self.observed,
            "missing": self.missing.to_json(),
            "duplicate": self.duplicate.to_json(),
            "extra": self.extra.to_json(),
            "invalid_format": {"count": self.invalid_count, "rows": rows},
            "ids_match": self.ids_match,
            "format_valid": self.format_valid,
            "quality_metric": self.rule.metric.name if self.rule is not None else None,
            "quality_value": float(self.quality_value) if self.quality_value is not None else None,
            "classes_averaged": list(self.quality.classes_averaged) if self.quality is not None else [],
            "warnings": [phrase.render(to) for phrase in (*self.faults, *self.warnings)],
            "accepted": self.accepted,
        }
        if self.leaks is not None:
            answer["leaks"] = {
                "ids": self.leaks.ids.to_json() if self.leaks.ids is not None else None,
                "texts": self.leaks.texts.to_json() if self.leaks.texts is not None else None,
            }
        return answer


def _counted(names: Names | None, one: str, many: str) -> Iterator[Phrase]:
    if names is not None and names.count:
        yield Phrase(one if names.count == 1 else many, {"count": str(names.count), "ids": shown_ids(names)})


def shown_ids(names: Names, limit: int = 6) -> str:
    """The first IDs, with invisible characters made visible."""
    more = f", … (+{names.count - limit})" if names.count > limit else ""
    return ", ".join(visible(name, 60) for name in names.ids[:limit]) + more


def control_json(report: AuditReport, **fingerprints: str | None) -> bytes:
    """What is archived as the control of a pass: what `audit --json` prints, in English, and after it what a
    measurement fingerprinted (`input_order_sha256`, `outputs_sha256`)."""
    control = report.to_json(translator("en")) | fingerprints
    return orjson.dumps(control, option=orjson.OPT_INDENT_2) + b"\n"


@dataclass(frozen=True)
class Corpus:
    """The expected IDs, the references and the classes, parsed once for many outputs.

    `ids` are the keys, distinct and in the list's order; `listed` counts them as they stand there. `classes` are the allowed
    labels: those declared, else those of the reference; None where any label is allowed.
    """

    ids: Mapping[str, None]
    listed: int
    reference: Mapping[str, str] | None
    classes: frozenset[str] | None
    declared: bool
    faults: tuple[Phrase, ...]
    warnings: tuple[Phrase, ...]
    texts: Mapping[str, str]
    sound: bool

    @classmethod
    def prepare(
        cls, expected: Document, reference: Document | None = None, classes: Sequence[str] | None = None
    ) -> "Corpus":
        """Parse what outputs are held against. What is wrong with it becomes a fault, and is never repaired."""
        faults: list[Phrase] = []
        warnings: list[Phrase] = []
        texts: dict[str, str] = {}
        names = _expected_ids(expected, faults, warnings, texts)
        ids = dict.fromkeys(names)
        if len(ids) < len(names):
            again = Names.of([name for name, count in Counter(names).items() if count > 1])
            faults += _counted(
                again,
                N_("the expected list repeats 1 ID: {ids}; make it stand once"),
                N_("the expected list repeats {count} IDs: {ids}; make each stand once"),
            )
        sound = not faults
        labels = _reference_labels(reference, faults, texts) if reference is not None else None
        if labels:
            faults += _reference_faults(ids, labels, warnings)
            if classes:
                foreign = sorted(set(labels.values()) - set(classes))
                if foreign:
                    details = {"labels": ", ".join(visible(label, 60) for label in foreign[:6])}
                    faults.append(Phrase(N_("the reference holds labels outside the classes: {labels}"), details))
        allowed = frozenset(classes) if classes else frozenset(labels.values()) if labels else None
        return cls(
            ids, len(names), labels, allowed, bool(classes), tuple(faults), tuple(warnings), texts, sound
        )  # fmt: skip

    def audit(
        self,
        outputs: Document,
        *,
        metric: str | None = None,
        threshold: Decimal | None = None,
        tolerance: Decimal | None = None,
        reference_value: Decimal | None = None,
        not_in: Document | None = None,
    ) -> AuditReport:
        """Audit the outputs of one pass. Raises AuditUsageError where the rule asks for what cannot be computed."""
        rule = _quality_rule(metric, threshold, tolerance, reference_value)
        faults, warnings = list(self.faults), list(self.warnings)
        refusal = unusable(outputs, plain=False, labels=True)
        if refusal:
            faults.insert(0, refusal)
        seen = _Seen(self, keep_labels=self.reference is not None and rule is not None)
        if not refusal:
            seen.read(outputs)
        pending = frozenset(seen.pending)  # a copy is as small as what is left, and is looked through faster
        missing = [name for name in self.ids if name in pending] if pending else []
        warnings += _likenesses(missing, list(islice(seen.extra, 2_000)))
        quality = None
        comparable = not (faults or missing or any(name in seen.labels for name in seen.repeated))
        if self.reference is not None and rule is not None and comparable:
            quality = self._quality(rule.metric, seen, warnings)
        leaks = None
        if not_in is not None:
            leaks, split_faults = self.leaks(not_in)
            faults += split_faults
        return AuditReport(
            expected=self.listed,
            observed=seen.observed,
            missing=Names.of(missing),
            duplicate=Names.of(list(seen.repeated)),
            extra=Names.of(list(seen.extra)),
            invalid_count=seen.invalid_count,
            invalid_rows=tuple(seen.invalid),
            faults=tuple(faults),
            warnings=tuple(warnings),
            rule=rule,
            quality=quality,
            leaks=leaks,
            has_reference=self.reference is not None,
            expected_sound=self.sound,
            outputs_readable=refusal is None,
        )

    def _quality(self, metric: Metric, seen: "_Seen", warnings: list[Phrase]) -> Quality:
        reference = self.reference or {}
        given = [seen.labels[name] for name in self.ids]
        due = [reference[name] for name in self.ids]
        quality = measure_quality(metric.name, due, given, sorted(self.classes) if self.classes is not None else None)
        absent = sorted((self.classes or frozenset()) - set(due) - set(given)) if self.declared else []
        if absent:
            details = {"classes": ", ".join(visible(name, 60) for name in absent[:6]), "count": str(len(absent))}
            warnings.append(
                Phrase(
                    N_("declared classes that occur in neither reference nor outputs are not averaged: {classes}"),
                    details,
                )
            )
        return quality

    def leaks(self, split: Document) -> tuple[Leaks, list[Phrase]]:
        """What another split shares with this corpus, and what is wrong with that split. Raises AuditUsageError where
        nothing of it can be read."""
        faults: list[Phrase] = []
        if refusal := unusable(split, plain=True, labels=False, ids=False):
            raise AuditUsageError(refusal)
        ids: set[str] = set()
        texts: set[str] = set()
        if is_plain_list(split):
            ids.update(read_id_list(split.data))
        else:
            bad: list[BadRecord] = []
            for record in read_records(split, labels=False, ids=False):
                if record.id is not None:
                    ids.add(record.id)
                if record.text:
                    texts.add(record.text)
                if record.bad is not None:
                    bad.append(record.bad)
            if bad:
                faults.append(_bad_piece(N_("the other split, line {line}: {why} ({value})"), bad[0]))
        shared_ids = Names.of([name for name in self.ids if name in ids]) if ids and self.ids else None
        shared_texts = None
        if texts and self.texts:
            shared_texts = Names.of([name for name in self.ids if self.texts.get(name) in texts])
        if shared_ids is None and shared_texts is None:
            faults.append(Phrase(N_("{name} holds no ID and no text to compare"), {"name": visible(split.name, 80)}))
        return Leaks(shared_ids, shared_texts), faults


def audit(
    expected: Document,
    outputs: Document,
    *,
    reference: Document | None = None,
    classes: Sequence[str] | None = None,
    metric: str | None = None,
    threshold: Decimal | None = None,
    tolerance: Decimal | None = None,
    reference_value: Decimal | None = None,
    not_in: Document | None = None,
) -> AuditReport:
    """Audit the outputs of one pass against its corpus. Raises AuditUsageError for bad usage only."""
    _check_classes(classes)
    return Corpus.prepare(expected, reference, classes).audit(
        outputs, metric=metric, threshold=threshold, tolerance=tolerance, reference_value=reference_value, not_in=not_in
    )


def _check_classes(classes: Sequence[str] | None) -> None:
    """Refuse what is a slip of the hand: `A, B` would make every `B` a wrong label."""
    for name in classes or ():
        if not name or name != name.strip():
            details = {"name": visible(name, 60)}
            raise AuditUsageError(Phrase(N_("the class `{name}` is empty or has a space around it"), details))
    if classes and len(set(classes)) < len(classes):
        raise AuditUsageError(Phrase(N_("a class stands twice in the list of classes")))


def _quality_rule(
    name: str | None, threshold: Decimal | None, tolerance: Decimal | None, reference_value: Decimal | None
) -> QualityRule | None:
    if name is None:
        if threshold is not None or tolerance is not None or reference_value is not None:
            raise AuditUsageError(Phrase(N_("a threshold or a tolerance needs its metric (--metric)")))
        return None
    metric = metric_named(name)
    if metric is None or metric.name not in COMPUTABLE:
        details = {"metric": visible(name, 60), "known": ", ".join(COMPUTABLE)}
        raise AuditUsageError(Phrase(N_("the metric {metric} cannot be computed here; these can: {known}"), details))
    if (tolerance is None) != (reference_value is None):
        raise AuditUsageError(Phrase(N_("a tolerance and its reference value go together")))
    if tolerance is not None and not (tolerance.is_finite() and tolerance >= 0):
        raise AuditUsageError(Phrase(N_("a tolerance is the largest drop allowed, and cannot be below zero")))
    for value in (threshold, reference_value):
        if value is not None and not (value.is_finite() and metric.in_range(value)):
            details = {"value": str(value), "metric": metric.name}
            raise AuditUsageError(
                Phrase(N_("{value} is outside the bounds of {metric}: percent or fraction?"), details)
            )
    return QualityRule(metric, threshold, tolerance, reference_value)


def _expected_ids(expected: Document, faults: list[Phrase], warnings: list[Phrase], texts: dict[str, str]) -> list[str]:
    if refusal := unusable(expected, plain=True, labels=False):
        faults.append(refusal)
        return []
    names: list[str] = []
    if is_plain_list(expected):
        names = read_id_list(expected.data)
        if names and any(mark in names[0] for mark in ",;\t"):
            details = {"name": visible(expected.name, 80), "first": visible(names[0], 120)}
            warnings.append(
                Phrase(
                    N_("{name} is read as one ID a line, and the first is {first}; a CSV needs an `id` column"), details
                )
            )
    else:
        for record in read_records(expected, labels=False):
            _keep_expected(record, names, texts, faults)
    if not names and not faults:
        faults.append(Phrase(N_("the expected list holds no ID")))
    if not expected.data.isascii():
        warnings += _twins(names)
    return names


def _twins(names: Sequence[str]) -> Iterator[Phrase]:
    """Expected IDs that are told apart only by their Unicode normal form."""
    first: dict[str, str] = {}
    for name in dict.fromkeys(names):
        twin = first.setdefault(normalize("NFC", name), name) if not name.isascii() else name
        if twin != name:
            details = {"one": visible(twin, 80), "other": visible(name, 80), "points": _difference(twin, name)}
            template = N_("two expected IDs, {one} and {other}, differ only in their Unicode normal form ({points})")
            yield Phrase(template, details)


def _keep_expected(record: Record, names: list[str], texts: dict[str, str], faults: list[Phrase]) -> None:
    if record.id is not None:
        names.append(record.id)
        if record.text:
            texts[record.id] = record.text
    if record.bad is not None and len(faults) < SHOWN:
        faults.append(_bad_piece(N_("the expected list, line {line}: {why} ({value})"), record.bad))


def _bad_piece(template: str, bad: BadRecord) -> Phrase:
    return Phrase(template, {"line": str(bad.line), "value": bad.value, "why": bad.reason})


def _reference_labels(reference: Document, faults: list[Phrase], texts: dict[str, str]) -> dict[str, str]:
    if refusal := unusable(reference, plain=False, labels=True):
        faults.append(refusal)
        return {}
    labels: dict[str, str] = {}
    repeated: dict[str, None] = {}
    if is_blank(reference.data):
        faults.append(Phrase(N_("the reference holds no row")))
    for record in read_records(reference, labels=True):
        if record.bad is not None:
            if len(faults) < SHOWN:
                faults.append(_bad_piece(N_("the reference, line {line}: {why} ({value})"), record.bad))
            continue
        if record.id is None or record.label is None:
            continue
        if record.id in labels:
            repeated[record.id] = None
        labels[record.id] = record.label
        if record.text:
            texts.setdefault(record.id, record.text)
    faults += _counted(
        Names.of(list(repeated)),
        N_("the reference repeats 1 ID: {ids}"),
        N_("the reference repeats {count} IDs: {ids}"),
    )
    return labels


def _reference_faults(ids: Mapping[str, None], labels: Mapping[str, str], warnings: list[Phrase]) -> Iterator[Phrase]:
    yield from _counted(
        Names.of([name for name in ids if name not in labels]),
        N_("the reference lacks 1 expected ID: {ids}"),
        N_("the reference lacks {count} expected IDs: {ids}"),
    )
    warnings += _counted(
        Names.of([name for name in labels if name not in ids]),
        N_("the reference holds 1 ID that is not expected: {ids}"),
        N_("the reference holds {count} IDs that are not expected: {ids}"),
    )


LABEL_OUTSIDE = N_("its label is outside the classes")
LABEL_UNKNOWN = N_("its label is none of the reference's, and no classes were declared")


class _Seen:
    """What the outputs of one pass hold, gathered in one walk over them."""

    def __init__(self, corpus: Corpus, *, keep_labels: bool) -> None:
        self._classes = corpus.classes
        self._outside = LABEL_OUTSIDE if corpus.declared else LABEL_UNKNOWN
        self._expected = corpus.ids
        self._keep_labels = keep_labels
        self.pending = set(corpus.ids)
        self.labels: dict[str, str] = {}
        self.repeated: dict[str, None] = {}
        self.extra: dict[str, int] = {}
        self.observed = 0
        self.invalid: list[BadRecord] = []
        self.invalid_count = 0

    def read(self, outputs: Document) -> None:
        if is_blank(outputs.data):
            return
        for read in read_outputs(outputs):
            if isinstance(read, Record):
                self._keep(read)
            elif self._classes is not None and not self._classes.issuperset(read.labels):
                for record in read.records():
                    self._keep(record)
            else:
                self._take(read)

    def _take(self, batch: Batch) -> None:
        """Take the records of a batch, whose labels are all allowed: the expected and new ones together."""
        fresh = self.pending.intersection(batch.ids)
        if len(fresh) < len(batch.ids):
            for record in batch.records():
                self._keep(record)
            return
        self.pending -= fresh
        self.observed += len(batch.ids)
        if self._keep_labels:
            self.labels.update(zip(batch.ids, batch.labels, strict=True))

    def _keep(self, record: Record) -> None:
        self.observed += 1
        bad = record.bad
        if bad is None and self._classes is not None and record.label not in self._classes:
            reason = Phrase(self._outside)
            bad = BadRecord(record.row, record.line, visible(record.label or "", 120), reason)
        if bad is not None:
            self.invalid_count += 1
            if len(self.invalid) < SHOWN:
                self.invalid.append(bad)
        if record.id is None:
            return
        if record.id in self.pending:
            self.pending.remove(record.id)
            if self._keep_labels:
                # A label that is missing or outside the classes is a wrong answer, whatever it was.
                self.labels[record.id] = record.label or ""
        elif record.id in self._expected:
            self.repeated[record.id] = None
        elif self._expected:  # with no expected list to compare, no ID is extra
            count = self.extra.get(record.id, 0) + 1
            self.extra[record.id] = count
            if count == 2:
                self.repeated[record.id] = None


def _likenesses(missing: Sequence[str], extra: Sequence[str]) -> Iterator[Phrase]:
    """Missing and extra IDs that look alike: what may have rewritten them, with the code points that differ."""
    if not missing or not extra:
        return
    by_likeness: dict[str, str] = {}
    for name in missing[:2_000]:
        for key in (*likeness_keys(name), *scientific_keys(name)):
            by_likeness.setdefault(key, name)
    found = 0
    for other in extra:
        twin = next((by_likeness[key] for key in likeness_keys(other) if key in by_likeness), None)
        if twin is None or twin == other:
            continue
        found += 1
        if found <= HINTS:
            details = {"missing": visible(twin, 80), "extra": visible(other, 80), "points": _difference(twin, other)}
            yield Phrase(_likeness_template(twin, other), details)
    if found > HINTS:
        yield Phrase(N_("{count} more IDs look like a missing one"), {"count": str(found - HINTS)})


def _likeness_template(name: str, other: str) -> str:
    if normalize("NFC", name) == normalize("NFC", other):
        return N_("{missing} is missing and {extra} is extra: they differ only in their Unicode normal form ({points})")
    if appearance(name) == appearance(other):
        return N_("{missing} is missing and {extra} is extra: they look alike and differ in {points}")
    if appearance(name).casefold() == appearance(other).casefold():
        return N_("{missing} is missing and {extra} is extra: they differ only in capital letters ({points})")
    return N_("{missing} is missing and {extra} is extra: a spreadsheet may have rewritten these IDs ({points})")


def _difference(name: str, other: str) -> str:
    strange = [c for c in dict.fromkeys(other) if c not in name] + [c for c in dict.fromkeys(name) if c not in other]
    shown = [named_character(c) for c in strange[:4]]
    return ", ".join(shown) or f"{len(name)} / {len(other)}"
