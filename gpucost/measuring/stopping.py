"""The user's stop: a signal, or the intent that a page wrote. It interrupts waiting, and never writing."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from gpucost.measuring.crew import Message, WorkerProcess
from gpucost.measuring.ledger import STOP


class StopRequested(BaseException):
    """The user stops the run."""


class StopSwitch:
    """Hears SIGINT and SIGTERM while a run goes on. A stop that comes while something is written waits for its end."""

    def __init__(self, folder: Path) -> None:
        self._intent = folder / STOP
        self._heard = False
        self._waiting = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the two signals, and give them back afterwards."""

        def stop(_signal: int, _frame: FrameType | None) -> None:
            self._heard = True
            if self._waiting:
                raise StopRequested

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @property
    def asked(self) -> bool:
        """Whether the user asked to stop."""
        return self._heard or self._intent.exists()

    def receive(self, worker: WorkerProcess, limit_seconds: float | None) -> Message:
        """The next answer of a worker. Raises StopRequested where the user stops meanwhile, and what `receive` does."""
        self._waiting = True
        try:
            if self._heard:
                raise StopRequested
            return worker.receive(limit_seconds)
        finally:
            self._waiting = False
