"""Workloads: what classifies the texts. Two come with gpucost; a team registers its own.

A workload is a class without arguments that fits `Workload`, registered as a Python entry point of the group
`gpucost.workloads`:

    [project.entry-points."gpucost.workloads"]
    my-work = "my_package.work:MyWork"

and named in the protocol: `[model] workload = "my-work"`. It runs in a worker process of its own. This module is
imported there, and stays light.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

GROUP = "gpucost.workloads"


class TextItem(NamedTuple):
    """One text of the corpus."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What a workload is told before it loads. Paths are absolute; `context` is in tokens; `seed` was applied already
    to Python's, NumPy's and PyTorch's generators as far as they were imported. gpucost cuts the batches itself: with
    the isolation `one-process`, `batch` is that of the first variant, and the other variants bring other batches."""

    device: str
    precision: str
    batch: int
    context: int
    truncation: str
    seed: int
    classes: tuple[str, ...]
    model: Path | str | None = None
    tokenizer: Path | str | None = None
    head: Path | None = None
    allow_download: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Workload(Protocol):
    """What a team's own work must offer. It may also offer `prepare(batch)`, see `Preparing`."""

    def load(self, settings: Settings) -> None:
        """Load everything that the work needs, on the device, in the precision announced. Called once, and timed as
        the phase `load`."""

    def classify(self, batch: Any) -> Sequence[Any]:
        """Classify one batch: a sequence of `TextItem`, or what `prepare` made of it.

        Gives one label for each text in its order, or pairs (id, label) where the work carries the IDs itself. What
        is given is written down as it is, and audited: nothing is repaired.
        """

    def describe(self) -> Mapping[str, Any]:
        """What was really applied, after loading and after each pass. Known keys, all optional: `precision`,
        `model_revision`, `tokenizer_revision`, `truncated_texts` (a count, or None where it is not known), `options`
        (a mapping); others are kept in the event log."""


@runtime_checkable
class Preparing(Protocol):
    """A workload that can tokenise apart from the work itself.

    With the scope `processing`, batches are prepared before the clock starts, once for each process; with
    `whole-chain` preparing is part of the timed work. Without `prepare`, what `classify` does is always timed whole.
    """

    def prepare(self, batch: Sequence[TextItem]) -> Any:
        """Make what `classify` takes of a batch of texts."""


class UnknownWorkloadError(Exception):
    """No workload of that name is registered."""


BUILT_IN = {
    "text-classification": "gpucost.measuring.text_classification:TextClassification",
    "embedding-head": "gpucost.measuring.embedding_head:EmbeddingHead",
}
"""The workloads that come with gpucost; they need PyTorch and transformers."""


def registered() -> dict[str, EntryPoint]:
    """Every workload by name, those that come with gpucost first. Nothing of theirs is imported."""
    found = {name: EntryPoint(name, value, GROUP) for name, value in BUILT_IN.items()}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        found.setdefault(point.name, point)
    return found


def open_workload(name: str) -> Workload:
    """A new instance of a registered workload. Raises UnknownWorkloadError, or whatever its import raises."""
    points = registered()
    if name not in points:
        raise UnknownWorkloadError(f"{name}; registered: {', '.join(points)}")
    made = points[name].load()()
    if not isinstance(made, Workload):
        raise TypeError(f"{points[name].value} lacks load, classify or describe")
    return made
