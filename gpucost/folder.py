"""A run's folder: one experiment, its raw CSV, and the pieces that let anyone recompute its verdicts.

Contract, section 4. The pieces come from a disk or from an upload alike: a folder is a name and a mapping from
piece names (`results.csv`, `outputs/b8-warm-1.jsonl`, ...) to bytes. No piece name leaves the folder.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gpucost.announced import Announced, read_announced

RESULTS = "results.csv"
EXPECTED_IDS = "expected-ids.txt"
REFERENCE = "reference.jsonl"
PROTOCOL = "protocol.toml"
SEAL = "seal.json"
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
    """One run's folder. `name` is its base name, which is shown and never opened. `changed_since` names what of the
    run's code is no longer as it was sealed, where whoever opened the folder could look at it."""

    name: str
    pieces: Mapping[str, bytes]
    changed_since: tuple[str, ...] = ()

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
    def announced(self) -> Announced | None:
        """What the protocol file announces, None where there is no such file.

        Raises tomllib.TOMLDecodeError or UnicodeDecodeError where the protocol file cannot be read.
        """
        return read_announced(self.pieces[PROTOCOL]) if PROTOCOL in self.pieces else None

    @cached_property
    def seal(self) -> Mapping[str, Any]:
        """What a measurement sealed before its first pass; empty where nothing was, or it cannot be read."""
        try:
            found = json.loads(self.pieces[SEAL]) if SEAL in self.pieces else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of all the individual outputs that stand in the folder."""
        return tuple(name for name in self.pieces if name.startswith(OUTPUTS))
