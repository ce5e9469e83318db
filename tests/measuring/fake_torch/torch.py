"""What gpucost asks of PyTorch, over two devices that exist in memory only. A worker of a test imports it as `torch`.

Its allocator works as CUDA's does where a figure depends on it: freed memory stays reserved, and peaks stay until they
are reset. A device that is not named is the current one, `cuda:0`: whoever forgets the name gets that one's figures.
"""

import os
from dataclasses import dataclass
from types import SimpleNamespace

__version__ = "2.9.0+fake"
uint8 = "uint8"
version = SimpleNamespace(cuda="12.8", hip=os.environ.get("FAKE_TORCH_HIP"), xpu="20250101")
TOTAL_BYTES = 1 << 30


class OutOfMemoryError(RuntimeError):
    """As PyTorch's."""


@dataclass
class Figures:
    allocated: int = 1 << 20
    reserved: int = 2 << 20
    peak_allocated: int = 1 << 20
    peak_reserved: int = 2 << 20

    def change(self, count):
        if self.allocated + count > TOTAL_BYTES:
            raise OutOfMemoryError("CUDA out of memory. Tried to allocate more than there is.")
        self.allocated += count
        self.reserved = max(self.reserved, self.allocated)
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        self.peak_reserved = max(self.peak_reserved, self.reserved)


class Tensor:
    def __init__(self, figures, count):
        figures.change(count)
        self._figures, self._count = figures, count

    def __del__(self):
        if hasattr(self, "_count"):
            self._figures.change(-self._count)


class Interface:
    """`torch.cuda`, or `torch.xpu`. `calls` are those made so far, with their devices."""

    def __init__(self, kind, count=2):
        self.kind = kind
        self.figures = {f"{kind}:{index}": Figures() for index in range(count)}
        self.calls = []

    def _of(self, name, device):
        self.calls.append((name, device))
        return self.figures[device or f"{self.kind}:0"]

    def is_available(self):
        return bool(self.figures)

    def device_count(self):
        return len(self.figures)

    def get_device_properties(self, index):
        names = {"name": f"Fake GPU {index}", "total_memory": TOTAL_BYTES}
        return SimpleNamespace(**names, uuid=os.environ.get("FAKE_TORCH_UUID", f"0000-{index}"))

    def synchronize(self, device=None):
        self._of("synchronize", device)

    def memory_allocated(self, device=None):
        return self._of("memory_allocated", device).allocated

    def memory_reserved(self, device=None):
        return self._of("memory_reserved", device).reserved

    def max_memory_allocated(self, device=None):
        return self._of("max_memory_allocated", device).peak_allocated

    def max_memory_reserved(self, device=None):
        return self._of("max_memory_reserved", device).peak_reserved

    def reset_peak_memory_stats(self, device=None):
        figures = self._of("reset_peak_memory_stats", device)
        figures.peak_allocated, figures.peak_reserved = figures.allocated, figures.reserved


class MetalInterface:
    """`torch.mps`: what tensors hold now, and nothing of peaks."""

    def __init__(self):
        self.calls = []

    def synchronize(self):
        self.calls.append("synchronize")

    def current_allocated_memory(self):
        self.calls.append("current_allocated_memory")
        return 4096


cuda, xpu, mps = Interface("cuda"), Interface("xpu", 1), MetalInterface()
backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: False))
_threads = [8]


def empty(count, *, dtype, device):
    return Tensor(globals()[device.partition(":")[0]].figures[device], count)


def manual_seed(seed):
    """Nothing is drawn here."""


def set_num_threads(count):
    _threads[0] = count


def get_num_threads():
    return _threads[0]


def get_float32_matmul_precision():
    return "highest"
