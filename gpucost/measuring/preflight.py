"""Before a run: what would keep it from ending well, looked at without measuring anything.

The protocol and the corpus, the libraries, the disk, the device; and on demand the model, loaded once in a worker of
its own. Protocol, section 1.
"""

import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from gpucost.language import N_
from gpucost.measuring.crew import TimeLimitError, WorkerEndedError, WorkerProcess, worker_environment
from gpucost.measuring.locks import DeviceBusyError, DeviceLock, holder_of, physical_name
from gpucost.measuring.preparation import RefusedError, prepare, worker_order
from gpucost.measuring.seal import PACKAGE, ModelMissingError, Seal, locate_model
from gpucost.measuring.workloads import BUILT_IN
from gpucost.phrases import Phrase
from gpucost.protocol import Problem, Protocol, ProtocolFile, read_protocol, unmeasurable

LOAD_LIMIT_SECONDS = 300
BYTES_PER_OUTPUT = 256
"""Room that one output and its share of a control take at most, for the check of the disk."""
SPARE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: whether it is as it must be, and what was seen."""

    name: str
    passed: bool
    seen: Phrase


@dataclass(frozen=True)
class Preflight:
    """What was found before a run. `seal` is None where the protocol cannot be sealed."""

    file: ProtocolFile
    protocol: Protocol | None
    problems: tuple[Problem, ...]
    seal: Seal | None
    checks: tuple[Check, ...]

    @property
    def ready(self) -> bool:
        """Whether a run may start."""
        return self.seal is not None and all(check.passed for check in self.checks)


def preflight(path: Path, runs: Path) -> Preflight:
    """Look at a protocol file and the machine. Raises OSError where the file cannot be opened."""
    file = read_protocol(path.name, path.read_bytes())
    protocol = file.protocol
    if protocol is None or file.problems:
        return Preflight(file, protocol, file.problems, None, ())
    if problem := unmeasurable(protocol):
        return Preflight(file, protocol, (problem,), None, ())
    try:
        prepared = prepare(file, protocol, path.resolve().parent)
    except RefusedError as refused:
        return Preflight(file, protocol, refused.problems, None, (_libraries(protocol), _device(protocol)))
    texts, splits = len(prepared.corpus.order), len(protocol.corpus.training) + len(protocol.corpus.tuning)
    corpus = Check(
        N_("Corpus"), True,
        Phrase(
            N_("{texts} texts, the same IDs as expected, each with a reference; no leak in {splits} other splits"),
            {"texts": str(texts), "splits": str(splits)},
        ),
    )  # fmt: skip
    passes = len(prepared.seal.order)
    checks = (corpus, _libraries(protocol), _disk(runs, texts * passes), _device(protocol))
    return Preflight(file, protocol, (), prepared.seal, checks)


def _libraries(protocol: Protocol) -> Check:
    needed = ("torch", "transformers") if protocol.model.workload in BUILT_IN else ()
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        seen = Phrase(
            N_("{missing} not installed: pip install 'gpucost[measure]', or torch and transformers"),
            {"missing": ", ".join(missing)},
        )
        return Check(N_("Libraries"), False, seen)
    if needed:
        return Check(N_("Libraries"), True, Phrase(N_("PyTorch and transformers are installed")))
    return Check(N_("Libraries"), True, Phrase(N_("the workload is the team's own, and registered")))


def _disk(runs: Path, outputs: int) -> Check:
    place = next((folder for folder in (runs, *runs.parents) if folder.is_dir()), Path("/"))
    free, needed = shutil.disk_usage(place).free, outputs * BYTES_PER_OUTPUT + SPARE_BYTES
    details = {"free": _mebibytes(free), "needed": _mebibytes(needed)}
    return Check(
        N_("Disk"),
        free >= needed,
        Phrase(N_("{free} MiB free where runs are kept; {needed} MiB are asked for"), details),
    )


def _mebibytes(count: int) -> str:
    return str(count >> 20)


def _device(protocol: Protocol) -> Check:
    device = protocol.configuration.device
    holder = holder_of(physical_name(device))
    if holder is None:
        return Check(N_("Device"), True, Phrase(N_("{device}: no other measurement runs on it"), {"device": device}))
    details = {"device": device, "run": holder.get("run", "?"), "since": holder.get("since", "?")}
    return Check(N_("Device"), False, Phrase(N_("{device} is measuring already: run {run}, since {since}"), details))


def try_load(path: Path) -> Check:
    """Load the first variant's model once, in a worker of its own, and let it go again."""
    file = read_protocol(path.name, path.read_bytes())
    if file.protocol is None:
        return Check(N_("Model"), False, Phrase(N_("the protocol has problems")))
    protocol, folder = file.protocol, path.resolve().parent
    device = protocol.configuration.device
    try:
        pieces = locate_model(protocol, folder)
        with DeviceLock({"run": "preflight", "device": device}) as lock:
            lock.take(physical_name(device))
            return _load(worker_order(protocol, protocol.variants[0], pieces, folder), protocol)
    except ModelMissingError as error:
        return Check(N_("Model"), False, error.phrase)
    except DeviceBusyError:
        return _device(protocol)


def _load(order: dict[str, object], protocol: Protocol) -> Check:
    environment = worker_environment(protocol.configuration.threads, PACKAGE.parent)
    with Path("/dev/null").open("w", encoding="utf-8") as nowhere:
        worker = WorkerProcess(order, nowhere, environment)
        try:
            answer = worker.receive(LOAD_LIMIT_SECONDS)
            if answer["said"] == "ready":
                worker.send({"do": "load"})
                while (answer := worker.receive(LOAD_LIMIT_SECONDS))["said"] == "baseline":
                    continue
        except (WorkerEndedError, TimeLimitError) as error:
            why = error.told if isinstance(error, WorkerEndedError) else "no answer"
            answer = {"said": "failed", "message": why}
        finally:
            worker.kill()
    if answer["said"] == "loaded":
        return Check(N_("Model"), True, Phrase(N_("the model loads, and answers on the announced device")))
    return Check(N_("Model"), False, Phrase(N_("it does not load: {why}"), {"why": str(answer["message"])}))
