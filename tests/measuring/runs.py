"""Small real runs: a protocol and a corpus in a folder, the workloads of the tests registered, the command started."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

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
        "GPUCOST_LOCKS": str(locks),
        "LANG": "C.UTF-8",
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
    return subprocess.run(
        [sys.executable, "-m", "gpucost", *map(str, words)],
        env=env, cwd=env.get("HOME", "/"), capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
