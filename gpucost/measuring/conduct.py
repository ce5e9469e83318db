"""Conducting a run: from a protocol file to a folder of honest rows, pass by pass.

The conductor starts the workers, says when to run what, audits every pass at once and writes it down. It imports no
PyTorch: while a pass runs it waits, so that the measurement adds nothing to the work. Protocol, sections 1 to 4.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from gpucost.audit import AuditReport, Document, control_json
from gpucost.folder import RESULTS, control_name, outputs_name
from gpucost.language import N_, translator
from gpucost.measuring import concurrency, opening
from gpucost.measuring.corpus import MeasuredCorpus
from gpucost.measuring.crew import Message, WorkerProcess
from gpucost.measuring.ledger import (
    LAUNCH,
    LOG,
    STOP,
    UNFINISHED,
    Disk,
    Ledger,
    now,
    read_events,
    read_rows,
)
from gpucost.measuring.locks import DeviceBusyError, DeviceLock, physical_name
from gpucost.measuring.preparation import (
    Prepared,
    RefusedError,
    check_folder,
    load_protocol,
    missing_piece,
    prepare,
    protocol_path,
)
from gpucost.measuring.roster import Roster
from gpucost.measuring.rowcells import (
    RowCells,
    audited_cells,
    elapsed_seconds,
    measured_cells,
    memory_cells,
    row_status,
)
from gpucost.measuring.seal import (
    ModelMissingError,
    Seal,
    locate_model,
)
from gpucost.measuring.stopping import StopRequested, StopSwitch
from gpucost.phrases import Phrase
from gpucost.protocol import Protocol, ProtocolFile
from gpucost.schedule import PlannedPass, planned_passes
from gpucost.verdicts import LOAD, WARM


@dataclass(frozen=True)
class Told:
    """One step of a run, for whoever watches: what happens, to which pass, and how many passes are done of all."""

    what: str
    variant_id: str
    phase: str
    run_index: int
    done: int
    total: int
    status: str = ""
    elapsed_seconds: Decimal | None = None
    reason: str = ""


Listener = Callable[[Told], object]


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `rows` are all that stand in the folder; `stopped` says that the user ended it before its last
    pass; `left` are the passes that it has no row for."""

    folder: Path
    seal: Seal
    rows: int
    accepted: int
    rejected: int
    failed: int
    left: int
    stopped: bool

    @property
    def found(self) -> bool:
        """Whether anything was rejected or failed, or the run is not whole."""
        return bool(self.rejected or self.failed or self.left)


def measure(
    path: Path | None, folder: Path, *, resume: bool = False, listener: Listener = lambda _told: None,
    disk: Disk | None = None,
) -> Outcome:  # fmt: skip
    """Measure a protocol into a folder, or go on with the run that stands there.

    Raises RefusedError where nothing can be measured, DeviceBusyError where another measurement runs on the device,
    OSError where the disk refuses. What was written before stays, and `resume` goes on from it.
    """
    path = protocol_path(path, folder, resume=resume)
    file, protocol = load_protocol(path)
    holder = {
        "pid": str(os.getpid()),
        "run": folder.resolve().name,
        "since": now(),
        "device": protocol.configuration.device,
    }
    with DeviceLock(holder) as lock:
        lock.take(physical_name(protocol.configuration.device))
        check_folder(folder, resume=resume)
        return Run(path, file, protocol, folder, lock, listener, Ledger(folder, disk)).conduct(resume=resume)


class Run:
    """One run under way: what is run when, and what is written down of it."""

    def __init__(
        self, path: Path, file: ProtocolFile, protocol: Protocol, folder: Path, lock: DeviceLock, listener: Listener,
        ledger: Ledger,
    ) -> None:  # fmt: skip
        self._path, self._file, self._protocol, self._folder = path, file, protocol, folder
        self._lock, self._listener, self._ledger = lock, listener, ledger
        self._variants = {variant.variant_id: variant for variant in protocol.variants}
        self._made: RowCells | None = None
        self._planned = planned_passes(protocol)
        self._switch = StopSwitch(folder)
        self._roster = Roster(protocol, path.parent, self._switch)
        self._rows: list[dict[str, str]] = []
        self._prepared: Prepared | None = None

    @property
    def _cells(self) -> RowCells:
        if self._made is None:
            raise RuntimeError("the run is not sealed yet")
        return self._made

    def _make_cells(self, sealed: Seal, observed: Message) -> None:
        corpus = self._corpus
        self._made = RowCells(
            self._protocol, sealed, len(corpus.corpus.ids), len(corpus.order), observed, self._roster.ready
        )

    @property
    def _corpus(self) -> MeasuredCorpus:
        if self._prepared is None:
            raise RuntimeError("nothing is prepared yet")
        return self._prepared.corpus

    def conduct(self, *, resume: bool) -> Outcome:
        """Run everything that is planned and has no row yet."""
        made = not self._folder.exists()
        with self._switch.listening():
            try:
                if resume and all(self._has_row_on_disk(one) for one in self._planned):
                    return self._as_it_stands()
                self._begin(resume=resume)
                left = [one for one in self._planned if not self._has_row(one)]
                for planned in left:
                    if self._switch.asked:
                        break
                    self._run(planned)
                return self._end()
            except StopRequested:
                return self._end()
            except (RefusedError, DeviceBusyError):
                if made:
                    self._remove_empty_folder()
                raise
            finally:
                self._roster.close()

    def _as_it_stands(self) -> Outcome:
        """A resumed run of which nothing was written: it has every row, or was stopped before the first."""
        return self._outcome(opening.read_seal(self._folder))

    # The beginning: the first worker imports its libraries while the corpus is read and fingerprinted.

    def _begin(self, *, resume: bool) -> None:
        first = next((one for one in self._planned if not resume or not self._has_row_on_disk(one)), self._planned[0])
        self._open_log()
        with suppress(FileNotFoundError):
            (self._folder / STOP).unlink()
        try:
            pieces = locate_model(self._protocol, self._path.parent)
        except ModelMissingError as error:
            raise RefusedError(problems=self._file.placed([missing_piece(error)])) from None
        worker = self._roster.start(first.variant_id, pieces)
        prepared = self._prepared = prepare(self._file, self._protocol, self._path.parent)
        self._roster.hear_ready(worker)
        if uuid := worker.ready.get("uuid"):
            self._lock.take(f"gpu-{uuid}")
        if resume:
            self._go_on(prepared)
            return
        opening.write_launch(self._ledger, self._path, self._protocol)
        opening.write_sealed_pieces(self._ledger, prepared)
        self._make_cells(
            prepared.seal, opening.write_environment(self._ledger, self._protocol, worker.ready, resumed=False)
        )
        self._ledger.begin()
        self._ledger.event("sealed", protocol_sha256=prepared.seal.protocol_sha256, sealed_at=prepared.seal.sealed_at)

    def _open_log(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._roster.open_log(self._folder / LOG)
        except OSError as error:
            details = {"folder": str(self._folder), "why": error.strerror or str(error)}
            raise RefusedError(Phrase(N_("{folder} cannot be written: {why}"), details)) from None

    def _remove_empty_folder(self) -> None:
        with suppress(OSError):
            for name in (LOG, LAUNCH):
                (self._folder / name).unlink(missing_ok=True)
            self._folder.rmdir()

    # Going on with a run that stopped.

    def _go_on(self, prepared: Prepared) -> None:
        sealed = opening.read_seal(self._folder)
        opening.refuse_changed(self._ledger, sealed, prepared.seal)
        opening.write_launch(self._ledger, self._path, self._protocol)
        torn = self._ledger.mend()
        self._rows = read_rows(self._folder)
        self._ledger.event("resumed", torn_row=torn)
        self._make_cells(
            sealed, opening.write_environment(self._ledger, self._protocol, self._roster.ready, resumed=True)
        )
        for event in read_events(self._folder):
            if isinstance(event.get("described"), dict):
                self._cells.described[str(event["variant_id"])] = event["described"]
        self._fail_broken_pass()

    def _fail_broken_pass(self) -> None:
        """The pass that was under way when the command was killed becomes a failed row."""
        rows = {(row["variant_id"], row["phase"], row["run_index"]) for row in self._rows}
        for event in list(read_events(self._folder)):
            if event.get("event") in ("load-started", "pass-started"):
                key = (str(event["variant_id"]), str(event["phase"]), str(event["run_index"]))
                if key not in rows:
                    rows.add(key)
                    planned = PlannedPass(key[0], key[1], int(key[2]))
                    warm_ups = self._protocol.passes.warmup_iterations if planned.phase == WARM else 0
                    name = outputs_name(*key[:2], planned.run_index)
                    kept = f"; {name} was written before that" if (self._folder / name).exists() else ""
                    self._write_failure(planned, warm_ups, f"the command was killed during this pass{kept}", {}, "")

    # Loads and passes.

    def _worker_for(self, planned: PlannedPass) -> tuple[WorkerProcess | None, str]:
        """A worker that has loaded and may run this pass; None and the reason where it could not be had."""
        worker = self._roster.fit_for(planned)
        if worker is None:
            try:
                worker = self._roster.fresh(planned)
            except RefusedError as refused:
                # Before the first pass this ends the command; now there are rows, and it is this pass that failed.
                return None, "; ".join(reason.render(translator("en")) for reason in refused.reasons)
        return (worker, "") if worker.loaded else self._load(worker, planned)

    def _load(self, worker: WorkerProcess, planned: PlannedPass) -> tuple[WorkerProcess | None, str]:
        runs = [
            int(row["run_index"])
            for row in self._rows
            if row["variant_id"] == planned.variant_id and row["phase"] == LOAD
        ]
        load = PlannedPass(planned.variant_id, LOAD, max(runs, default=0) + 1)
        before = self._look()
        self._ledger.event(
            "load-started", variant_id=load.variant_id, phase=LOAD, run_index=load.run_index, pid=worker.pid
        )
        self._tell("started", load)
        answer, reason = self._roster.ask(worker, {"do": "load"}, "loaded")
        seen = self._seen(before, answer)
        if reason:
            self._roster.lose(worker)
            self._write_failure(load, 0, reason, answer, seen)
            self._stop_if_asked()
            return None, f"the load before this pass failed: {reason}"
        worker.loaded = True
        self._cells.described[load.variant_id] = answer["described"]
        cells = self._cells.planned(load, 0) | measured_cells(answer)
        self._write_row(cells | {"notes": self._cells.notes(load.variant_id, seen)})
        self._ledger.event(
            "load-finished", variant_id=load.variant_id, phase=LOAD, run_index=load.run_index, **_kept(answer)
        )
        self._tell("finished", load, "setup", answer)
        return worker, ""

    def _stop_if_asked(self) -> None:
        if self._switch.asked:
            raise StopRequested

    def _run(self, planned: PlannedPass) -> None:
        """One planned pass, whatever becomes of it: it ends as one row."""
        warm_ups = self._protocol.passes.warmup_iterations if planned.phase == WARM else 0
        worker, reason = self._worker_for(planned)
        if worker is None:
            self._write_failure(planned, warm_ups, reason, {}, "")
            return
        if planned.phase == WARM and planned.variant_id not in worker.warmed:
            reason = self._warm_up(worker, planned, warm_ups)
            if reason:
                self._roster.lose(worker)
                self._stop_if_asked()
                self._write_failure(planned, warm_ups, f"the warm-up before this pass failed: {reason}", {}, "")
                return
            worker.warmed.add(planned.variant_id)
        before = self._look()
        self._ledger.event(
            "pass-started",
            variant_id=planned.variant_id,
            phase=planned.phase,
            run_index=planned.run_index,
            pid=worker.pid,
        )
        self._tell("started", planned)
        name = outputs_name(planned.variant_id, planned.phase, planned.run_index)
        (self._folder / name).parent.mkdir(exist_ok=True)
        batch = self._variants[planned.variant_id].batch
        order: Message = {
            "do": "pass",
            "batch": batch,
            "outputs": str((self._folder / name).with_name(Path(name).name + UNFINISHED).resolve()),
        }
        answer, reason = self._roster.ask(worker, order, "done")
        seen = self._seen(before, answer)
        if reason:
            self._roster.lose(worker)
            Path(order["outputs"]).unlink(missing_ok=True)
            if answer.get("outputs"):
                self._ledger.place(name, answer["outputs"].encode())
            self._write_failure(planned, warm_ups, reason, answer, seen)
            self._stop_if_asked()
            return
        self._cells.described[planned.variant_id] = answer["described"]
        self._finish(planned, warm_ups, answer, seen)

    def _warm_up(self, worker: WorkerProcess, planned: PlannedPass, iterations: int) -> str:
        batch = self._variants[planned.variant_id].batch
        for iteration in range(1, iterations + 1):
            self._ledger.event("warm-up-started", variant_id=planned.variant_id, iteration=iteration, pid=worker.pid)
            self._tell("warm-up", planned)
            _answer, reason = self._roster.ask(worker, {"do": "warm-up", "batch": batch}, "warmed")
            self._ledger.event(
                "warm-up-finished", variant_id=planned.variant_id, iteration=iteration, failed=reason or None
            )
            if reason:
                return reason
        return ""

    def _finish(self, planned: PlannedPass, warm_ups: int, answer: Message, seen: str) -> None:
        """Audit a pass that was timed, and write it down: outputs, control, row, event."""
        name = outputs_name(planned.variant_id, planned.phase, planned.run_index)
        if answer["outputs"] is None:
            data = self._ledger.adopt(name)
        else:
            data = answer["outputs"].encode()
            self._ledger.place(name, data)
        report = self._audit(name, data)
        digest = hashlib.sha256(data).hexdigest()
        control = control_json(report, input_order_sha256=answer["order_sha256"], outputs_sha256=digest)
        self._ledger.place(control_name(planned.variant_id, planned.phase, planned.run_index), control)
        cells = self._cells.planned(planned, warm_ups) | measured_cells(answer) | audited_cells(report)
        reasons = "; ".join(phrase.render(translator("en")) for phrase in report.reasons())
        incident = "" if report.accepted else f"not accepted: {reasons}"
        pieces = f"outputs {name} sha256 {digest}"
        self._write_row(cells | {"notes": self._cells.notes(planned.variant_id, seen, pieces, incident)})
        status = "accepted" if report.accepted else "rejected"
        self._ledger.event(
            "pass-finished", variant_id=planned.variant_id, phase=planned.phase, run_index=planned.run_index,
            status=status, outputs_sha256=digest, **_kept(answer),
        )  # fmt: skip
        self._tell("finished", planned, status, answer, incident)

    def _audit(self, name: str, data: bytes) -> AuditReport:
        quality = self._protocol.quality
        return self._corpus.corpus.audit(
            Document(name, data), metric=quality.metric, threshold=quality.threshold, tolerance=quality.tolerance,
            reference_value=quality.reference_value,
        )  # fmt: skip

    def _write_failure(self, planned: PlannedPass, warm_ups: int, reason: str, answer: Message, seen: str) -> None:
        cells = self._cells.planned(planned, warm_ups) | memory_cells(answer)
        name = outputs_name(planned.variant_id, planned.phase, planned.run_index)
        kept = f"outputs reached before the failure {name}" if answer.get("outputs") else ""
        # Workers of this run share a device where each variant has one: an overflow says what the others held.
        others = self._roster.held_by_others() if "memory" in reason else ""
        incident = f"incident: {reason}" + (
            f"; other workers of this run alive at that moment: {others}" if others else ""
        )
        self._write_row(cells | {"notes": self._cells.notes(planned.variant_id, seen, kept, incident)})
        self._ledger.event(
            "pass-failed", variant_id=planned.variant_id, phase=planned.phase, run_index=planned.run_index, reason=reason,
            traceback=answer.get("traceback"),
        )  # fmt: skip
        self._tell("finished", planned, "failed", None, reason)

    # Rows.

    def _seen(self, before: concurrency.Busyness, answer: Message) -> str:
        """The concurrency since `before`, in words; to be asked at once when a pass ends."""
        own = answer["cpu_ns"] / 1e9 if "cpu_ns" in answer else None
        return concurrency.told(before, self._look(), own, os.cpu_count())

    def _look(self) -> concurrency.Busyness:
        own = [os.getpid(), *self._roster.processes]
        return concurrency.look(self._protocol.configuration.device, self._roster.ready.get("uuid"), own)

    def _write_row(self, cells: Mapping[str, str]) -> None:
        self._ledger.row(cells)
        self._rows.append(dict(cells))

    def _has_row(self, planned: PlannedPass) -> bool:
        key = (planned.variant_id, planned.phase, str(planned.run_index))
        return any((row["variant_id"], row["phase"], row["run_index"]) == key for row in self._rows)

    def _has_row_on_disk(self, planned: PlannedPass) -> bool:
        self._rows = self._rows or read_rows(self._folder)
        return self._has_row(planned)

    # What a watcher hears.

    def _tell(
        self, what: str, planned: PlannedPass, status: str = "", answer: Message | None = None, reason: str = ""
    ) -> None:
        done = sum(1 for one in self._planned if self._has_row(one))
        elapsed = elapsed_seconds(answer) if answer else None
        told = Told(
            what,
            planned.variant_id,
            planned.phase,
            planned.run_index,
            done,
            len(self._planned),
            status,
            elapsed,
            reason,
        )
        self._listener(told)

    def _end(self) -> Outcome:
        if self._made is None and (self._folder / RESULTS).exists():
            return self._as_it_stands()
        if self._made is None:
            self._remove_empty_folder()
            raise RefusedError(Phrase(N_("stopped by the user before the first pass; nothing was measured")))
        outcome = self._outcome(self._made.sealed)
        truncated = {name: said.get("truncated_texts") for name, said in self._cells.described.items()}
        what = "stopped" if outcome.stopped else "finished"
        self._ledger.event(what, rows=outcome.rows, left=outcome.left, truncated_texts=truncated)
        with suppress(FileNotFoundError):
            (self._folder / STOP).unlink()
        return outcome

    def _outcome(self, sealed: Seal) -> Outcome:
        left = sum(1 for one in self._planned if not self._has_row(one))
        counts = Counter(row_status(row) for row in self._rows)
        return Outcome(
            self._folder, sealed, len(self._rows), counts["accepted"], counts["rejected"], counts["failed"], left,
            stopped=left > 0,
        )  # fmt: skip


def _kept(answer: Message) -> dict[str, Any]:
    """What the event log keeps of an answer besides the row."""
    names = ("elapsed_ns", "cpu_ns", "max_resident_bytes", "described", "order_sha256")
    return {name: answer[name] for name in names if name in answer}
