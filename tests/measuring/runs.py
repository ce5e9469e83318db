"""Small real runs: a protocol and a corpus in a folder, the workloads of the tests registered, the command started."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from gpucost.measuring.locks import LOCKS_VARIABLE

ROOT = Path(__file__).parent.parent.parent
TESTS = ROOT / "tests"
EXAMPLE_PACKAGE = TESTS / "example_workload"
CLASSES = ("billing", "delivery", "refund")
TEXTS = 12


def register(target: Path) -> Path:
    """Make the workloads of the tests importable and registered from a folder, as an installer would."""
    project = tomllib.loads((EXAMPLE_PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module = (EXAMPLE_PACKAGE / "keyword_workload.py").read_text(encoding="utf-8")
    faulty = (TESTS / "measuring" / "faulty_workload.py").read_text(encoding="utf-8")
    target.mkdir(parents=True, exist_ok=True)
    (target / "keyword_workload.py").write_text(module, encoding="utf-8")
    (target / "faulty_workload.py").write_text(faulty, encoding="utf-8")
    for name, version, points in (
        (project["name"], project["version"], project["entry-points"]["gpucost.workloads"]),
        ("faulty-workload", "0.0.1", {"faulty": "faulty_workload:Faulty", "absent": "no_such_module:Absent"}),
    ):
        made = target / f"{name.replace('-', '_')}-{version}.dist-info"
        made.mkdir(exist_ok=True)
        (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        lines = "".join(f"{key} = {value}\n" for key, value in points.items())
        (made / "entry_points.txt").write_text(f"[gpucost.workloads]\n{lines}", encoding="utf-8")
    return target


def environment(registered: Path, locks: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(registered)]),
        LOCKS_VARIABLE: str(locks),
        "LC_ALL": "C.UTF-8",
        "LANGUAGE": "en",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def write_corpus(folder: Path, texts: int = TEXTS) -> None:
    """A corpus whose last word is its class: the faulty workload without a fault labels it all right."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": f"t{number:03d}", "text": f"letter {number} about {CLASSES[number % 3]}", "label": CLASSES[number % 3]}
        for number in range(texts)
    ]
    lines = lambda keys: "".join(json.dumps({key: row[key] for key in keys}) + "\n" for row in rows)  # noqa: E731
    (folder / "texts.jsonl").write_text(lines(("id", "text")), encoding="utf-8")
    (folder / "reference.jsonl").write_text(lines(("id", "label")), encoding="utf-8")
    (folder / "ids.txt").write_text("".join(f"{row['id']}\n" for row in rows), encoding="utf-8")
    train = "".join(
        json.dumps({"id": f"a{n}", "text": f"an older note {n}", "label": "refund"}) + "\n" for n in range(4)
    )
    (folder / "train.jsonl").write_text(train, encoding="utf-8")


PROTOCOL = """\
version = 1

[experiment]
id = "letters-batch"
useful_unit = "one accepted corpus of 12 letters"

[corpus]
texts = "texts.jsonl"
expected_ids = "ids.txt"
reference = "reference.jsonl"
source = "written for this test"
licence = "CC0-1.0"
verified_by = "the test that wrote it"
training = ["train.jsonl"]
tuning = []

[output]
classes = ["billing", "delivery", "refund"]

[quality]
metric = "macro-f1"
threshold = 0.9
tolerance = 0.02
reference_value = 1.0
tolerance_meaning = "largest drop against the rule itself"

[model]
workload = "faulty"

[model.options]
fault = "none"

[configuration]
device = "cpu"
precision = "fp32"
context = 64
seed = 7
truncation = "cut-end"

[variable]
name = "batch"
values = [1, 4]

[passes]
scope = "processing"
warmup_iterations = 1
warm = 2
order = "alternating"
"""


def write_protocol(folder: Path, *changes: tuple[str, str], options: dict[str, object] | None = None) -> Path:
    """The protocol with some of its lines changed, and other options of the workload."""
    text = PROTOCOL
    for before, after in changes:
        if before not in text:
            raise ValueError(before)
        text = text.replace(before, after)
    if options is not None:
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in options.items())
        text = text.replace('fault = "none"\n', lines)
    write_corpus(folder)
    path = folder / "protocol.toml"
    path.write_text(text, encoding="utf-8")
    return path


def command(*words: object, env: dict[str, str], timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """A command as a person starts it: a new interpreter."""
    return subprocess.run(
        [sys.executable, "-m", "gpucost", *map(str, words)],
        env=env, cwd="/", capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip


def wait_until(holds: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Poll until something holds, and fail with its name where it does not in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.01)


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Started:
    """A command that runs in a process of its own. See `launcher.py`."""

    job: Path

    @property
    def pid(self) -> int:
        wait_until((self.job / "pid").exists, "the command starts")
        return int((self.job / "pid").read_text())

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to its process group, as a terminal does; its workers are in sessions of their own."""
        os.killpg(self.pid, number)

    @property
    def ended(self) -> bool:
        return (self.job / "status").exists()

    def wait(self, seconds: float = 90) -> Ended:
        wait_until(lambda: self.ended, "the command ends", seconds)
        status, out, err = (self.job / name for name in ("status", "stdout", "stderr"))
        return Ended(int(status.read_text()), out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


class Launcher:
    """The process that commands are forked from. It is started when it is needed, and again if somebody ended it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def order(self, order: dict[str, Any]) -> None:
        if self._process is None or self._process.poll() is not None:
            env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.measuring.launcher"], stdin=subprocess.PIPE, text=True, env=env, cwd=ROOT
            )
        if self._process.stdin is not None:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()

    def end(self) -> None:
        if self._process is not None:
            self._process.communicate(timeout=10)


class Desk:
    """Starts commands, each with the same environment."""

    def __init__(self, launcher: Launcher, env: dict[str, str], jobs: Path) -> None:
        self._launcher, self.env, self._jobs = launcher, env, jobs

    def start(
        self, *words: object, env: dict[str, str] | None = None, die: tuple[str, ...] | None = None,
        file_limit_bytes: int | None = None,
    ) -> Started:  # fmt: skip
        """Start a command. With `die`, it is `measure PROTOCOL --out FOLDER` on a disk that kills it."""
        job = self._jobs / f"job-{len(list(self._jobs.glob('job-*')))}"
        job.mkdir(parents=True)
        order: dict[str, Any] = {"words": [*map(str, words)], "environment": self.env | (env or {}), "job": str(job)}
        if die is not None:
            order["die"] = die
        if file_limit_bytes is not None:
            order["file_limit_bytes"] = file_limit_bytes
        self._launcher.order(order)
        return Started(job)

    def run(self, *words: object, env: dict[str, str] | None = None, seconds: float = 90) -> Ended:
        return self.start(*words, env=env).wait(seconds)

    def workers(self) -> list[int]:
        """The worker processes that commands of this desk started and that still run."""
        return [process.pid for process in measurements(Path(self.env[LOCKS_VARIABLE]))]

    def check(self, folder: Path) -> dict[str, Any]:
        """What `check --json` says of a run's folder, with its exit status as `exit`."""
        done = self.run("check", folder, "--json")
        if done.stderr:
            raise AssertionError(done.stderr)
        return {**json.loads(done.stdout), "exit": done.returncode}


def rows_of(folder: Path) -> list[dict[str, str]]:
    """The rows of a run, by an independent reader."""
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def passes_of(rows: list[dict[str, str]]) -> list[str]:
    """Rows by their names, such as `batch-1 warm 2`."""
    return [f"{row['variant_id']} {row['phase']} {row['run_index']}" for row in rows]


def events_of(folder: Path) -> list[dict[str, Any]]:
    path = folder / "events.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def measurements(locks: Path) -> list[psutil.Process]:
    """The processes of measurements that take their locks in this folder: commands and workers, nobody else's."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        words = " ".join(process.info["cmdline"] or ())
        ours = "gpucost measure" in words or "gpucost.measuring.worker" in words
        if ours and (process.info["environ"] or {}).get(LOCKS_VARIABLE) == str(locks):
            found.append(process)
    return found


def end_measurements(locks: Path) -> None:
    """Leave no measurement of a test behind."""
    for process in measurements(locks):
        with suppress(psutil.NoSuchProcess):
            process.kill()
