"""The pieces that a protocol names, read and checked before the seal: texts, expected IDs, reference, splits.

Everything that the audit of outputs would find wrong with them is found here, before a machine is used.
Protocol, section 1.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gpucost.audit import AuditUsageError, Corpus, shown_ids
from gpucost.audit import Names as IdNames
from gpucost.cells import visible
from gpucost.language import N_
from gpucost.phrases import Phrase
from gpucost.protocol import Problem, Protocol
from gpucost.records import Document, read_records, unusable


@dataclass(frozen=True)
class MeasuredCorpus:
    """The corpus of a protocol: the documents as bytes, the parsed corpus, the IDs in the order of their texts."""

    texts_path: Path
    texts: Document
    expected: Document
    reference: Document
    corpus: Corpus
    order: tuple[str, ...]

    @property
    def revision(self) -> str:
        """One fingerprint of the texts, the expected IDs and the reference: the SHA-256 of their three SHA-256."""
        pieces = (self.texts, self.expected, self.reference)
        lines = "".join(f"{hashlib.sha256(piece.data).hexdigest()}\n" for piece in pieces)
        return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"

    @property
    def order_sha256(self) -> str:
        """The fingerprint of the order in which the texts are given to the work: one ID a line."""
        return order_sha256(self.order)


def order_sha256(ids: tuple[str, ...]) -> str:
    """The SHA-256 of IDs in an order, one a line."""
    return hashlib.sha256("".join(f"{name}\n" for name in ids).encode()).hexdigest()


def read_corpus(protocol: Protocol, folder: Path) -> tuple[MeasuredCorpus | None, list[Problem]]:
    """Read what a protocol names, from its folder. Every problem is given, and nothing raises."""
    problems: list[Problem] = []
    part = protocol.corpus
    documents: dict[str, Document] = {}
    for key in ("texts", "expected_ids", "reference"):
        if document := _document(f"corpus.{key}", folder / getattr(part, key), problems):
            documents[key] = document
    splits = [
        (f"corpus.{key}", document)
        for key in ("training", "tuning")
        for name in getattr(part, key)
        if (document := _document(f"corpus.{key}", folder / name, problems))
    ]
    if len(documents) < 3:
        return None, problems
    expected, reference, texts = documents["expected_ids"], documents["reference"], documents["texts"]
    corpus = Corpus.prepare(expected, reference, protocol.output.classes)
    if corpus.faults:
        own = Corpus.prepare(expected, None, None).faults
        for fault in corpus.faults:
            key, name = ("expected_ids", expected.name) if fault in own else ("reference", reference.name)
            problems.append(_problem(f"corpus.{key}", name, fault, N_("Mend the file.")))
    order, given = _texts(texts, problems)
    if order and corpus.sound:
        problems += _other_ids(corpus, order, texts.name)
    for key, split in splits:
        problems += _leaks(key, corpus, given, split)
    made = MeasuredCorpus(folder / part.texts, texts, expected, reference, corpus, order)
    return made, problems


def _problem(key: str, value: str | None, message: Phrase, remedy: str) -> Problem:
    return Problem(key, None, value, message, Phrase(remedy))


def _document(key: str, path: Path, problems: list[Problem]) -> Document | None:
    try:
        return Document(path.name, path.read_bytes())
    except OSError as error:
        details = {"path": visible(str(path), 200), "why": error.strerror or str(error)}
        problems.append(
            _problem(
                key, path.name, Phrase(N_("{path} cannot be read: {why}"), details),
                N_("Mend the path; it starts from the protocol file's folder."),
            )
        )  # fmt: skip
        return None


def _texts(document: Document, problems: list[Problem]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The IDs of the texts in their order, and each text."""
    if refusal := unusable(document, plain=False, labels=False):
        problems.append(_problem("corpus.texts", document.name, refusal, N_("Mend the file.")))
        return (), {}
    order: list[str] = []
    given: dict[str, str] = {}
    for record in read_records(document, labels=False):
        place = {"name": document.name, "line": str(record.line)}
        if record.bad is not None or record.id is None:
            why = record.bad.reason if record.bad is not None else Phrase(N_("it has no `id`"))
            message = Phrase(N_("{name}, line {line}: {why}"), {**place, "why": why})
        elif record.text is None:
            message = Phrase(N_("{name}, line {line}: it has no `text`"), place)
        elif record.id in given:
            message = Phrase(
                N_("{name}, line {line}: the ID {id} stands again"), {**place, "id": visible(record.id, 80)}
            )
        else:
            order.append(record.id)
            given[record.id] = record.text
            continue
        if len(problems) < 20:
            problems.append(_problem("corpus.texts", record.id, message, N_("Mend the file.")))
    return tuple(order), given


def _other_ids(corpus: Corpus, order: tuple[str, ...], name: str) -> Iterator[Problem]:
    given = set(order)
    without = [one for one in corpus.ids if one not in given]
    extra = [one for one in order if one not in corpus.ids]
    for ids, template in (
        (without, N_("expected IDs have no text: {ids}")),
        (extra, N_("texts are not expected: {ids}")),
    ):
        if ids:
            details = {"ids": shown_ids(IdNames.of(ids))}
            yield _problem(
                "corpus.texts", name, Phrase(template, details),
                N_("Texts and expected IDs are the same set: mend whichever is wrong."),
            )  # fmt: skip


def _leaks(key: str, corpus: Corpus, texts: dict[str, str], split: Document) -> Iterator[Problem]:
    try:
        leaks, faults = replace(corpus, texts=texts).leaks(split)
    except AuditUsageError as error:
        yield _problem(key, split.name, error.phrase, N_("Mend the file."))
        return
    for fault in faults:
        yield _problem(key, split.name, fault, N_("Mend the file."))
    for names, template in (
        (leaks.ids, N_("{split} shares {count} IDs with the evaluation: {ids}")),
        (leaks.texts, N_("{split} shares {count} texts with the evaluation, those of: {ids}")),
    ):
        if names is not None and names.count:
            details = {"split": visible(split.name, 80), "count": str(names.count), "ids": shown_ids(names)}
            yield _problem(
                key, split.name, Phrase(template, details),
                N_("Take them out of one of the two: what was trained on is no evaluation."),
            )  # fmt: skip
