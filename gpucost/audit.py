"""The audit of a corpus: expected IDs against individual outputs, exactly once, and the quality rule.

It takes bytes, never paths, and never raises on what stands in them. IDs are compared as exact strings: nothing is
trimmed, normalised or made unique. Contract, section 4 (`audit`); protocol, section 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import orjson

from gpucost.cells import named_character, skeleton, visible
from gpucost.findings import Phrase
from gpucost.language import N_, Translator, translator
from gpucost.metrics import COMPUTABLE, Quality, measure_quality
from gpucost.quality import Metric, metric_named, reaches, within_tolerance
from gpucost.records import (
    BadRecord,
    Document,
    Record,
    is_json,
    is_plain_list,
    json_lines,
    json_record,
    read_id_list,
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
    """The rule fixed before the measurement. `tolerance` is the largest drop against `reference_value`."""

    metric: Metric
    threshold: Decimal | None
    tolerance: Decimal | None = None
    reference_value: Decimal | None = None


@dataclass(frozen=True)
class AuditReport:
    """What the outputs of one pass are: counts, lists cut at 100 entries, the metric and the verdict.

    `faults` are problems of the pieces themselves (an expected list that repeats an ID, a file that is no CSV): with
    one, nothing is ever accepted. `warnings` change no verdict.
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

    @property
    def ids_match(self) -> bool:
        """Every expected ID exactly once, and no other."""
        return not (self.missing.count or self.duplicate.count or self.extra.count or self.faults)

    @property
    def format_valid(self) -> bool:
        """Whether every output row is valid."""
        return self.invalid_count == 0 and not self.faults

    @property
    def quality_value(self) -> Decimal | None:
        """The metric, None where it could not be computed."""
        return self.quality.value if self.quality is not None else None

    @cached_property
    def quality_met(self) -> bool | None:
        """Whether the quality rule holds; None where there is no rule, or no value."""
        rule, value = self.rule, self.quality_value
        if rule is None or rule.threshold is None or value is None:
            return None
        met = reaches(rule.metric.direction, value, rule.threshold)
        if rule.tolerance is not None and rule.reference_value is not None:
            met = met and within_tolerance(rule.metric.direction, value, rule.reference_value, rule.tolerance)
        return met

    @property
    def accepted(self) -> bool | None:
        """Whether the corpus is accepted; None where no reference or no rule was given."""
        if not self.has_reference or self.rule is None or self.rule.threshold is None:
            return None
        leaked = self.leaks is not None and self.leaks.any
        return self.ids_match and self.format_valid and self.quality_met is True and not leaked

    @property
    def exit_status(self) -> Literal[0, 1]:
        """1 where anything is wrong; warnings never change it."""
        leaked = self.leaks is not None and self.leaks.any
        wrong = not self.ids_match or not self.format_valid or leaked or self.accepted is False
        return 1 if wrong else 0

    def reasons(self) -> Iterator[Phrase]:
        """Why the corpus is not accepted, in order of consequence, with figures."""
        yield from self.faults
        for names, one in (
            (self.missing, N_("{count} expected IDs are missing: {ids}")),
            (self.duplicate, N_("{count} IDs stand more than once: {ids}")),
            (self.extra, N_("{count} IDs were not expected: {ids}")),
        ):
            if names.count:
                yield Phrase(one, {"count": str(names.count), "ids": shown_ids(names)})
        if self.invalid_count:
            yield Phrase(N_("{count} output rows are not valid"), {"count": str(self.invalid_count)})
        if self.leaks is not None:
            for leaked, template in (
                (self.leaks.ids, N_("{count} evaluation IDs also stand in the other split: {ids}")),
                (self.leaks.texts, N_("{count} evaluation texts also stand in the other split, those of: {ids}")),
            ):
                if leaked is not None and leaked.count:
                    yield Phrase(template, {"count": str(leaked.count), "ids": shown_ids(leaked)})
        yield from self._quality_reasons()

    def _quality_reasons(self) -> Iterator[Phrase]:
        rule, value = self.rule, self.quality_value
        if rule is None or rule.threshold is None or value is None:
            return
        details = {"metric": rule.metric.name, "value": str(value), "threshold": str(rule.threshold)}
        if not reaches(rule.metric.direction, value, rule.threshold):
            yield Phrase(N_("{metric} {value} does not reach the threshold {threshold}"), details)
        tolerance, reference = rule.tolerance, rule.reference_value
        if tolerance is not None and reference is not None:
            if not within_tolerance(rule.metric.direction, value, reference, tolerance):
                drop = {"tolerance": str(tolerance), "reference": str(reference), "drop": str(abs(reference - value))}
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


def shown_ids(names: Names, limit: int = 6) -> str:
    """The first IDs, with invisible characters made visible."""
    more = f", … (+{names.count - limit})" if names.count > limit else ""
    return ", ".join(visible(name, 60) for name in names.ids[:limit]) + more


def control_json(report: AuditReport) -> bytes:
    """What is archived as the control of a pass: what `audit --json` prints, in English."""
    return orjson.dumps(report.to_json(translator("en")), option=orjson.OPT_INDENT_2) + b"\n"


@dataclass(frozen=True)
class Corpus:
    """The expected IDs, the references and the classes, parsed once for many outputs.

    `classes` are the allowed labels: those declared, else those of the reference; None where any label is allowed.
    """

    ids: tuple[str, ...]
    reference: Mapping[str, str] | None
    classes: frozenset[str] | None
    declared: bool
    faults: tuple[Phrase, ...]
    warnings: tuple[Phrase, ...]
    texts: Mapping[str, str]

    @classmethod
    def prepare(
        cls, expected: Document, reference: Document | None = None, classes: Sequence[str] | None = None
    ) -> "Corpus":
        """Parse what outputs are held against. What is wrong with it becomes a fault, and is never repaired."""
        faults: list[Phrase] = []
        warnings: list[Phrase] = []
        texts: dict[str, str] = {}
        ids = _expected_ids(expected, faults, texts)
        labels = _reference_labels(reference, faults, texts) if reference is not None else None
        if labels is not None:
            faults += _reference_faults(ids, labels, warnings)
            if classes is not None:
                foreign = sorted(set(labels.values()) - set(classes))
                if foreign:
                    details = {"labels": ", ".join(visible(label, 60) for label in foreign[:6])}
                    faults.append(Phrase(N_("the reference holds labels outside the classes: {labels}"), details))
        allowed = frozenset(classes) if classes is not None else frozenset(labels.values()) if labels else None
        return cls(tuple(ids), labels, allowed, classes is not None, tuple(faults), tuple(warnings), texts)

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
        if refusal := unusable(outputs, plain=False, labels=True):
            faults.append(refusal)
            outputs = Document(outputs.name, b"")
        seen = _Seen(self, keep_labels=self.reference is not None)
        seen.read(outputs)
        missing = [name for name in self.ids if name in seen.pending] if seen.pending else []
        warnings += _likenesses(missing, list(islice(seen.extra, 2_000)))
        quality = None
        if self.reference is not None and rule is not None and not missing and not seen.repeated and not faults:
            quality = self._quality(rule.metric, seen, warnings)
        return AuditReport(
            expected=len(self.ids),
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
            leaks=self._leaks(not_in, faults) if not_in is not None else None,
            has_reference=self.reference is not None,
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
        if quality.value is None:
            warnings.append(Phrase(N_("{metric} is undefined on these labels"), {"metric": metric.name}))
        return quality

    def _leaks(self, split: Document, faults: list[Phrase]) -> Leaks:
        if refusal := unusable(split, plain=True, labels=False):
            raise AuditUsageError(refusal)
        ids: set[str] = set()
        texts: set[str] = set()
        if is_plain_list(split.data):
            ids.update(read_id_list(split.data))
        else:
            for record in read_records(split, labels=False):
                if record.id is not None:
                    ids.add(record.id)
                if record.text is not None:
                    texts.add(record.text)
        shared_ids = Names.of([name for name in self.ids if name in ids]) if ids and self.ids else None
        shared_texts = None
        if texts and self.texts:
            shared_texts = Names.of([name for name in self.ids if self.texts.get(name) in texts])
        return Leaks(shared_ids, shared_texts)


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
    return Corpus.prepare(expected, reference, classes).audit(
        outputs, metric=metric, threshold=threshold, tolerance=tolerance, reference_value=reference_value, not_in=not_in
    )


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
    if tolerance is not None and tolerance < 0:
        raise AuditUsageError(Phrase(N_("a tolerance is the largest drop allowed, and cannot be below zero")))
    for value in (threshold, reference_value):
        if value is not None and not metric.in_range(value):
            details = {"value": str(value), "metric": metric.name}
            raise AuditUsageError(
                Phrase(N_("{value} is outside the bounds of {metric}: percent or fraction?"), details)
            )
    return QualityRule(metric, threshold, tolerance, reference_value)


def _expected_ids(expected: Document, faults: list[Phrase], texts: dict[str, str]) -> list[str]:
    if refusal := unusable(expected, plain=True, labels=False):
        faults.append(refusal)
        return []
    if is_plain_list(expected.data):
        names = read_id_list(expected.data)
    else:
        names = []
        for record in read_records(expected, labels=False):
            _keep_expected(record, names, texts, faults)
    distinct = dict.fromkeys(names)
    if len(distinct) < len(names):
        seen: set[str] = set()
        again = Names.of(list(dict.fromkeys(name for name in names if name in seen or seen.add(name))))  # type: ignore[func-returns-value]
        details = {"count": str(again.count), "ids": shown_ids(again)}
        faults.append(Phrase(N_("the expected list repeats {count} IDs: {ids}; make each stand once"), details))
    if not names and not faults:
        faults.append(Phrase(N_("the expected list holds no ID")))
    return list(distinct)


def _keep_expected(record: Record, names: list[str], texts: dict[str, str], faults: list[Phrase]) -> None:
    if record.id is not None:
        names.append(record.id)
        if record.text is not None:
            texts[record.id] = record.text
    if record.bad is not None and len(faults) < SHOWN:
        faults.append(_bad_piece(N_("the expected list, line {line}: {why} ({value})"), record.bad))


def _bad_piece(template: str, bad: BadRecord) -> Phrase:
    return Phrase(template, {"line": str(bad.line), "value": bad.value, "why": bad.reason.render(translator("en"))})


def _reference_labels(reference: Document, faults: list[Phrase], texts: dict[str, str]) -> dict[str, str]:
    if refusal := unusable(reference, plain=False, labels=True):
        faults.append(refusal)
        return {}
    labels: dict[str, str] = {}
    repeated: dict[str, None] = {}
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
        if record.text is not None:
            texts.setdefault(record.id, record.text)
    if repeated:
        names = Names.of(list(repeated))
        details = {"count": str(names.count), "ids": shown_ids(names)}
        faults.append(Phrase(N_("the reference repeats {count} IDs: {ids}"), details))
    return labels


def _reference_faults(ids: Sequence[str], labels: Mapping[str, str], warnings: list[Phrase]) -> Iterator[Phrase]:
    lacking = Names.of([name for name in ids if name not in labels])
    if lacking.count:
        details = {"count": str(lacking.count), "ids": shown_ids(lacking)}
        yield Phrase(N_("the reference lacks {count} expected IDs: {ids}"), details)
    known = set(ids)
    more = Names.of([name for name in labels if name not in known])
    if more.count:
        details = {"count": str(more.count), "ids": shown_ids(more)}
        warnings.append(Phrase(N_("the reference holds {count} IDs that are not expected: {ids}"), details))


class _Seen:
    """What the outputs of one pass hold, gathered in one walk over them."""

    def __init__(self, corpus: Corpus, *, keep_labels: bool) -> None:
        self._classes = corpus.classes
        self._expected = frozenset(corpus.ids)
        self._keep_labels = keep_labels
        self.pending = set(corpus.ids)
        self.labels: dict[str, str] = {}
        self.repeated: dict[str, None] = {}
        self.extra: dict[str, int] = {}
        self.observed = 0
        self.invalid: list[BadRecord] = []
        self.invalid_count = 0

    def read(self, outputs: Document) -> None:
        if is_json(outputs.data):
            self._read_json(outputs.data)
        elif outputs.data.strip():
            for record in read_records(outputs, labels=True):
                self._keep(record)

    def _read_json(self, data: bytes) -> None:
        """A million lines in a second: a line in the usual shape is taken as it is, any other is examined in full."""
        parse, pending, classes, labels = orjson.loads, self.pending, self._classes, self.labels
        keep_labels, discard = self._keep_labels, self.pending.remove
        last = data.count(b"\n") + (0 if data.endswith(b"\n") else 1)
        observed = 0
        for line, text in json_lines(data):
            observed += 1
            try:
                fields = parse(text)
                name, label = fields["id"], fields["label"]
            except (ValueError, KeyError, TypeError):
                name = label = None
            usual = (
                type(name) is str
                and type(label) is str
                and name
                and label
                and (classes is None or label in classes)
                and text.count(b'"id"') == 1
                and text.count(b'"label"') == 1
                and b"\\" not in text
            )
            if usual and name in pending:
                discard(name)
                if keep_labels:
                    labels[name] = label
                continue
            self.observed = observed - 1
            self._keep(json_record(observed, line, text, labels=True, at_end=line >= last))
        self.observed = observed

    def _keep(self, record: Record) -> None:
        self.observed += 1
        bad = record.bad
        if bad is None and self._classes is not None and record.label not in self._classes:
            reason = Phrase(N_("its label is outside the classes"))
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
        else:
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
        for key in _likeness_keys(name):
            by_likeness.setdefault(key, name)
    found = 0
    for other in extra:
        twin = next((by_likeness[key] for key in _likeness_keys(other) if key in by_likeness), None)
        if twin is None or twin == other:
            continue
        found += 1
        if found <= HINTS:
            details = {"missing": visible(twin, 80), "extra": visible(other, 80), "points": _difference(twin, other)}
            yield Phrase(_likeness_template(twin, other), details)
    if found > HINTS:
        yield Phrase(N_("{count} more IDs look like a missing one"), {"count": str(found - HINTS)})


def _likeness_keys(name: str) -> tuple[str, ...]:
    likeness = skeleton(name).casefold()
    digits = "".join(c if c.isalnum() else "-" for c in likeness)
    plain = likeness.lstrip("0").removesuffix(".0")
    return likeness, f"separators {digits}", f"zeros {plain}"


def _likeness_template(name: str, other: str) -> str:
    import unicodedata

    if unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", other):
        return N_("{missing} is missing and {extra} is extra: they differ only in their Unicode normal form ({points})")
    if skeleton(name) == skeleton(other):
        return N_("{missing} is missing and {extra} is extra: they look alike and differ in {points}")
    if skeleton(name).casefold() == skeleton(other).casefold():
        return N_("{missing} is missing and {extra} is extra: they differ only in capital letters ({points})")
    return N_("{missing} is missing and {extra} is extra: a spreadsheet may have rewritten these IDs ({points})")


def _difference(name: str, other: str) -> str:
    strange = [c for c in dict.fromkeys(other) if c not in name] + [c for c in dict.fromkeys(name) if c not in other]
    shown = [named_character(c) for c in strange[:4]]
    return ", ".join(shown) or f"{len(name)} / {len(other)}"
