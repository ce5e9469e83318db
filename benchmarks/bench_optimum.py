"""Forward passes and the way to the first of them, beside optimum-benchmark on the same model folder and one thread.

    python benchmarks/bench_optimum.py --optimum-python OPTIMUM/bin/python [--pairs 30] [--starts 4]

Forward latency: optimum-benchmark runs its own inference scenario (PyTorch backend, in its process), stays alive, and
repeats its own latency tracking when told; our worker forwards the very token tensors that it drew. Both take turns
with the same number of forwards, and the mean latency of each turn is compared. Our worker runs twice: in this
environment, and with optimum-benchmark's Python, so that another version of transformers is not taken for a harness.
Start: `measure` to its first timed pass, beside its isolated process (`launcher=process`) to its first forward.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import mean, median
from unittest.mock import patch

import subprocess
import time

from bench_start import measured_start, plain_start
from pairs import Child, in_turn, line
from small_run import PACKAGE, Worker, environment, model_folder, write_corpus, write_protocol

HOW = """\
--optimum-python names the Python of an environment of its own:
    python -m venv OPTIMUM
    OPTIMUM/bin/pip install optimum-benchmark==0.6.0 torch==2.13.0 "transformers<5" "datasets<5"
    python benchmarks/bench_optimum.py --optimum-python OPTIMUM/bin/python
"""
SCENARIO = '''
import json
import time
from pathlib import Path

from optimum_benchmark.scenarios.inference.scenario import InferenceScenario


class Told(InferenceScenario):
    """Its own scenario; it says when its first forward begins."""

    def warmup_inference(self):
        if "told" in self.config.forward_kwargs:
            Path(self.config.forward_kwargs.pop("told")).write_text(str(time.time()))
        super().warmup_inference()
'''
DRIVER = '''
import json
import sys

from optimum_benchmark import Benchmark, BenchmarkConfig, InferenceConfig, ProcessConfig, PyTorchConfig
from optimum_benchmark.backends.pytorch.backend import PyTorchBackend
from optimum_benchmark.logging_utils import setup_logging
from told_scenario import Told


def main():
    what, model, batch, sequence, forwards, file = sys.argv[1:]
    backend = PyTorchConfig(
        model=model, task="feature-extraction", library="transformers", device="cpu", torch_dtype="float32",
        intra_op_num_threads=1, inter_op_num_threads=1,
    )
    shapes = {"batch_size": int(batch), "sequence_length": int(sequence)}
    scenario = InferenceConfig(
        _target_="told_scenario.Told", input_shapes=shapes, iterations=1, duration=0, warmup_runs=1
    )
    if what == "start":
        scenario.forward_kwargs["told"] = file
        setup_logging(level="INFO", prefix="MAIN-PROCESS")
        config = BenchmarkConfig(name="start", launcher=ProcessConfig(), scenario=scenario, backend=backend)
        Benchmark.launch(config)
        return
    run = Told(scenario)
    run.run(PyTorchBackend(backend))
    scenario.iterations = int(forwards)
    with open(file, "w") as tokens:
        json.dump({name: tensor.tolist() for name, tensor in run.inputs.items()}, tokens)
    for _order in sys.stdin:
        run.run_inference_latency_tracking()
        print(json.dumps({"seconds": list(run.report.forward.latency.values)}), flush=True)


if __name__ == "__main__":
    main()
'''
WORKLOAD = '''
import json


class Forward:
    """Forwards the same tensors again for each batch, whatever its texts."""

    def load(self, settings):
        import torch
        from transformers import AutoModel

        self._torch = torch
        self._model = AutoModel.from_pretrained(settings.model, dtype=torch.float32, local_files_only=True).eval()
        with open(settings.options["tokens"]) as file:
            self._tokens = {name: torch.tensor(rows) for name, rows in json.load(file).items()}

    def prepare(self, batch):
        return len(batch)

    def classify(self, batch):
        with self._torch.inference_mode():
            self._model(**self._tokens)
        return ["A"] * batch

    def describe(self):
        return {"precision": "fp32"}
'''


def register(folder: Path) -> None:
    """Make the workload importable and registered from a folder, as an installer would."""
    made = folder / "forward_benchmark-0.0.1.dist-info"
    made.mkdir()
    (folder / "forward_benchmark.py").write_text(WORKLOAD, encoding="utf-8")
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: forward-benchmark\nVersion: 0.0.1\n")
    (made / "entry_points.txt").write_text("[gpucost.workloads]\nforward = forward_benchmark:Forward\n")
