"""The run's folder as it grows: nothing that was measured is ever lost, and nothing half written is ever read.

For every pass, in this order: the outputs, then the control (each written beside its place, flushed to the disk, and
renamed), then the row (appended and flushed to the disk), then the event. A row never stands without its pieces, and
whatever stops the command loses at most the pass under way. Contract, section 4; protocol, sections 3 and 4.
"""

import csv
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpucost.columns import HEADER, NAMES
from gpucost.folder import RESULTS

EVENTS = "events.jsonl"
ENVIRONMENT = "environment.json"
LOG = "run.log"
LAUNCH = "launch.json"
STOP = "stop-requested.json"
UNFINISHED = ".unfinished"
"""What the name of a file ends with while it is being written."""

Event = dict[str, Any]


class Disk:
    """The calls that make bytes last. A test replaces this object to see their order."""

    def write(self, path: Path, data: bytes) -> None:
        """Write a new file whole and flush it to the disk."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            _write_all(descriptor, data)
            os.fsync(descriptor)
        except OSError as error:
            error.filename = str(path)
            raise
        finally:
            os.close(descriptor)

    def append(self, path: Path, data: bytes) -> None:
        """Append to a file and flush it to the disk; a write that fails half-way is taken back."""
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            size = os.fstat(descriptor).st_size
            try:
                _write_all(descriptor, data)
                os.fsync(descriptor)
            except OSError as error:
                with suppress(OSError):
                    os.ftruncate(descriptor, size)
                error.filename = str(path)
                raise
        finally:
            os.close(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        """Give a file its place, and flush the folder's entry."""
        source.replace(target)
        self.flush_folder(target.parent)

    def flush_folder(self, folder: Path) -> None:
        """Flush the entries of a folder to the disk."""
        self.flush(folder)

    def flush(self, path: Path) -> None:
        """Flush a file or a folder to the disk."""
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def now() -> str:
    """This moment, UTC, in ISO 8601 with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Ledger:
    """Writes one run's folder."""

    def __init__(self, folder: Path, disk: Disk | None = None, clock: Callable[[], str] = now) -> None:
        self.folder = folder
        self._disk = disk or Disk()
        self._clock = clock

    def place(self, name: str, data: bytes) -> None:
        """Write a piece of the folder whole: beside its place, flushed, then renamed."""
        target = self.folder / name
        if not target.parent.is_dir():
            target.parent.mkdir(parents=True)
            self._disk.flush_folder(target.parent.parent)
        unfinished = target.with_name(target.name + UNFINISHED)
        try:
            self._disk.write(unfinished, data)
            self._disk.rename(unfinished, target)
        except OSError:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise

    def adopt(self, name: str) -> bytes:
        """Give a piece that a worker wrote beside its place its place: flushed, then renamed. Gives its bytes."""
        target = self.folder / name
        unfinished = target.with_name(target.name + UNFINISHED)
        data = unfinished.read_bytes()
        self._disk.flush(unfinished)
        self._disk.rename(unfinished, target)
        return data

    def begin(self) -> None:
        """Write the CSV's header and an empty event log."""
        self.place(EVENTS, b"")
        self.place(RESULTS, (HEADER + "\n").encode())

    def row(self, cells: Mapping[str, str]) -> None:
        """Append one row. Raises KeyError for a cell that the CSV does not know."""
        if unknown := set(cells) - set(NAMES):
            raise KeyError(*unknown)
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([cells.get(name, "") for name in NAMES])
        self._disk.append(self.folder / RESULTS, line.getvalue().encode())

    def event(self, what: str, **details: Any) -> None:
        """Append one event with its time."""
        line = json.dumps({"at": self._clock(), "event": what, **details}, ensure_ascii=False)
        # Half of a surrogate pair, which UTF-8 cannot hold, becomes the very escape that JSON has for it.
        self._disk.append(self.folder / EVENTS, line.encode(errors="backslashreplace") + b"\n")

    def mend(self) -> str | None:
        """Make a folder whole again after a crash: take a half-written last row or event off, and remove unfinished
        pieces. Gives the row that was taken off, so that nothing goes without a word."""
        for unfinished in self.folder.rglob(f"*{UNFINISHED}"):
            unfinished.unlink()
        self._cut(EVENTS)
        return self._cut(RESULTS)

    def _cut(self, name: str) -> str | None:
        path = self.folder / name
        data = path.read_bytes()
        whole, _, torn = data.rpartition(b"\n")
        if not torn:
            return None
        self.place(name, whole + b"\n" if whole else b"")
        return torn.decode(errors="replace")


def read_events(folder: Path) -> Iterator[Event]:
    """The events of a run, as far as they are whole."""
    path = folder / EVENTS
    if not path.is_file():
        return
    for line in path.read_bytes().split(b"\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def read_rows(folder: Path) -> list[dict[str, str]]:
    """The rows of a run that this program wrote, as texts by column; a half-written last line is left out."""
    path = folder / RESULTS
    if not path.is_file():
        return []
    whole = path.read_bytes().rpartition(b"\n")[0].decode(errors="replace")
    return list(csv.DictReader(io.StringIO(whole, newline="")))


def read_object(folder: Path, name: str) -> dict[str, Any]:
    """One JSON object of the folder; empty where it is not there or cannot be read."""
    try:
        found = json.loads((folder / name).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
