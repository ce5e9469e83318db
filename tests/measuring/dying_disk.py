"""A disk that kills the command's own process, as a power cut would, right after a chosen call."""

import os
import signal
from pathlib import Path

from gpucost.measuring.ledger import Disk


class DyingDisk(Disk):
    """Dies after `call` ("write", "rename" or "append") of a path that ends with `name`, whose data hold `holding`.

    "half-append" writes the first half of the data and dies.
    """

    def __init__(self, call: str, name: str, holding: str = "") -> None:
        self._call, self._name, self._holding = call, name, holding.encode()

    def write(self, path: Path, data: bytes) -> None:
        super().write(path, data)
        self._die_if_due("write", path, data)

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._die_if_due("rename", target, b"")

    def append(self, path: Path, data: bytes) -> None:
        if self._is_due("half-append", path, data):
            super().append(path, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        super().append(path, data)
        self._die_if_due("append", path, data)

    def _is_due(self, call: str, path: Path, data: bytes) -> bool:
        return call == self._call and path.as_posix().endswith(self._name) and self._holding in data

    def _die_if_due(self, call: str, path: Path, data: bytes) -> None:
        if self._is_due(call, path, data):
            os.kill(os.getpid(), signal.SIGKILL)
