"""One measurement at a time on each physical device: an operating-system lock, shared by the command and the page.

The lock is held by the measuring process and ends with it, however it ends. Beside it stands who holds it, to be named
to whoever comes second.
"""

import json
import os
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from filelock import FileLock, Timeout

LOCKS_VARIABLE = "GPUCOST_LOCKS"


class DeviceBusyError(Exception):
    """Another measurement runs on the device. `holder` is what it said of itself; empty where it said nothing."""

    def __init__(self, device: str, holder: dict[str, str]) -> None:
        super().__init__(device)
        self.device = device
        self.holder = holder


def locks_folder() -> Path:
    """Where the locks of this machine stand: one place for every user, unless GPUCOST_LOCKS names another."""
    configured = os.environ.get(LOCKS_VARIABLE)
    folder = Path(configured) if configured else Path(tempfile.gettempdir()) / "gpucost-locks"
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):
            folder.chmod(0o1777)
    return folder


def physical_name(device: str, environment: dict[str, str] | None = None) -> str:
    """The name of the physical device behind `cuda:0`, as far as the environment tells before PyTorch is imported."""
    kind, _, index = device.partition(":")
    variables = {"cuda": ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"), "xpu": ("ZE_AFFINITY_MASK",)}
    seen = environment if environment is not None else dict(os.environ)
    for variable in variables.get(kind, ()):
        visible = [token.strip() for token in seen.get(variable, "").split(",") if token.strip()]
        if index.isdigit() and int(index) < len(visible):
            return f"{kind}-{visible[int(index)]}"
    return device.replace(":", "-")


class DeviceLock:
    """The locks of one measurement: that of the device's name, and that of its UUID once it is known."""

    def __init__(self, holder: dict[str, str]) -> None:
        self._holder = holder
        self._held = ExitStack()

    def __enter__(self) -> Self:
        return self

    def take(self, name: str) -> None:
        """Take one more lock. Raises DeviceBusyError where another measurement holds it."""
        path = locks_folder() / f"{quote(name, safe='')}.lock"
        lock = FileLock(path, mode=0o666)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise DeviceBusyError(name, _holder(path)) from None
        said = path.with_suffix(".json")
        with suppress(OSError):
            said.write_text(json.dumps(self._holder), encoding="utf-8")
        self._held.callback(lock.release)
        self._held.callback(said.unlink, missing_ok=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        self._held.close()


def holder_of(name: str) -> dict[str, str] | None:
    """Who measures on a device now; None where nobody does. It takes the lock for a moment to know."""
    path = locks_folder() / f"{quote(name, safe='')}.lock"
    lock = FileLock(path, mode=0o666)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return _holder(path)
    lock.release()
    return None


def _holder(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}
