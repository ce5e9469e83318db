"""The workers of one run: which process may run which pass, by the announced isolation. Protocol, section 3.

A worker that failed never runs another pass: the next one gets a clean process.
"""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from gpucost.language import N_
from gpucost.measuring.crew import Message, TimeLimitError, WorkerEndedError, WorkerProcess
from gpucost.measuring.ledger import LOG
from gpucost.measuring.opening import run_environment
from gpucost.measuring.preparation import RefusedError, worker_order
from gpucost.measuring.seal import ModelPieces
from gpucost.measuring.stopping import StopRequested, StopSwitch
from gpucost.phrases import Phrase
from gpucost.protocol import Protocol
from gpucost.schedule import PlannedPass

START_LIMIT_SECONDS = 600
"""How long a worker may take to import its libraries. The time limit of a protocol is that of a pass."""


class Roster:
    """The workers by the variant that they were started for. `ready` is what the latest of them said of its libraries
    and its device."""

    def __init__(self, protocol: Protocol, folder: Path, switch: StopSwitch) -> None:
        self._protocol, self._folder, self._switch = protocol, folder, switch
        self._variants = {variant.variant_id: variant for variant in protocol.variants}
        self._workers: dict[str, WorkerProcess] = {}
        self._pieces: ModelPieces | None = None
        self._log: TextIO | None = None
        self.ready: Message = {}

    def open_log(self, path: Path) -> None:
        """Where what the workers print goes. Raises OSError."""
        self._log = path.open("a", encoding="utf-8")

    @property
    def processes(self) -> Iterable[int]:
        """The process of each worker."""
        return (worker.pid for worker in self._workers.values())

    def start(self, variant_id: str, pieces: ModelPieces) -> WorkerProcess:
        """Start a worker for a variant: it imports its libraries at once. `pieces` serve every later one."""
        if self._log is None:
            raise RuntimeError("the log is not open")
        self._pieces = pieces
        order = worker_order(self._protocol, self._variants[variant_id], pieces, self._folder)
        worker = WorkerProcess(order, self._log, run_environment(self._protocol))
        self._workers[variant_id] = worker
        return worker

    def hear_ready(self, worker: WorkerProcess) -> None:
        """Wait until the libraries are imported. Raises RefusedError where the device or the workload is not there."""
        try:
            answer = self._switch.receive(worker, START_LIMIT_SECONDS)
        except (WorkerEndedError, TimeLimitError) as error:
            why = error.told if isinstance(error, WorkerEndedError) else "no answer"
            details = {"why": why, "log": LOG}
            raise RefusedError(Phrase(N_("the worker could not start: {why}; see {log}"), details)) from None
        if answer["said"] == "no-device":
            raise RefusedError(Phrase(N_("the announced device: {why}"), {"why": answer["message"]}))
        if answer["said"] == "no-workload":
            details = {"name": self._protocol.model.workload, "why": answer["message"]}
            raise RefusedError(Phrase(N_("the workload {name} cannot be opened: {why}"), details))
        worker.ready = self.ready = answer

    def fit_for(self, planned: PlannedPass) -> WorkerProcess | None:
        """The worker that may run a pass, loaded or about to load; None where a fresh one is due. Those that may run
        no further pass are let go."""
        isolation = self._protocol.isolation
        if isolation == "process-per-pass":
            for worker in [one for name, one in self._workers.items() if name != planned.variant_id]:
                self._dismiss(worker)
        if isolation == "one-process":
            current = next(iter(self._workers.values()), None)
        else:
            current = self._workers.get(planned.variant_id)
        if current is None or not current.loaded or isolation != "process-per-pass":
            return current
        self._dismiss(current)
        return None

    def fresh(self, planned: PlannedPass) -> WorkerProcess:
        """A new worker for a pass, its libraries imported. Raises RefusedError where it cannot be had."""
        if self._pieces is None:
            raise RuntimeError("no worker was started yet")
        worker = self.start(planned.variant_id, self._pieces)
        try:
            self.hear_ready(worker)
        except RefusedError:
            self.lose(worker)
            raise
        return worker

    def ask(self, worker: WorkerProcess, order: Message, due: str) -> tuple[Message, str]:
        """Give an order and wait for its end. The answer, and why it failed ('' where it did not)."""
        limit = self._protocol.passes.time_limit_seconds
        ends = time.monotonic() + limit
        baseline: list[int | None] = [None, None]
        try:
            worker.send(order)
            while True:
                answer = self._switch.receive(worker, max(0.0, ends - time.monotonic()))
                if answer["said"] == "baseline":
                    baseline = answer["baseline"]
                    continue
                answer["baseline"] = baseline
                worker.device_bytes = (answer.get("peaks") or [None, None])[1]
                return answer, "" if answer["said"] == due else _reason(answer)
        except WorkerEndedError as error:
            return {"baseline": baseline}, error.told
        except TimeLimitError:
            reached = worker.interrupt() or {}
            return {**reached, "baseline": baseline}, f"time limit of {limit} s reached"
        except StopRequested:
            reached = worker.interrupt() or {}
            return {**reached, "baseline": baseline}, "stopped by the user"

    def held_by_others(self) -> str:
        """What the workers that are left hold, in words; '' where there are none."""
        return ", ".join(f"{name}: {worker.held}" for name, worker in self._workers.items() if worker.loaded)

    def lose(self, worker: WorkerProcess) -> None:
        """A worker that failed never runs another pass."""
        worker.kill()
        self._forget(worker)

    def _dismiss(self, worker: WorkerProcess) -> None:
        worker.end()
        self._forget(worker)

    def _forget(self, worker: WorkerProcess) -> None:
        self._workers = {name: one for name, one in self._workers.items() if one is not worker}

    def close(self) -> None:
        """End every worker, and the log."""
        for worker in self._workers.values():
            worker.kill()
        if self._log is not None:
            self._log.close()


def _reason(answer: Message) -> str:
    kinds = {"memory-overflow": "memory overflow: ", "interrupted": "interrupted: "}
    return f"{kinds.get(answer.get('kind', ''), '')}{answer.get('message', 'no reason given')}"
