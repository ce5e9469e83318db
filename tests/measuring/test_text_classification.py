"""The workloads that come with gpucost, on a small BERT that the test itself trains and saves. Nothing is fetched.

Two runs are real ones; what a worker does beyond them is driven here, for PyTorch takes seconds to import.
"""

import gc
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpucost.cli import main
from gpucost.measuring.devices import Cpu
from gpucost.measuring.seal import file_sha256, folder_sha256
from gpucost.measuring.text_classification import TextClassification
from gpucost.measuring.worker import _Work
from gpucost.measuring.workloads import Settings, TextItem
from tests.measuring.runs import CLASSES, Desk, events_of, passes_of, rows_of, write_protocol

pytestmark = pytest.mark.scale

WORKLOAD = 'workload = "faulty"\n\n[model.options]\nfault = "none"'
ONE_PROCESS = ("warm = 2", 'warm = 1\nisolation = "one-process"')  # PyTorch is imported once
CONTEXT = ("context = 64", "context = 5")
"""`billing letter 9` is 5 tokens, `delivery letter 10` 6: two of the twelve texts are cut, after their class."""
ITEMS = [TextItem(f"t{number:03d}", f"{CLASSES[number % 3]} letter {number}") for number in range(12)]
RIGHT = [{"id": item.id, "label": CLASSES[number % 3]} for number, item in enumerate(ITEMS)]


def write_texts(folder: Path) -> None:
    lines = "".join(json.dumps(item._asdict()) + "\n" for item in ITEMS)
    (folder / "texts.jsonl").write_text(lines, encoding="utf-8")


def outputs_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    from tests.measuring import tiny_bert

    return tiny_bert.train(tmp_path_factory.mktemp("models"))


@pytest.fixture
def settings(models: Path) -> Settings:
    return Settings("cpu", "fp32", 4, 5, "cut-end", 7, CLASSES, model=models / "classifier")


@pytest.fixture(scope="module")
def run(models: Path, shared_desk: Desk, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classified")
    model = f'workload = "text-classification"\npath = "{models / "classifier"}"'
    protocol = write_protocol(folder, (WORKLOAD, model), ONE_PROCESS, CONTEXT)
    write_texts(folder)
    done = shared_desk.run("measure", protocol, "--out", folder / "run", seconds=300)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    return folder / "run"


def test_a_run_is_accepted_with_the_same_labels_for_every_batch(run: Path, shared_desk: Desk) -> None:
    assert passes_of(rows_of(run)) == [
        "batch-1 load 1", "batch-1 cold 1", "batch-1 warm 1", "batch-4 warm 1",
    ]  # fmt: skip
    outputs = list((run / "outputs").iterdir())
    assert [outputs_of(path) for path in outputs] == [RIGHT] * 3
    orders = {json.loads(path.read_text())["input_order_sha256"] for path in (run / "controls").iterdir()}
    assert len(orders) == 1
    checked = shared_desk.check(run)
    assert checked["exit"] == 0
    assert checked["experiments"] == [{"experiment_id": "letters-batch", "varied": ["batch"], "comparable": True}]


def test_its_versions_threads_and_precision_are_observed(run: Path) -> None:
    import torch

    assert {row["torch_version"] for row in rows_of(run)} == {torch.__version__}
    assert {row["precision"] for row in rows_of(run)} == {"fp32"}
    environment = json.loads((run / "environment.json").read_text())
    assert environment["torch_threads"] == environment["threads_announced"] == 1
    assert environment["environment_variables"]["OMP_NUM_THREADS"] == "1"
    assert environment["torch_version"] == torch.__version__


def test_a_truncated_text_is_counted_for_each_variant(run: Path) -> None:
    for row in rows_of(run):
        # While loading, no text has been seen yet.
        assert f"; texts truncated: {0 if row['phase'] == 'load' else 2} of 12; " in row["notes"]
    finished = events_of(run)[-1]
    assert (finished["event"], finished["truncated_texts"]) == ("finished", {"batch-1": 2, "batch-4": 2})


def test_the_revisions_are_those_of_the_files(run: Path, models: Path) -> None:
    """Names and contents, sorted by name, in one fingerprint."""

    def fingerprint(paths: Sequence[Path]) -> str:
        digest = hashlib.sha256()
        for path in sorted(paths, key=lambda path: path.name):
            digest.update(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
        return f"sha256:{digest.hexdigest()}"

    files = list((models / "classifier").iterdir())
    words = [path for path in files if path.name.startswith("tokenizer")]
    assert {row["model_revision"] for row in rows_of(run)} == {fingerprint(files)}
    assert {row["tokenizer_revision"] for row in rows_of(run)} == {fingerprint(words)}


def work(settings: Settings, scope: str, folder: Path) -> list[dict[str, Any]]:
    """What a worker says of one pass of the classifier."""
    write_texts(folder)
    said: list[dict[str, Any]] = []
    workload = TextClassification()
    workload.load(settings)
    order = {"texts": str(folder / "texts.jsonl"), "batch": settings.batch, "seed": settings.seed, "scope": scope}
    _Work(workload, Cpu(), order, said.append).run_pass(
        {"batch": settings.batch, "outputs": str(folder / "outputs.jsonl")}
    )
    return said


def test_a_text_longer_than_the_context_fails_the_pass_where_truncation_is_refused(
    settings: Settings, tmp_path: Path
) -> None:  # fmt: skip
    for scope in ("processing", "whole-chain"):
        failed = work(replace(settings, truncation="refuse"), scope, tmp_path)[-1]
        assert failed["said"] == "failed"
        assert failed["message"] == "TextTooLongError: the text t010 is longer than 5 tokens"
    done = work(replace(settings, truncation="refuse", context=6), "processing", tmp_path)[-1]
    assert (done["said"], done["described"]["truncated_texts"]) == ("done", 0)


def test_the_whole_chain_gives_what_the_processing_alone_gives(settings: Settings, tmp_path: Path) -> None:
    alone, whole = work(settings, "processing", tmp_path)[-1], work(settings, "whole-chain", tmp_path)[-1]
    assert whole["outputs"] is None  # the timed pass wrote them
    assert outputs_of(tmp_path / "outputs.jsonl") == RIGHT
    assert alone["outputs"] == (tmp_path / "outputs.jsonl").read_text(encoding="utf-8")
    assert alone["described"] == whole["described"]
    assert alone["described"]["truncated_texts"] == 2


def test_another_precision_is_applied_and_said(settings: Settings, tmp_path: Path) -> None:
    done = work(replace(settings, precision="bf16"), "processing", tmp_path)[-1]
    assert done["described"]["precision"] == "bf16"


def test_a_model_that_knows_other_classes_is_refused_while_it_loads(
    settings: Settings, models: Path, tmp_path: Path
) -> None:  # fmt: skip
    for path in (models / "classifier").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    config["id2label"] = {"0": "billing", "1": "LABEL_1", "2": "LABEL_2"}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ValueError, match="the model knows classes that the protocol does not: LABEL_1, LABEL_2"):
        TextClassification().load(replace(settings, model=tmp_path))


TRAINING = "".join(
    json.dumps({"id": f"x{n}", "text": f"{CLASSES[n % 3]} note {n}", "label": CLASSES[n % 3]}) + "\n" for n in range(30)
)


@pytest.fixture(scope="module")
def head(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from gpucost.measuring.head import train_head

    folder = tmp_path_factory.mktemp("head")
    (folder / "split.jsonl").write_text(TRAINING, encoding="utf-8")
    records = [json.loads(line) for line in TRAINING.splitlines()]
    trained = train_head(
        [TextItem(one["id"], one["text"]) for one in records], [one["label"] for one in records],
        model=models / "encoder", model_revision=f"sha256:{folder_sha256(models / 'encoder')}",
        split_sha256=hashlib.sha256(TRAINING.encode()).hexdigest(), context=128, seed=7, target=folder / "head.json",
    )  # fmt: skip
    assert trained.sha256 == file_sha256(folder / "head.json")
    return folder / "head.json"


def test_the_command_trains_the_very_same_head_from_the_same_split_and_seed(
    head: Path, models: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    split, target = head.with_name("split.jsonl"), tmp_path / "again.json"
    words = ["--model", models / "encoder", "--training", split, "-o", target, "--seed", 7, "--json"]
    try:
        assert main(["head", "train", *map(str, words)]) == 0
    finally:
        gc.enable()  # a command ends with its process
    assert target.read_bytes() == head.read_bytes()
    assert json.loads(capsysbinary.readouterr().out) == {
        "file": str(target), "sha256": file_sha256(target), "texts": 30, "classes": sorted(CLASSES),
        "training_accuracy": 1.0,
    }  # fmt: skip
    kept = json.loads(head.read_text(encoding="utf-8"))
    assert (kept["seed"], kept["training_texts"], kept["classes"]) == (7, 30, sorted(CLASSES))
    assert [len(row) for row in kept["weights"]] == [32, 32, 32]


@pytest.mark.parametrize(
    ("split", "target", "message"),
    [
        (TRAINING, "there.json", "there.json exists already; it was left as it is"),
        (TRAINING.replace("delivery", "billing").replace("refund", "billing"), "new.json", "two classes or more"),
        ('{"id": "a", "text": "x"}\n', "new.json", "split.jsonl, line 1: it has no `label`"),
        ("", "new.json", "two classes or more"),
    ],
)
def test_a_head_that_cannot_be_is_refused(
    split: str, target: str, message: str, shared_desk: Desk, tmp_path: Path
) -> None:  # fmt: skip
    (tmp_path / "there.json").write_text("kept", encoding="utf-8")
    (tmp_path / "split.jsonl").write_text(split, encoding="utf-8")
    refused = shared_desk.run(
        "head", "train", "--model", tmp_path, "--training", tmp_path / "split.jsonl", "-o", tmp_path / target
    )
    assert (refused.returncode, refused.stdout) == (2, "")
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr
    assert (tmp_path / "there.json").read_text(encoding="utf-8") == "kept"
    assert not (tmp_path / "new.json").exists()


def test_the_embedding_head_is_measured_and_its_head_is_a_part_of_the_model(
    head: Path, models: Path, desk: Desk, tmp_path: Path
) -> None:  # fmt: skip
    model = f'workload = "embedding-head"\npath = "{models / "encoder"}"\nhead = "{head}"'
    protocol = write_protocol(tmp_path, (WORKLOAD, model), ONE_PROCESS)
    write_texts(tmp_path)
    done = desk.run("measure", protocol, "--out", tmp_path / "run", seconds=300)
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "run")
    assert passes_of(rows) == ["batch-1 load 1", "batch-1 cold 1", "batch-1 warm 1", "batch-4 warm 1"]
    assert [outputs_of(path) for path in (tmp_path / "run" / "outputs").iterdir()] == [RIGHT] * 3
    assert all("pooling=mean of real tokens, length 1" in row["notes"] for row in rows)
    other = json.loads(head.read_text(encoding="utf-8"))
    other["bias"][0] += 1e-6
    (tmp_path / "other.json").write_text(json.dumps(other), encoding="utf-8")
    protocol.write_text(
        protocol.read_text(encoding="utf-8").replace(str(head), str(tmp_path / "other.json")), encoding="utf-8"
    )
    checked = json.loads(desk.run("protocol", "check", protocol, "--json").stdout)
    assert checked["model_revision"] != rows[0]["model_revision"]
    assert checked["tokenizer_revision"] == rows[0]["tokenizer_revision"]
