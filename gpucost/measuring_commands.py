"""The commands that measure: `protocol new|check`, `measure`, `head train`, `memory`."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gpucost.language import N_, Translator
from gpucost.phrases import Detail, Phrase

if TYPE_CHECKING:
    from gpucost.records import Document, Record

DONE, FOUND, IMPOSSIBLE = 0, 1, 2
TEMPLATES = Path(__file__).parent / "templates"

Command = Callable[[argparse.Namespace, Translator], int]


class MakeCommand(Protocol):
    """Adds one command to the command line."""

    def __call__(self, name: str, run: Command, help_text: str, example: str, *, json: bool = True) -> Any:
        """The parser of the command."""


def add_measuring(command: MakeCommand, to: Translator) -> None:
    """Add `measure` and `memory` to the command line."""
    _ = to.gettext
    made = command(
        "measure", _measure, _("measure a protocol into a new run's folder, or go on with one"),
        "gpucost measure protocol.toml --out runs/my-experiment",
    )  # fmt: skip
    made.add_argument("protocol", nargs="?", metavar=_("PROTOCOL"), help=_("the protocol file (needed for a new run)"))
    made.add_argument("--out", required=True, metavar=_("FOLDER"), help=_("the run's folder"))
    made.add_argument("--resume", action="store_true", help=_("go on with the run in this folder"))
    made = command(
        "memory", _memory, _("learn to read the four memory figures on a synthetic MLP; it times nothing"),
        "gpucost memory --device cuda:0",
    )  # fmt: skip
    made.add_argument("--device", default="cpu", metavar=_("DEVICE"), help=_("cpu, cuda:0, xpu:0 or mps"))


def add_protocol(command: MakeCommand, to: Translator) -> None:
    """Add `protocol new` and `protocol check`."""
    _ = to.gettext
    made = command(
        "new", _new, _("write a commented protocol file to fill"), "gpucost protocol new -o protocol.toml", json=False
    )
    made.add_argument("-o", "--output", metavar=_("FILE"), help=_("write it to this new file"))
    made = command(
        "check", _check, _("check a protocol and everything that it names, and show what would run"),
        "gpucost protocol check protocol.toml",
    )  # fmt: skip
    made.add_argument("path", metavar=_("PROTOCOL"), help=_("the protocol file"))


def add_head(command: MakeCommand, to: Translator) -> None:
    """Add `head train`."""
    _ = to.gettext
    made = command(
        "train", _train, _("train the linear head of the workload embedding-head on a training split"),
        "gpucost head train --package my_encoder --training train.jsonl -o head.json",
    )  # fmt: skip
    where = made.add_mutually_exclusive_group(required=True)
    where.add_argument("--model", metavar=_("FOLDER"), help=_("the encoder's folder"))
    where.add_argument("--package", metavar=_("NAME"), help=_("an installed package that carries the encoder"))
    made.add_argument("--training", required=True, metavar=_("FILE"), help=_("JSONL or CSV with id, text and label"))
    made.add_argument("-o", "--output", required=True, metavar=_("FILE"), help=_("where the head goes, a new file"))
    made.add_argument("--context", type=int, default=128, help=_("the limit of the context, in tokens (default: 128)"))
    made.add_argument("--seed", type=int, default=0, help=_("the seed (default: 0)"))


def _refuse(reason: str) -> int:
    print(f"gpucost: {reason}", file=sys.stderr)
    return IMPOSSIBLE


def _print_json(value: object) -> None:
    import orjson

    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")


def _why(error: OSError, to: Translator) -> str:
    return to.gettext("no such file") if isinstance(error, FileNotFoundError) else (error.strerror or str(error))


def _cannot_read(path: str, error: OSError, to: Translator) -> int:
    return _refuse(to.gettext("cannot read {path}: {why}").format(path=path, why=_why(error, to)))


def _new(options: argparse.Namespace, to: Translator) -> int:
    text = (TEMPLATES / f"protocol.{to.language}.toml").read_text(encoding="utf-8")
    if options.output is None:
        sys.stdout.write(text)
        return DONE
    try:
        with Path(options.output).open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        return _refuse(to.gettext("{path} exists already; it was left as it is").format(path=options.output))
    except OSError as error:
        reason = to.gettext("cannot write {path}: {why}").format(path=options.output, why=_why(error, to))
        return _refuse(reason)
    return DONE


def _check(options: argparse.Namespace, to: Translator) -> int:
    from gpucost.measuring.preparation import RefusedError, load_protocol, prepare
    from gpucost.protocol import read_protocol
    from gpucost.schedule import planned_passes

    path = Path(options.path)
    try:
        data = path.read_bytes()
    except OSError as error:
        return _cannot_read(options.path, error, to)
    file = read_protocol(path.name, data)
    problems, sealed = file.problems, None
    if file.protocol is not None and not problems:
        try:
            read, protocol = load_protocol(path)
            sealed = prepare(read, protocol, path.resolve().parent).seal
        except RefusedError as refused:
            problems = refused.problems
    planned = planned_passes(file.protocol) if file.protocol is not None and not file.problems else ()
    if options.json:
        _print_json(
            {
                "file": path.name, "sha256": file.sha256, "sealable": sealed is not None,
                "problems": [problem.to_json(to) for problem in problems],
                "passes": [
                    {"variant_id": one.variant_id, "phase": one.phase, "run_index": one.run_index} for one in planned
                ],
                "corpus_revision": sealed and sealed.corpus_revision,
                "model_revision": sealed and sealed.model_revision,
                "tokenizer_revision": sealed and sealed.tokenizer_revision,
            }
        )  # fmt: skip
    else:
        from gpucost.terminal_measuring import print_protocol

        print_protocol(file, problems, sealed, planned, to)
    return FOUND if problems else DONE


def _measure(options: argparse.Namespace, to: Translator) -> int:
    from gpucost.measuring.conduct import measure
    from gpucost.measuring.locks import DeviceBusyError
    from gpucost.measuring.preparation import RefusedError
    from gpucost.terminal_measuring import Progress, print_outcome, print_problems

    if options.protocol is None and not options.resume:
        return _refuse(to.gettext("a new run needs its protocol file; --resume goes on with a run that stands there"))
    folder = Path(options.out)
    progress = Progress(to)
    try:
        with progress:
            outcome = measure(
                None if options.protocol is None else Path(options.protocol), folder, resume=options.resume,
                listener=progress.hear,
            )  # fmt: skip
    except RefusedError as refused:
        print_problems(refused.problems, to)
        return _refuse("; ".join(reason.render(to) for reason in (*refused.reasons, *_summary(refused.problems))))
    except DeviceBusyError as busy:
        return _refuse(busy_phrase(busy.device, busy.holder).render(to))
    except OSError as error:
        return _refuse(_disk_phrase(folder, error).render(to))
    if options.json:
        _print_json(
            {
                "folder": str(outcome.folder), "protocol_sha256": outcome.seal.protocol_sha256,
                "sealed_at": outcome.seal.sealed_at, "rows": outcome.rows, "passes_left": outcome.left,
                "counts": {
                    "accepted": outcome.accepted, "rejected": outcome.rejected, "failed": outcome.failed,
                    "setup": outcome.rows - outcome.accepted - outcome.rejected - outcome.failed,
                },
                "stopped": outcome.stopped,
            }
        )  # fmt: skip
    else:
        print_outcome(outcome, to)
    return FOUND if outcome.found else DONE


def _summary(problems: tuple[Any, ...]) -> tuple[Phrase, ...]:
    if not problems:
        return ()
    count = str(len(problems))
    return (Phrase(N_("nothing was measured: the protocol has {count} problems"), {"count": count}),)


def busy_phrase(device: str, holder: dict[str, str]) -> Phrase:
    """What is said to whoever starts a second measurement on a device."""
    details = {
        "device": holder.get("device", device), "run": holder.get("run", "?"), "pid": holder.get("pid", "?"),
        "since": holder.get("since", "?"),
    }  # fmt: skip
    return Phrase(
        N_("{device} is measuring already: run {run}, process {pid}, since {since}; wait for its end, or stop it"),
        details,
    )


def _disk_phrase(folder: Path, error: OSError) -> Phrase:
    from gpucost.measuring.ledger import read_rows

    details = {
        "path": str(error.filename or folder), "why": error.strerror or str(error), "folder": str(folder),
        "rows": str(len(read_rows(folder))),
    }  # fmt: skip
    return Phrase(N_("{path}: {why}. {rows} rows are kept in {folder}; make room, then go on with `--resume`"), details)


def _labelled(split: "Document") -> tuple[list["Record"], Phrase | None]:
    """The records of a training split, or why one of them cannot be trained on."""
    from gpucost.records import read_records, unusable

    if refusal := unusable(split, plain=False, labels=True):
        return [], refusal
    records = list(read_records(split, labels=True))
    for record in records:
        if record.bad is not None or record.id is None or record.label is None or record.text is None:
            why = record.bad.reason if record.bad else Phrase(N_("id, text and label are needed"))
            details: dict[str, Detail] = {"name": split.name, "line": str(record.line), "why": why}
            return [], Phrase(N_("{name}, line {line}: {why}"), details)
    return records, None


def _train(options: argparse.Namespace, to: Translator) -> int:
    import hashlib

    from gpucost.measuring.seal import ModelMissingError, folder_sha256, package_model
    from gpucost.records import Document

    try:
        split = Document(Path(options.training).name, Path(options.training).read_bytes())
    except OSError as error:
        return _cannot_read(options.training, error, to)
    records, refusal = _labelled(split)
    if refusal is not None:
        return _refuse(refusal.render(to))
    try:
        model = Path(options.model) if options.model else package_model(options.package)
        if not model.is_dir():
            return _refuse(to.gettext("{path} is not a folder").format(path=model))
        from gpucost.measuring.head import train_head
        from gpucost.measuring.workloads import TextItem

        trained = train_head(
            [TextItem(str(record.id), str(record.text)) for record in records],
            [str(record.label) for record in records],
            model=model, model_revision=f"sha256:{folder_sha256(model)}",
            split_sha256=hashlib.sha256(split.data).hexdigest(), context=options.context, seed=options.seed,
            target=Path(options.output),
        )  # fmt: skip
    except FileExistsError:
        return _refuse(to.gettext("{path} exists already; it was left as it is").format(path=options.output))
    except ModelMissingError as error:
        return _refuse(error.phrase.render(to))
    except (ValueError, ImportError) as error:
        return _refuse(str(error))
    except OSError as error:
        reason = to.gettext("cannot write {path}: {why}").format(path=options.output, why=_why(error, to))
        return _refuse(reason)
    if options.json:
        _print_json(
            {
                "file": str(options.output), "sha256": trained.sha256, "texts": trained.texts,
                "classes": list(trained.classes), "training_accuracy": trained.training_accuracy,
            }
        )  # fmt: skip
    else:
        line = to.gettext("{path}: a head for {classes} classes from {texts} training texts, SHA-256 {sha256}")
        print(
            line.format(path=options.output, classes=len(trained.classes), texts=trained.texts, sha256=trained.sha256)
        )
        print(to.gettext("It labels {share:.4f} of its own training texts right; that says nothing about other texts.")
              .format(share=trained.training_accuracy))  # fmt: skip
    return DONE


def _memory(options: argparse.Namespace, to: Translator) -> int:
    from gpucost.measuring.devices import DeviceMissingError
    from gpucost.measuring.locks import DeviceBusyError, DeviceLock, physical_name
    from gpucost.measuring.memory_lesson import lesson

    try:
        with DeviceLock({"run": "gpucost memory", "device": options.device, "pid": str(os.getpid())}) as lock:
            lock.take(physical_name(options.device))
            learnt = lesson(options.device)
    except DeviceBusyError as busy:
        return _refuse(busy_phrase(busy.device, busy.holder).render(to))
    except (DeviceMissingError, ImportError) as error:
        return _refuse(str(error))
    if options.json:
        _print_json(learnt.to_json())
    else:
        from gpucost.terminal_measuring import print_memory

        print_memory(learnt, to)
    return DONE
