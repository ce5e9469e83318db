"""A worker: the process that holds one workload and runs its passes. `python -m gpucost.measuring.worker FD PID`.

The conductor, whose process is PID, writes one JSON object a line to its standard input, and reads one a line from the
pipe FD. What a library prints goes to the standard output and error, which are the run's log, and never into the answers.

A worker imports nothing that its workload does not need: its resident memory is the work's own.
"""

import hashlib
import json
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from gpucost.measuring.devices import (
    Device,
    DeviceMissingError,
    Memory,
    describe_device,
    is_memory_overflow,
    open_device,
)
from gpucost.measuring.stopwatch import WorkFailedError, time_work
from gpucost.measuring.workloads import Preparing, Settings, TextItem, Workload, open_workload

Message = dict[str, Any]


class Interrupted(BaseException):
    """The conductor asks the pass under way to end: a time limit, or the user's stop."""


def main(words: Sequence[str] | None = None) -> int:
    """Serve one conductor until its end of the pipe closes."""
    words = sys.argv[1:] if words is None else words
    _die_with(conductor=int(words[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the conductor's to handle
    signal.signal(signal.SIGTERM, _interrupt)
    with os.fdopen(int(words[0]), "w", encoding="utf-8") as answers:
        commands = (json.loads(line) for line in sys.stdin)
        try:
            _serve(commands, lambda message: _say(answers, message))
        except (BrokenPipeError, Interrupted):
            return 1
    return 0


def _say(answers: Any, message: Message) -> None:
    """Say one thing whole: an interruption in the middle of a long answer waits until it is out."""
    line = json.dumps(message) + "\n"
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        answers.write(line)
        answers.flush()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise Interrupted


def _die_with(conductor: int) -> None:
    """Ask Linux to kill this process when its parent dies; elsewhere the closed pipe ends it after its pass. A
    conductor that died before this call is no longer the parent."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != conductor:
        sys.exit(1)


def _serve(commands: Iterator[Message], say: Callable[[Message], None]) -> None:
    order = next(commands)
    try:
        workload, device = _begin(order)
    except DeviceMissingError as error:
        say({"said": "no-device", "message": str(error)})
        return
    except Exception as error:  # noqa: BLE001 - whatever a team's import raises is theirs to read
        say({"said": "no-workload", **_told(error)})
        return
    say({"said": "ready", **_observed(order["device"])})
    work = _Work(workload, device, order, say)
    for command in commands:
        if command["do"] == "load":
            work.load()
        elif command["do"] == "warm-up":
            work.warm_up(command)
        elif command["do"] == "pass":
            work.run_pass(command)
        elif command["do"] == "end":
            return


def _begin(order: Message) -> tuple[Workload, Device]:
    """Import the workload and what it will need, before anything is timed."""
    if order["memory_limit_bytes"] is not None:
        import resource

        limit = order["memory_limit_bytes"]
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    workload = open_workload(order["workload"])
    if order["workload"] in ("text-classification", "embedding-head"):
        from gpucost.measuring.text_classification import offline_unless

        offline_unless(order["allow_download"])
        import transformers
        from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer  # noqa: F401

        del transformers
    device = open_device(order["device"])  # it may import PyTorch, which the seed and the threads are then for
    _seed(order["seed"])
    _set_threads(order["threads"])
    return workload, device


def _seed(seed: int) -> None:
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def _set_threads(threads: int) -> None:
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def _observed(device: str) -> Message:
    """What this process sees of its libraries and its device."""
    torch = sys.modules.get("torch")
    transformers = sys.modules.get("transformers")
    return {
        "pid": os.getpid(),
        "torch_version": None if torch is None else str(torch.__version__),
        "transformers_version": None if transformers is None else str(transformers.__version__),
        "torch_threads": None if torch is None else torch.get_num_threads(),
        "tf32_matmul": None if torch is None else str(torch.get_float32_matmul_precision()),
        **describe_device(device),
    }


def _told(error: BaseException) -> Message:
    """An exception in words, without keeping its frames (and what they hold) alive."""
    kind = "memory-overflow" if is_memory_overflow(error) else "exception"
    if isinstance(error, Interrupted):
        kind = "interrupted"
    told = {
        "kind": kind,
        "message": f"{type(error).__name__}: {error}".splitlines()[0][:500],
        "traceback": _without_machine("".join(traceback.format_exception(error)))[-8_000:],
    }
    traceback.clear_frames(error.__traceback__)
    return told


def _without_machine(text: str) -> str:
    """A traceback without the folders of this machine: the event log is evidence that others read."""
    named = {Path(__file__).parents[2]: "<gpucost>", Path.home(): "~"}
    named |= dict.fromkeys((Path(sys.base_prefix), Path(sys.base_prefix).resolve()), "<python>")
    named |= dict.fromkeys((Path(sys.prefix), Path(sys.prefix).resolve()), "<environment>")
    # The deepest folder first: an environment may stand inside the checkout, and the checkout inside a home.
    for folder, word in sorted(named.items(), key=lambda item: -len(item[0].parts)):
        if len(folder.parts) > 1:
            text = text.replace(f"{folder}{os.sep}", f"{word}{os.sep}")
    return text


def _bytes(memory: Memory) -> list[int | None]:
    return [memory.allocated_bytes, memory.reserved_bytes]


class _Work:
    """One workload on one device, with the texts of the corpus in their order."""

    def __init__(self, workload: Workload, device: Device, order: Message, say: Callable[[Message], None]) -> None:
        self._workload = workload
        self._device = device
        self._order = order
        self._say = say
        self._texts = Path(order["texts"])
        self._batch: int = order["batch"]
        self._batches: dict[int, list[tuple[Sequence[TextItem], Any]]] = {}
        self._outputs: list[tuple[Sequence[TextItem], Any]] = []

    def load(self) -> None:
        """Load the workload, timed, and say what was applied."""
        order = self._order
        settings = Settings(
            order["device"], order["precision"], order["batch"], order["context"], order["truncation"], order["seed"],
            tuple(order["classes"]),
            model=order["model"], tokenizer=order["tokenizer"], head=_path(order["head"]),
            allow_download=order["allow_download"], options=order["options"],
        )  # fmt: skip
        try:
            timing = time_work(self._device, lambda: self._workload.load(settings), self._tell_baseline)
            _set_threads(order["threads"])
            self._say({"said": "loaded", **_timed(timing), "described": dict(self._workload.describe())})
        except WorkFailedError as failed:
            self._say({"said": "failed", **_told(failed.error), "peaks": _bytes(failed.peaks)})
        except (Exception, Interrupted) as error:  # noqa: BLE001
            self._say({"said": "failed", **_told(error), "peaks": [None, None]})

    def warm_up(self, command: Message) -> None:
        """One untimed iteration over the whole corpus."""
        self._batch = command["batch"]
        try:
            self._run(self._order["scope"], None)
            self._device.synchronize()
            self._outputs = []
            self._say({"said": "warmed"})
        except (Exception, Interrupted) as error:  # noqa: BLE001
            self._say({"said": "failed", **_told(error), "peaks": [None, None]})

    def run_pass(self, command: Message) -> None:
        """One timed pass. Its outputs go to the conductor, or stand in the file that it wrote where writing is part
        of the scope."""
        written = Path(command["outputs"])
        self._batch = command["batch"]
        _seed(self._order["seed"])
        try:
            if self._order["scope"] == "processing":
                self._prepared()
            timing = time_work(self._device, lambda: self._run(self._order["scope"], written), self._tell_baseline)
            answer = {
                **_timed(timing),
                "described": dict(self._workload.describe()),
                "order_sha256": self._order_sha256(),
            }
            self._say({"said": "done", **answer, "outputs": self._encoded(written)})
        except WorkFailedError as failed:
            told = _told(failed.error)
            self._say({"said": "failed", **told, "peaks": _bytes(failed.peaks), "outputs": self._reached(written)})
        except (Exception, Interrupted) as error:  # noqa: BLE001
            told = _told(error)
            self._say({"said": "failed", **told, "peaks": [None, None], "outputs": self._reached(written)})
        self._outputs = []

    def _tell_baseline(self, memory: Memory) -> None:
        self._say({"said": "baseline", "baseline": _bytes(memory)})

    def _run(self, scope: str, written: Path | None) -> None:
        """The work itself, as its scope says."""
        self._outputs = outputs = []
        classify = self._workload.classify
        if scope == "processing":
            for items, prepared in self._prepared():
                outputs.append((items, classify(prepared)))
            return
        items = read_texts(self._texts)
        prepare = self._workload.prepare if isinstance(self._workload, Preparing) else None
        for start in range(0, len(items), self._batch):
            batch = items[start : start + self._batch]
            outputs.append((batch, classify(prepare(batch) if prepare else batch)))
        if written is not None:
            written.write_text(encode_outputs(outputs), encoding="utf-8")

    def _prepared(self) -> list[tuple[Sequence[TextItem], Any]]:
        """The batches of the corpus in its order, prepared once for this process."""
        if self._batch not in self._batches:
            items = read_texts(self._texts)
            prepare = self._workload.prepare if isinstance(self._workload, Preparing) else None
            prepared: list[tuple[Sequence[TextItem], Any]] = []
            for start in range(0, len(items), self._batch):
                batch = items[start : start + self._batch]
                prepared.append((batch, prepare(batch) if prepare else batch))
            self._batches[self._batch] = prepared
        return self._batches[self._batch]

    def _order_sha256(self) -> str:
        """The fingerprint of the IDs in the order in which the work was really given them."""
        given = "".join(f"{item.id}\n" for items, _ in self._outputs for item in items)
        return hashlib.sha256(given.encode()).hexdigest()

    def _encoded(self, written: Path) -> str | None:
        """The outputs of a pass that ended well; None where the file of the timed pass holds them."""
        return None if self._order["scope"] == "whole-chain" and written.exists() else encode_outputs(self._outputs)

    def _reached(self, written: Path) -> str | None:
        """The outputs of a pass that failed, as far as it came and as far as they can be written."""
        written.unlink(missing_ok=True)
        reached = ""
        for batch in self._outputs:
            try:
                reached += encode_outputs([batch])
            except (TypeError, ValueError):
                break
        return reached or None


def _timed(timing: Any) -> Message:
    return {
        "elapsed_ns": timing.elapsed_ns, "cpu_ns": timing.cpu_ns, "peaks": _bytes(timing.peaks),
        "max_resident_bytes": timing.max_resident_bytes,
    }  # fmt: skip


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def read_texts(path: Path) -> list[TextItem]:
    """The texts of a corpus in their order: JSON Lines, or CSV, with `id` and `text`. It was checked beforehand."""
    if path.suffix.lower() == ".csv":
        import csv

        with path.open(encoding="utf-8-sig", newline="") as file:
            return [TextItem(row["id"], row["text"]) for row in csv.DictReader(file)]
    items = []
    for line in path.read_text(encoding="utf-8-sig").split("\n"):
        if line.strip():
            record = json.loads(line)
            items.append(TextItem(str(record["id"]), record["text"]))
    return items


def encode_outputs(outputs: Sequence[tuple[Sequence[TextItem], Sequence[Any]]]) -> str:
    """Outputs as JSON Lines, in their order, exactly as the workload gave them: a label too few is a missing line, a
    NaN stays one. Raises TypeError for what JSON cannot hold at all."""
    lines = []
    for items, given in outputs:
        for place, output in enumerate(given):
            if isinstance(output, tuple) and len(output) == 2:
                name, label = output
            elif place < len(items):
                name, label = items[place].id, output
            else:
                raise TypeError(f"the workload gave {len(given)} labels for a batch of {len(items)} texts")
            lines.append(_line({"id": name, "label": label}))
    return "".join(f"{line}\n" for line in lines)


def _line(output: Message) -> str:
    """An output as one line of JSON. Half of a surrogate pair, which UTF-8 cannot hold, stays an escape."""
    line = json.dumps(output, ensure_ascii=False)
    return line if line.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in line) else json.dumps(output)


if __name__ == "__main__":
    sys.exit(main())
