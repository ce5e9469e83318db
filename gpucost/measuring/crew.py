"""The conductor's side of a worker: a process of its own, one JSON object a line each way, and time limits.

A worker that overruns is asked to end (it then says how far it came), and killed where it does not answer.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, TextIO

import psutil

Message = dict[str, Any]
GRACE_SECONDS = 3.0
"""How long a worker that was asked to end may take to say how far it came."""


class WorkerEndedError(Exception):
    """The worker ended without an answer. `status` is that of `Popen.returncode`: negative for a signal."""

    def __init__(self, status: int) -> None:
        super().__init__(str(status))
        self.status = status

    @property
    def told(self) -> str:
        """What happened, in words for the notes."""
        if self.status >= 0:
            return f"the worker ended with exit status {self.status}"
        name = signal.Signals(-self.status).name
        hint = "; the system may have run out of memory" if -self.status == signal.SIGKILL else ""
        return f"the worker was killed by {name}{hint}"


class TimeLimitError(Exception):
    """The worker did not answer in time."""


class WorkerProcess:
    """A running worker. Its output goes to the run's log."""

    def __init__(self, order: Message, log: TextIO, environment: dict[str, str]) -> None:
        reading, writing = os.pipe()
        os.set_inheritable(writing, True)
        self._reading = reading
        self._received = b""
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gpucost.measuring.worker", str(writing), str(os.getpid())],
                stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=(writing,), env=environment,
                start_new_session=True,  # Ctrl-C in the terminal is the conductor's to handle
            )  # fmt: skip
        finally:
            os.close(writing)
        self.ready: Message = {}
        self.described: Message = {}
        self.device_bytes: int | None = None
        self.loaded = False
        self.warmed: set[str] = set()
        self.send(order)

    @property
    def pid(self) -> int:
        """Its process."""
        return self.process.pid

    @property
    def resident_bytes(self) -> int | None:
        """Its resident memory now; None where it is gone."""
        try:
            return int(psutil.Process(self.pid).memory_info().rss)
        except psutil.Error:
            return None

    @property
    def held(self) -> str:
        """What it holds, in words: its resident memory, and what its last work reserved on the device at most."""
        resident = self.resident_bytes
        words = "gone" if resident is None else f"{resident} bytes resident"
        return words if self.device_bytes is None else f"{words}, {self.device_bytes} reserved on the device at most"

    def send(self, message: Message) -> None:
        """Give an order. A worker that is gone is found out when its answer is due."""
        stdin = self.process.stdin
        if stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                stdin.write(json.dumps(message).encode() + b"\n")
                stdin.flush()

    def receive(self, limit_seconds: float | None = None) -> Message:
        """The next answer. Raises WorkerEndedError, TimeLimitError, and KeyboardInterrupt as it comes."""
        due = None if limit_seconds is None else time.monotonic() + limit_seconds
        while b"\n" not in self._received:
            left = None if due is None else max(0.0, due - time.monotonic())
            ready, _, _ = select.select([self._reading], [], [], left)
            if not ready:
                raise TimeLimitError
            piece = os.read(self._reading, 1 << 20)
            if not piece:
                raise WorkerEndedError(self.process.wait())
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        answer: Message = json.loads(line)
        return answer

    def interrupt(self) -> Message | None:
        """Ask the work under way to end, and hear how far it came; None where it had to be killed."""
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        try:
            due = time.monotonic() + GRACE_SECONDS
            while True:
                answer = self.receive(max(0.0, due - time.monotonic()))
                if answer["said"] in ("failed", "done", "loaded", "warmed"):
                    return answer
        except (TimeLimitError, WorkerEndedError):
            return None
        finally:
            self.kill()

    def end(self) -> None:
        """Let an idle worker end by itself, and see that it does."""
        self.send({"do": "end"})
        try:
            self.process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.kill()

    def kill(self) -> None:
        """End the worker and whatever it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdin is not None and not self.process.stdin.closed:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        if self._reading >= 0:
            os.close(self._reading)
            self._reading = -1


def worker_environment(threads: int, package_root: Path) -> dict[str, str]:
    """The environment of a worker: the caller's, its threads, and no spinning while it waits for one another."""
    environment = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        environment[name] = str(threads)
    environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    environment["PYTHONPATH"] = os.pathsep.join([str(package_root), *filter(None, [environment.get("PYTHONPATH")])])
    return environment
