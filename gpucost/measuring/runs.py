"""The runs that stand in a folder: what each is doing, read from the disk alone.

No state lives in a page or in a server: a run that was started anywhere is found again by everybody who may read its
folder, and a process is known by its number and its time of creation together.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil

from gpucost.folder import PROTOCOL, RESULTS, SEAL, RunFolder
from gpucost.measuring.ledger import LAUNCH, LOG, STOP, read_events, read_object, read_rows
from gpucost.measuring.seal import content_sha256, file_sha256, python_files, workload_sha256

State = Literal["starting", "running", "stopping", "finished", "stopped", "interrupted", "refused"]
"""starting: no seal yet. interrupted: its process is gone and it never said why. refused: it ended before its seal."""
LOG_TAIL_BYTES = 6_000


@dataclass(frozen=True)
class RunState:
    """One run. `rows` are its CSV's rows as texts, `planned` the passes of its seal (the loads come with processes)."""

    folder: Path
    state: State
    rows: tuple[dict[str, str], ...]
    planned: tuple[tuple[str, str, int], ...]
    launch: dict[str, Any]
    seal: dict[str, Any]
    last_event: dict[str, Any]

    @property
    def name(self) -> str:
        """The base name of its folder."""
        return self.folder.name

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self.state in ("starting", "running", "stopping")

    @property
    def resumable(self) -> bool:
        """Whether `measure --resume` has something to do."""
        return self.state in ("stopped", "interrupted") and bool(self.seal)

    @property
    def done(self) -> int:
        """How many of the planned passes have a row."""
        rows = {(row["variant_id"], row["phase"], row["run_index"]) for row in self.rows}
        return sum(1 for variant, phase, run in self.planned if (variant, phase, str(run)) in rows)

    def log_tail(self) -> str:
        """The end of what the run and its libraries printed."""
        try:
            with (self.folder / LOG).open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - LOG_TAIL_BYTES))
                return file.read().decode(errors="replace")
        except OSError:
            return ""


def read_run(folder: Path) -> RunState:
    """The state of the run in a folder, now."""
    launch, seal = read_object(folder, LAUNCH), read_object(folder, SEAL)
    rows = tuple(read_rows(folder))
    events = list(read_events(folder))
    last = events[-1] if events else {}
    planned = tuple((str(one), str(two), int(three)) for one, two, three in seal.get("order", ()))
    made = RunState(folder, "interrupted", rows, planned, launch, seal, last)
    return RunState(folder, _state(made), rows, planned, launch, seal, last)


def _state(run: RunState) -> State:
    if is_alive(run.launch):
        if (run.folder / STOP).exists():
            return "stopping"
        return "running" if run.seal and (run.folder / RESULTS).exists() else "starting"
    if not run.seal or not (run.folder / RESULTS).exists():
        return "stopped" if (run.folder / STOP).exists() else "refused"
    if run.planned and run.done == len(run.planned):
        return "finished"
    stopped = run.last_event.get("event") == "stopped" or (run.folder / STOP).exists()
    return "stopped" if stopped else "interrupted"


def is_alive(launch: dict[str, Any]) -> bool:
    """Whether the very process that a launch names still runs."""
    pid, created = launch.get("pid"), launch.get("create_time")
    if not isinstance(pid, int) or not isinstance(created, int | float):
        return False
    try:
        process = psutil.Process(pid)
        return bool(process.create_time() == created and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def list_runs(root: Path) -> Iterator[RunState]:
    """The runs of a folder, the latest started first."""
    if not root.is_dir():
        return
    found = [
        read_run(path) for path in root.iterdir()
        if path.is_dir() and not path.is_symlink() and ((path / LAUNCH).is_file() or (path / SEAL).is_file())
    ]  # fmt: skip
    yield from sorted(found, key=lambda run: (str(run.launch.get("started_at", "")), run.name), reverse=True)


def changed_code(folder: Path) -> tuple[str, ...]:
    """What of a run's code on this machine is no longer as it was sealed: the team's own code, the workload's module.

    Empty where nothing changed, and where it cannot be seen from here: another machine, a folder that was moved.
    """
    code, launch = read_object(folder, SEAL).get("code"), read_object(folder, LAUNCH)
    if not isinstance(code, dict):
        return ()
    changed = []
    root = launch.get("code")
    if isinstance(root, str) and code.get("sha256") and Path(root).is_dir():
        at = Path(root)
        if content_sha256(python_files(at), at) != code["sha256"]:
            changed.append(f"code.path {root}")
    now = workload_sha256(str(code.get("workload")))
    if now is not None and code.get("workload_sha256") and now != code["workload_sha256"]:
        changed.append(f"workload {code['workload']}")
    return tuple(changed)


def open_run(path: Path) -> RunFolder:
    """The run's folder at a path, with what changed since its seal. Raises FileNotFoundError without `results.csv`."""
    folder = RunFolder.on_disk(path)
    return RunFolder(folder.name, folder.pieces, changed_code(path)) if SEAL in folder.pieces else folder


def changes(folder: Path) -> tuple[str, ...]:
    """What of a run is no longer as it was sealed: its protocol file, and its code as far as this machine has it."""
    sealed, path = read_object(folder, SEAL).get("protocol_sha256"), folder / PROTOCOL
    other = path.is_file() and sealed is not None and file_sha256(path) != sealed
    return (*((PROTOCOL,) if other else ()), *changed_code(folder))
