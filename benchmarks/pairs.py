"""Two ways to do the same work, in turn: paired ratios, their median and its bootstrap interval."""

import json
import os
import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Self, TypeVar

Measured = TypeVar("Measured")
RESAMPLES = 10_000


def in_turn(
    pairs: int, ours: Callable[[], Measured], theirs: Callable[[], Measured], *, first: int = 0
) -> list[tuple[Measured, Measured]]:
    """Pairs of (ours, theirs); who goes first alternates. `first` is the number of the first pair."""
    made = []
    for number in range(first, first + pairs):
        if number % 2:
            other = theirs()
            made.append((ours(), other))
        else:
            own = ours()
            made.append((own, theirs()))
    return made


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the median, with a fixed seed."""
    draw = random.Random(0)
    medians = sorted(median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[round(RESAMPLES * 0.025)], medians[round(RESAMPLES * 0.975) - 1]


def line(name: str, ratios: Sequence[float]) -> str:
    """A median ratio with its interval and its range."""
    low, high = interval(ratios)
    return (
        f"{name:44} {median(ratios):.4f}  95 % {low:.4f} to {high:.4f}"
        f"  ({min(ratios):.3f} to {max(ratios):.3f}, {len(ratios)} pairs)"
    )


def machine() -> str:
    """How busy the machine is now: whoever else works on it is in every figure."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[1]:.1f} over the last 5 minutes"


class Child:
    """A Python process that does its work each time it is told a line, and answers with one JSON object a line."""

    def __init__(self, python: str, script: Path, *words: object, env: dict[str, str], log: Path) -> None:
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                [python, str(script), *map(str, words)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, text=True, env=env, cwd=script.parent,
            )  # fmt: skip
        self._log = log

    def ask(self, order: str = "go") -> dict[str, Any]:
        """One answer to one order. Raises SystemExit with the end of its log where it ended."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("no pipes")
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        for text in self._process.stdout:
            if text.startswith("{"):  # what a library prints is none of ours
                answer: dict[str, Any] = json.loads(text)
                return answer
        raise SystemExit(f"{self._process.args} ended:\n{self._log.read_text(errors='replace')[-3_000:]}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.communicate()
