"""Preparing a run: the protocol, what it names and the folder it goes to, checked before a machine is used.

Whatever would make a run worthless is refused here, with the key, the value and the remedy. Protocol, section 1.
"""

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from gpucost.folder import EXPECTED_IDS, PROTOCOL, REFERENCE, RESULTS, SEAL
from gpucost.language import N_
from gpucost.measuring.corpus import MeasuredCorpus, read_corpus
from gpucost.measuring.ledger import ENVIRONMENT, EVENTS, LAUNCH, LOG, STOP, UNFINISHED, now, read_object
from gpucost.measuring.seal import (
    ModelMissingError,
    ModelPieces,
    Seal,
    code_identity,
    locate_model,
    model_revisions,
    seal,
)
from gpucost.phrases import Phrase
from gpucost.protocol import Problem, Protocol, ProtocolFile, Variant, read_protocol, unmeasurable
from gpucost.records import is_json, is_plain_list, read_records

OWN_PIECES = {PROTOCOL, EXPECTED_IDS, REFERENCE, SEAL, ENVIRONMENT, LOG, LAUNCH, STOP, EVENTS}
"""What a folder may hold and still take a new run: pieces of a run that never came to its CSV."""


class RefusedError(Exception):
    """A run that cannot be: what is wrong with the protocol, the folder, the device. Nothing was measured."""

    def __init__(self, *reasons: Phrase, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__("refused")
        self.reasons = reasons
        self.problems = problems


@dataclass(frozen=True)
class Prepared:
    """A protocol with everything that it names, read and fingerprinted: what a seal is made of."""

    file: ProtocolFile
    folder: Path
    protocol: Protocol
    corpus: MeasuredCorpus
    model: ModelPieces
    seal: Seal


def load_protocol(path: Path) -> tuple[ProtocolFile, Protocol]:
    """Read a protocol file that can be measured. Raises RefusedError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        details = {"path": str(path), "why": error.strerror or str(error)}
        raise RefusedError(Phrase(N_("cannot read {path}: {why}"), details)) from None
    file = read_protocol(path.name, data)
    if file.protocol is None or file.problems:
        raise RefusedError(problems=file.problems)
    if problem := unmeasurable(file.protocol):
        raise RefusedError(problems=file.placed([problem]))
    return file, file.protocol


def prepare(file: ProtocolFile, protocol: Protocol, folder: Path, at: str | None = None) -> Prepared:
    """Read, check and fingerprint everything that a protocol names, from its folder. Raises RefusedError."""
    corpus, problems = read_corpus(protocol, folder)
    try:
        model = locate_model(protocol, folder)
        revisions = model_revisions(protocol, model)
        code = code_identity(protocol, folder)
    except (ModelMissingError, OSError) as error:
        problems.append(missing_piece(error))
        raise RefusedError(problems=file.placed(problems)) from None
    if corpus is None or problems:
        raise RefusedError(problems=file.placed(problems))
    return Prepared(file, folder, protocol, corpus, model, seal(file, protocol, corpus, revisions, code, at or now()))


def missing_piece(error: ModelMissingError | OSError) -> Problem:
    """What is not there, or cannot be read, as a problem of the protocol's key."""
    remedy = Phrase(N_("Mend the protocol, or put it there."))
    if isinstance(error, ModelMissingError):
        return Problem(error.key, None, None, error.phrase, remedy)
    details = {"path": str(error.filename or "?"), "why": error.strerror or str(error)}
    return Problem("model.path", None, None, Phrase(N_("{path} cannot be read: {why}"), details), remedy)


def protocol_path(path: Path | None, folder: Path, *, resume: bool) -> Path:
    """The protocol file: the one named, or for a resumed run the one that it came from. Raises RefusedError."""
    if path is not None:
        return path.resolve()
    launched = read_object(folder, LAUNCH).get("protocol")
    if not resume or not isinstance(launched, str):
        raise RefusedError(
            Phrase(N_("{folder} does not say which protocol file it came from; name it"), {"folder": str(folder)})
        )
    return Path(launched)


def check_folder(folder: Path, *, resume: bool) -> None:
    """Refuse a folder that holds a run where a new one is due, no run where one is to go on, or anything else."""
    details = {"folder": str(folder)}
    if folder.exists() and not folder.is_dir():
        raise RefusedError(Phrase(N_("{folder} is a file; a run needs a folder"), details))
    if resume:
        if not (folder / RESULTS).is_file() or not (folder / SEAL).is_file():
            raise RefusedError(Phrase(N_("{folder} holds no run to go on with"), details))
        return
    if (folder / RESULTS).exists():
        raise RefusedError(
            Phrase(N_("{folder} holds a run already; `--resume` goes on with it, or choose another folder"), details)
        )
    if folder.exists():
        foreign = sorted(
            entry.name
            for entry in folder.iterdir()
            if entry.name.removesuffix(UNFINISHED) not in {*OWN_PIECES, RESULTS}
        )
        if foreign:
            raise RefusedError(
                Phrase(N_("{folder} is not empty ({first}); choose a new folder"), {**details, "first": foreign[0]})
            )


def id_list(corpus: MeasuredCorpus) -> bytes:
    """The expected IDs, one a line; a plain list stays as it was."""
    if is_plain_list(corpus.expected):
        return corpus.expected.data
    return "".join(f"{name}\n" for name in corpus.corpus.ids).encode()


def reference_lines(corpus: MeasuredCorpus) -> bytes:
    """The reference as JSON Lines; what is JSON Lines already stays as it was."""
    if is_json(corpus.reference.data):
        return corpus.reference.data
    records = read_records(corpus.reference, labels=True)
    return "".join(
        json.dumps({"id": record.id, "label": record.label}, ensure_ascii=False) + "\n" for record in records
    ).encode()


def worker_order(protocol: Protocol, variant: Variant, pieces: ModelPieces, folder: Path) -> dict[str, Any]:
    """The first order of a worker: what it opens, on which device, and how a variant configures it."""
    return {
        "workload": protocol.model.workload,
        "device": protocol.configuration.device,
        "precision": variant.precision,
        "batch": variant.batch,
        "context": variant.context,
        "seed": variant.seed,
        "truncation": protocol.configuration.truncation,
        "threads": protocol.configuration.threads,
        "classes": list(protocol.output.classes),
        "scope": protocol.passes.scope,
        "options": {name: _plain(value) for name, value in protocol.model.options.items()},
        "allow_download": protocol.model.allow_download,
        "memory_limit_bytes": protocol.passes.memory_limit_bytes,
        "model": _text(pieces.model),
        "tokenizer": _text(pieces.tokenizer),
        "head": _text(pieces.head),
        "texts": str((folder / protocol.corpus.texts).resolve()),
    }


def _text(value: Path | str | None) -> str | None:
    return str(value.resolve()) if isinstance(value, Path) else value


def _plain(value: object) -> object:
    """A value of the protocol as JSON holds it: decimals become floats."""
    return float(value) if isinstance(value, Decimal) else value
