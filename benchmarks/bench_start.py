"""From the command to the first timed pass, beside a process that only imports the libraries and loads the model.

    python benchmarks/bench_start.py --corpus test.jsonl --training train.jsonl [--pairs 9] [--texts 32]

Ours ends at the time of the event `pass-started` of the first cold pass; theirs when the model and its tokenizer are
loaded. Both are whole new processes, take turns, and are given one thread. `--steps` prints how long after the command
each event of the last run came.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from statistics import median

from pairs import in_turn, line, machine
from small_run import add_inputs, environment, model_folder, write_run

from gpucost.measuring.ledger import read_events

PLAIN = """
import sys
import time
import torch
import transformers
from transformers import AutoModel, AutoTokenizer

torch.set_num_threads(1)
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModel.from_pretrained(sys.argv[1], dtype=torch.float32).eval()
print("loaded at", time.time())
"""


def measured_start(protocol: Path, out: Path, env: dict[str, str]) -> dict[str, float]:
    """Seconds from the start of the command to the first of each event; to begin with, nothing stands in `out`."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "gpucost", "measure", str(protocol), "--out", str(out)]
    began = time.time()
    done = subprocess.run(command, env=env, cwd=protocol.parent, capture_output=True, text=True, check=False)
    steps: dict[str, float] = {}
    for event in read_events(out):
        steps.setdefault(str(event["event"]), datetime.fromisoformat(str(event["at"])).timestamp() - began)
    if "pass-started" not in steps:
        raise SystemExit(f"no pass was started:\n{done.stderr[-3_000:]}")
    return steps


def plain_start(python: str, model: Path, env: dict[str, str]) -> dict[str, float]:
    """Seconds from the start of a plain process to its loaded model."""
    began = time.time()
    done = subprocess.run([python, "-c", PLAIN, str(model)], env=env, capture_output=True, text=True, check=True)
    return {"loaded": float(done.stdout.rpartition("loaded at ")[2]) - began}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_inputs(parser, texts=32)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--steps", action="store_true", help="also print when each event of the last run came")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        protocol = write_run(folder, options)
        env, model = environment(folder), model_folder(protocol)
        measured = in_turn(
            options.pairs + 1,
            lambda: measured_start(protocol, folder / "run", env),
            lambda: plain_start(sys.executable, model, env),
        )[1:]
    ours = [steps["pass-started"] for steps, _ in measured]
    plain = [steps["loaded"] for _, steps in measured]
    print(f"{options.pairs} interleaved pairs after one warm-up, one thread; {machine()}")
    print(f"measure, to its first timed pass      {median(ours):.2f} s ({min(ours):.2f} to {max(ours):.2f})")
    print(f"import and load, a plain process      {median(plain):.2f} s ({min(plain):.2f} to {max(plain):.2f})")
    print(line("first timed pass, to import and load", [own / other for own, other in zip(ours, plain, strict=True)]))
    print("target: no more than 1.2")
    if options.steps:
        for event, seconds in measured[-1][0].items():
            print(f"  {seconds:6.2f} s  {event}")


if __name__ == "__main__":
    main()
