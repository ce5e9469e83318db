"""What else uses the machine while a pass runs. Protocol, section 2: any concurrency is said in the notes.

On the processor: the time that other processes used during the pass. On an NVIDIA GPU: the processes that NVML shows,
where the package `nvidia-ml-py` is installed; its absence is said. Only a fake NVML has driven that part here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import psutil


@dataclass(frozen=True, slots=True)
class Busyness:
    """A moment of the machine: processor seconds used by everybody, and processes on the GPU (None: not seen)."""

    busy_seconds: float
    gpu_processes: tuple[int, ...] | None
    nvml: str


def look(device: str, uuid: str | None, own: Iterable[int]) -> Busyness:
    """Look at the machine now. `own` are processes of this measurement."""
    times = psutil.cpu_times()
    busy = sum(times) - times.idle - getattr(times, "iowait", 0.0)
    busy -= getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
    if not device.startswith("cuda"):
        return Busyness(busy, None, "")
    found, said = gpu_processes(uuid, device, _nvml())
    mine = set(own)
    return Busyness(busy, None if found is None else tuple(pid for pid in found if pid not in mine), said)


def told(before: Busyness, after: Busyness, own_cpu_seconds: float | None, cores: int | None) -> str:
    """The concurrency seen before and during a pass, in words for the notes. `own_cpu_seconds` is None for a pass that
    failed: what it used itself is not known then, and cannot be told from what others used."""
    if own_cpu_seconds is None:
        words = "concurrency on the processor: not told apart from the failed pass's own work"
    else:
        others = max(0.0, after.busy_seconds - before.busy_seconds - own_cpu_seconds)
        words = f"concurrency: other processes used {others:.2f} CPU seconds during the pass on {cores} cores"
    if not after.nvml:
        return words
    if before.gpu_processes is None or after.gpu_processes is None:
        return f"{words}; other processes on the GPU not seen: {after.nvml}"
    seen = sorted({*before.gpu_processes, *after.gpu_processes})
    shown = ", ".join(str(pid) for pid in seen) if seen else "none"
    return f"{words}; other processes on the GPU before or after the pass ({after.nvml}): {shown}"


def _nvml() -> ModuleType | None:
    try:
        import pynvml
    except ImportError:
        return None
    module: ModuleType = pynvml
    return module


def gpu_processes(uuid: str | None, device: str, nvml: Any) -> tuple[tuple[int, ...] | None, str]:
    """The processes with a context on a GPU, and who said so; None where it cannot be seen, and why."""
    if nvml is None:
        return None, "NVML is not installed"
    try:
        nvml.nvmlInit()
        if uuid is None:
            handle = nvml.nvmlDeviceGetHandleByIndex(int(device.partition(":")[2]))
        else:
            handle = nvml.nvmlDeviceGetHandleByUUID(uuid if uuid.startswith("GPU-") else f"GPU-{uuid}")
        running = [
            *nvml.nvmlDeviceGetComputeRunningProcesses(handle),
            *nvml.nvmlDeviceGetGraphicsRunningProcesses(handle),
        ]
        return tuple(dict.fromkeys(int(process.pid) for process in running)), "NVML"
    except Exception as error:  # noqa: BLE001 - whatever NVML refuses, the notes say so
        return None, f"NVML does not answer ({error})"
