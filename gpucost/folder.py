"""A run's folder: one experiment, its raw CSV, and the pieces that let anyone recompute its verdicts.

Contract, section 4. The pieces come from a disk or from an upload alike: a folder is a name and a mapping from
piece names (`results.csv`, `outputs/b8-warm-1.jsonl`, ...) to bytes. No piece name leaves the folder.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

RESULTS = "results.csv"
EXPECTED_IDS = "expected-ids.txt"
REFERENCE = "reference.jsonl"
PROTOCOL = "protocol.toml"
OUTPUTS = "outputs/"
CONTROLS = "controls/"


def pass_name(variant_id: str, phase: str, run_index: int) -> str:
    """The name that the pieces of one pass share, without their ending; each part is percent-encoded."""
    return "-".join(quote(part, safe="") for part in (variant_id, phase, str(run_index)))


def outputs_name(variant_id: str, phase: str, run_index: int) -> str:
    """Where the individual outputs of a pass stand in its folder."""
    return f"{OUTPUTS}{pass_name(variant_id, phase, run_index)}.jsonl"


def control_name(variant_id: str, phase: str, run_index: int) -> str:
    """Where the archived control of a pass stands in its folder."""
    return f"{CONTROLS}{pass_name(variant_id, phase, run_index)}.json"


class PiecesOnDisk(Mapping[str, bytes]):
    """The pieces of a folder on disk, read when they are asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths = {
            path.relative_to(folder).as_posix(): path
            for pattern in ("*", f"{OUTPUTS}*", f"{CONTROLS}*")
            for path in sorted(folder.glob(pattern))
            if path.is_file()
        }

    def __getitem__(self, name: str) -> bytes:
        return self._paths[name].read_bytes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __contains__(self, name: object) -> bool:
        return name in self._paths


@dataclass(frozen=True)
class RunFolder:
    """One run's folder. `name` is its base name, which is shown and never opened."""

    name: str
    pieces: Mapping[str, bytes]

    @classmethod
    def on_disk(cls, path: Path) -> "RunFolder":
        """The folder at a path. Raises FileNotFoundError where it has no `results.csv`."""
        pieces = PiecesOnDisk(path)
        if RESULTS not in pieces:
            raise FileNotFoundError(path / RESULTS)
        return cls(path.resolve().name, pieces)

    @property
    def results_name(self) -> str:
        """The name of its raw CSV in reports."""
        return f"{self.name}/{RESULTS}"

    @cached_property
    def classes(self) -> tuple[str, ...] | None:
        """The classes fixed by the protocol file, None where there is no such file or it names none.

        Raises tomllib.TOMLDecodeError or UnicodeDecodeError where the protocol file cannot be read.
        """
        if PROTOCOL not in self.pieces:
            return None
        output = tomllib.loads(self.pieces[PROTOCOL].decode()).get("output", {})
        classes = output.get("classes") if isinstance(output, dict) else None
        if not isinstance(classes, list) or not all(isinstance(name, str) for name in classes):
            return None
        return tuple(classes)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of all the individual outputs that stand in the folder."""
        return tuple(name for name in self.pieces if name.startswith(OUTPUTS))
