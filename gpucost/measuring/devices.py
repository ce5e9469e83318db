"""The one seam between a measurement and a device: synchronise, read memory, reset the peaks.

A device is given by its name (`cpu`, `cuda:1`, `xpu:0`, `mps`), and every call that reaches PyTorch names it: none
relies on the current device. ROCm reports through `torch.cuda`.

What was run: `cpu` on real machines; `cuda:N`, `xpu:N` and `mps` only against fake modules that record the calls
(tests/measuring/test_devices.py), and `cuda:0` wherever the `gpu`-marked test finds a GPU. Protocol, section 3.
"""

from dataclasses import dataclass
from typing import Any, Protocol


class DeviceMissingError(Exception):
    """The announced device does not exist on this machine."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes on one device, of this process's allocator. None where the interface does not offer the figure."""

    allocated_bytes: int | None = None
    reserved_bytes: int | None = None


class Device(Protocol):
    """What a measurement asks of a device."""

    @property
    def name(self) -> str:
        """The announced name, such as `cuda:0`."""

    def synchronize(self) -> None:
        """Wait until everything that was launched on the device is done."""

    def baseline(self) -> Memory:
        """What the allocator holds now."""

    def reset_peaks(self) -> None:
        """Begin a new period for the peaks."""

    def peaks(self) -> Memory:
        """The highest figures since the last reset, absolute. They may be of different moments."""


class Cpu:
    """The processor: nothing to wait for, and no allocator whose figures would mean the same."""

    name = "cpu"

    def synchronize(self) -> None:
        """Nothing runs behind the caller's back."""

    def baseline(self) -> Memory:
        """Not recorded."""
        return Memory()

    def reset_peaks(self) -> None:
        """No peaks are kept."""

    def peaks(self) -> Memory:
        """Not recorded."""
        return Memory()


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A device with PyTorch's caching allocator. `module` is `torch.cuda` (CUDA and ROCm) or `torch.xpu`."""

    name: str
    module: Any

    def synchronize(self) -> None:
        """Wait for this device."""
        self.module.synchronize(self.name)

    def baseline(self) -> Memory:
        """`memory_allocated` and `memory_reserved` of this device."""
        return Memory(self.module.memory_allocated(self.name), self.module.memory_reserved(self.name))

    def reset_peaks(self) -> None:
        """`reset_peak_memory_stats` of this device."""
        self.module.reset_peak_memory_stats(self.name)

    def peaks(self) -> Memory:
        """`max_memory_allocated` and `max_memory_reserved` of this device, absolute."""
        return Memory(self.module.max_memory_allocated(self.name), self.module.max_memory_reserved(self.name))


@dataclass(frozen=True, slots=True)
class Metal:
    """Apple's MPS: it tells what tensors hold now. It has no peaks, and no reserved figure of the same meaning."""

    module: Any
    name: str = "mps"

    def synchronize(self) -> None:
        """Wait for the one MPS device."""
        self.module.synchronize()

    def baseline(self) -> Memory:
        """`current_allocated_memory`."""
        return Memory(allocated_bytes=self.module.current_allocated_memory())

    def reset_peaks(self) -> None:
        """MPS keeps no peaks."""

    def peaks(self) -> Memory:
        """Not recorded."""
        return Memory()


def open_device(name: str) -> Device:
    """The device of that name. Raises DeviceMissingError where this machine has none such."""
    if name == "cpu":
        return Cpu()
    try:
        import torch
    except ImportError as error:
        raise DeviceMissingError(f"{name}: PyTorch cannot be imported ({error})") from None
    kind, _, index = name.partition(":")
    if kind == "mps":
        _require(name, 1 if torch.backends.mps.is_available() else 0, 0)
        return Metal(torch.mps)
    module = {"cuda": torch.cuda, "xpu": torch.xpu}[kind]
    _require(name, module.device_count() if module.is_available() else 0, int(index))
    return Accelerator(name, module)


def _require(name: str, count: int, index: int) -> None:
    if index >= count:
        raise DeviceMissingError(f"{name} does not exist here: PyTorch sees {count} devices of its kind")


def describe_device(name: str) -> dict[str, Any]:
    """What PyTorch says of a device and its runtime, None where it does not say; empty for the processor."""
    if name == "cpu":
        return {}
    import torch

    kind, _, index = name.partition(":")
    found: dict[str, Any] = {"gpu_model": None, "uuid": None, "total_memory_bytes": None, "runtime_version": None}
    if kind == "mps":
        return {**found, "gpu_model": "Apple MPS"}
    module = {"cuda": torch.cuda, "xpu": torch.xpu}[kind]
    properties = module.get_device_properties(int(index))
    found["gpu_model"] = properties.name
    found["total_memory_bytes"] = properties.total_memory
    uuid = getattr(properties, "uuid", None)
    found["uuid"] = None if uuid is None else str(uuid)
    if kind == "xpu":
        version = getattr(torch.version, "xpu", None)
        return {**found, "runtime_version": f"XPU {version}" if version else None}
    hip = getattr(torch.version, "hip", None)
    return {**found, "runtime_version": f"ROCm {hip}" if hip else f"CUDA {torch.version.cuda}"}


def is_memory_overflow(error: BaseException) -> bool:
    """Whether an exception says that memory ran out, on the device or on the machine."""
    if isinstance(error, MemoryError):
        return True
    text = str(error).lower()
    named = type(error).__name__ in ("OutOfMemoryError", "CudaError", "AcceleratorError")
    return isinstance(error, RuntimeError) and (
        (named and "out of memory" in text)
        or "out of memory" in text
        or "can't allocate memory" in text
        or "not enough memory" in text
    )
