"""Forward passes and the way to the first of them, beside optimum-benchmark on the same model folder and one thread.

    python benchmarks/bench_optimum.py --optimum-python OPTIMUM/bin/python [--pairs 30] [--starts 4]

Forward latency: optimum-benchmark runs its own inference scenario (PyTorch backend, in its process), stays alive, and
repeats its own latency tracking when told; our worker forwards the very token tensors that it drew. Both take turns
with the same number of forwards, and the mean latency of each turn is compared. Our worker runs twice: in this
environment, and with optimum-benchmark's Python, so that another version of transformers is not taken for a harness.
Start: `measure` to its first timed pass, beside its isolated process (`launcher=process`) to its first forward.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import mean, median
from unittest.mock import patch

from bench_start import measured_start
from pairs import Child, in_turn, line, machine
from small_run import PACKAGE, Worker, environment, model_folder, write_corpus, write_protocol

HOW = """\
--optimum-python names the Python of an environment of its own:
    python -m venv OPTIMUM
    OPTIMUM/bin/pip install optimum-benchmark==0.6.0 torch==2.13.0 "transformers<5" "datasets<5"
    python benchmarks/bench_optimum.py --optimum-python OPTIMUM/bin/python
"""
SCENARIO = '''
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
DRIVER = """
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
"""
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


def write_inputs(folder: Path, options: argparse.Namespace) -> Path:
    """A corpus of one batch for each forward, and a protocol whose workload forwards the tensors of tokens.json."""
    texts = options.batch * options.forwards
    rows = [{"id": f"t{number:05d}", "text": f"text {number}", "label": "A"} for number in range(texts)]
    write_corpus(folder, rows)
    return write_protocol(
        folder, texts=texts, classes=["A", "B"], workload="forward", package=options.package, batch=options.batch,
        training=[], model=f'[model.options]\ntokens = "{folder / "tokens.json"}"',
    )  # fmt: skip


def optimum_start(command: list[str], began_file: Path, env: dict[str, str]) -> float:
    """Seconds from the start of the command to the first forward of its isolated process."""
    began = time.time()
    done = subprocess.run(command, env=env, cwd=began_file.parent, capture_output=True, text=True, check=False)
    if done.returncode or not began_file.is_file():
        raise SystemExit(f"optimum-benchmark did not start:\n{done.stderr[-3_000:]}")
    return float(began_file.read_text()) - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--optimum-python", help="a Python that has optimum-benchmark, in an environment of its own")
    parser.add_argument("--pairs", type=int, default=30, help="pairs of turns for the latency (default: 30)")
    parser.add_argument("--starts", type=int, default=4, help="pairs of starts (default: 4)")
    parser.add_argument("--forwards", type=int, default=20, help="forwards in a turn (default: 20)")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=32, help="tokens in each sequence (default: 32)")
    parser.add_argument("--package", default=PACKAGE, help=f"a package that carries an encoder (default: {PACKAGE})")
    options = parser.parse_args()
    if options.optimum_python is None:
        parser.exit(2, HOW)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        register(folder)
        sys.path.append(name)  # sealing asks for the workload's registration here too
        (folder / "told_scenario.py").write_text(SCENARIO, encoding="utf-8")
        driver = folder / "driver.py"
        driver.write_text(DRIVER, encoding="utf-8")
        protocol = write_inputs(folder, options)
        env = environment(folder, folder)
        log = stack.enter_context((folder / "run.log").open("a"))
        words = [str(word) for word in (model_folder(protocol), options.batch, options.sequence, options.forwards)]
        theirs = stack.enter_context(
            Child(
                options.optimum_python, driver, "serve", *words, folder / "tokens.json", env=env, log=folder / "o.log"
            )
        )
        theirs.ask()  # tokens.json stands from here on
        ours = stack.enter_context(Worker(protocol, log, env))
        with patch.object(sys, "executable", options.optimum_python):
            shared = stack.enter_context(Worker(protocol, log, env))

        def turn(worker: Worker) -> float:
            return float(worker.warm_pass()["elapsed_ns"]) / 1e9 / options.forwards

        def their_turn() -> float:
            return mean(theirs.ask()["seconds"])

        latency = {
            "their environment": in_turn(options.pairs, lambda: turn(shared), their_turn),
            "this environment": in_turn(options.pairs, lambda: turn(ours), their_turn),
        }
        stack.close()
        started = folder / "started"
        command = [options.optimum_python, str(driver), "start", *words, str(started)]
        starts = in_turn(
            options.starts,
            lambda: measured_start(protocol, folder / "run", env)["pass-started"],
            lambda: optimum_start(command, started, env),
        )
    print(
        f"batch {options.batch} x {options.sequence} tokens, {options.forwards} forwards a turn, one thread; {machine()}"
    )
    for environment_name, pairs in latency.items():
        print(f"their forward {median(other for _, other in pairs) * 1e3:.2f} ms beside ours in {environment_name}")
        print(line(f"latency, ours in {environment_name}, to theirs", [own / other for own, other in pairs]))
    own = [first for first, _ in starts]
    other = [second for _, second in starts]
    print(f"measure, to its first timed pass            {median(own):.2f} s ({min(own):.2f} to {max(own):.2f})")
    print(f"optimum-benchmark, to its first forward     {median(other):.2f} s ({min(other):.2f} to {max(other):.2f})")
    print(line("start, ours to theirs", [one / two for one, two in starts]))


if __name__ == "__main__":
    main()
