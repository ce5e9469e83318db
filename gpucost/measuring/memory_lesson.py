"""The memory lesson: a synthetic MLP goes forward and backward once, and the four memory figures are read around it.

It teaches how to read memory. It times nothing, has no corpus, and so can never be accepted. Protocol, section 3.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

from gpucost.columns import MEMORY
from gpucost.language import N_
from gpucost.measuring.devices import Device, DeviceMissingError, open_device

WIDTHS = (512, 2048, 2048, 8)
"""Values that enter the MLP, pass between its layers, and leave it."""
BATCH = 512
SEED = 0
_NAMES = re.compile(r"cpu|mps|(cuda|xpu):(0|[1-9][0-9]{0,3})")

INTRODUCTION = N_(
    "A synthetic MLP runs once forward and once backward, and the four memory figures are read around it. Nothing is"
    " timed and there is no corpus, so nothing here can be accepted or compared: it teaches how to read these figures."
)
ORDER = N_(
    "Order of the readings: synchronise the device, read both baselines, reset the peaks, run, synchronise again, read"
    " both peaks."
)
MEANINGS: Mapping[str, str] = {
    "baseline_allocated_bytes": N_(
        "What tensors held before the run: the parameters of the MLP and its batch, already on the device."
    ),
    "baseline_reserved_bytes": N_(
        "What PyTorch’s allocator had taken from the device at that moment. The allocated bytes are inside it."
    ),
    "peak_allocated_bytes": N_(
        "The most that tensors held at any moment of the run, counted from zero: the baseline is inside it, and"
        " activations and gradients come on top."
    ),
    "peak_reserved_bytes": N_(
        "The most that the allocator had taken at any moment of the run, counted from zero. That moment may be another"
        " one than the moment of the allocated peak."
    ),
}
"""What each figure means, by its column."""
REASONS: tuple[tuple[str, str], ...] = (
    (
        N_("Never added:"),
        N_("Allocated memory is inside the reserved memory: a sum would count the same bytes twice."),
    ),
    (
        N_("Never subtracted:"),
        N_("The two peaks may be reached at different moments: their difference is not the cache at any moment."),
    ),
    (
        N_("Not seen by any of them:"),
        N_("What other processes hold on the device, and what is allocated outside PyTorch’s allocator, such as the"
           " driver’s context or the buffers of other libraries."),
    ),
)  # fmt: skip
"""What may not be done with the four figures, and what none of them covers: a title and why."""
_UNRECORDED: Mapping[str, str] = {
    "cpu": N_(
        "The four figures are not recorded here: on the processor PyTorch has no caching allocator that keeps such"
        " figures. That is not zero bytes: the MLP ran, and its memory was not counted."
    ),
    "mps": N_(
        "MPS tells what tensors hold now. It keeps no peaks, and no reserved figure of the same meaning: these are not"
        " recorded, which is not zero."
    ),
}
_UNRECORDED_ELSEWHERE = N_("This device does not offer every figure: those are not recorded, which is not zero.")


class LessonFailedError(DeviceMissingError):
    """The announced device is there, and the MLP could not run on it: no memory left, a driver's error."""


@dataclass(frozen=True, slots=True)
class Mlp:
    """What ran: linear layers between `widths`, fp32, with ReLU between them, over one batch of random rows."""

    widths: tuple[int, ...]
    parameters: int
    batch: int

    @property
    def layers(self) -> int:
        """The number of linear layers."""
        return len(self.widths) - 1


@dataclass(frozen=True, slots=True)
class Lesson:
    """The four figures, in bytes of one device, None where not recorded, and what they were read on."""

    device: str
    torch_version: str
    model: Mlp
    baseline_allocated_bytes: int | None
    baseline_reserved_bytes: int | None
    peak_allocated_bytes: int | None
    peak_reserved_bytes: int | None

    @property
    def figures(self) -> dict[str, int | None]:
        """The four figures by their column, in the CSV's order."""
        return {name: getattr(self, name) for name in MEMORY}

    @property
    def unrecorded(self) -> str | None:
        """Why a figure is missing, as a source text; None where all four were recorded."""
        if None not in self.figures.values():
            return None
        return _UNRECORDED.get(self.device, _UNRECORDED_ELSEWHERE)

    def to_json(self) -> dict[str, Any]:
        """What `gpucost memory --json` prints. Contract, section 4."""
        return {
            "device": self.device,
            "torch_version": self.torch_version,
            "model": {
                "layers": self.model.layers,
                "widths": list(self.model.widths),
                "parameters": self.model.parameters,
                "batch": self.model.batch,
                "precision": "fp32",
            },
            **self.figures,
        }

    @classmethod
    def of_json(cls, told: Mapping[str, Any]) -> Self:
        """The lesson that `to_json` told. Raises KeyError or TypeError where it is none."""
        model = told["model"]
        return cls(
            device=told["device"],
            torch_version=told["torch_version"],
            model=Mlp(tuple(model["widths"]), model["parameters"], model["batch"]),
            **{name: told[name] for name in MEMORY},
        )


def lesson(device: str, seam: Device | None = None) -> Lesson:
    """Run the MLP on a device and read its memory; `seam` stands for the device of that name where it is given.

    Raises DeviceMissingError where there is no such device, LessonFailedError where the MLP cannot run on it, and
    ImportError where PyTorch cannot be imported.
    """
    if not _NAMES.fullmatch(device):
        raise DeviceMissingError(f"{device} names no device: give cpu, cuda:0, xpu:0 or mps")
    try:
        import torch
    except (ImportError, OSError) as error:
        raise ImportError(f"the memory lesson needs PyTorch, which cannot be imported: {error}") from None
    measured = open_device(device) if seam is None else seam
    try:
        return _learn(measured, torch)
    except (RuntimeError, MemoryError) as error:
        raise LessonFailedError(f"{device}: the memory lesson could not run: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _learn(device: Device, torch: Any) -> Lesson:
    torch.manual_seed(SEED)
    layers: list[Any] = []
    for before, after in pairwise(WIDTHS):
        layers += [torch.nn.Linear(before, after, device=device.name), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    rows = torch.randn(BATCH, WIDTHS[0], device=device.name)
    device.synchronize()
    baseline = device.baseline()
    device.reset_peaks()
    model(rows).square().mean().backward()
    device.synchronize()
    peaks = device.peaks()
    return Lesson(
        device=device.name,
        torch_version=str(torch.__version__),
        model=Mlp(WIDTHS, sum(parameter.numel() for parameter in model.parameters()), len(rows)),
        baseline_allocated_bytes=baseline.allocated_bytes,
        baseline_reserved_bytes=baseline.reserved_bytes,
        peak_allocated_bytes=peaks.allocated_bytes,
        peak_reserved_bytes=peaks.reserved_bytes,
    )
