"""A worker's warm passes beside a bare loop over the same batches, in turn: what the harness itself costs.

    python benchmarks/bench_measure.py --corpus test.jsonl --training train.jsonl [--pairs 24] [--texts 300]

The bare loop is a process without gpucost: it loads the encoder and the head with PyTorch and transformers, prepares
the batches, and reads two clocks around `for batch: classify`. Both processes stay alive and take turns; the order of
each pair alternates, and several couples of fresh processes share the pairs, for where a process lands in memory
changes its speed too. `--control` puts a second bare loop in the worker's place: what the machine alone does to a ratio.
With `--collect` the loop collects garbage ahead of its clocks, as a worker does: it then comes to its first batch awake.
"""

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from pairs import Child, in_turn, interval, line, machine
from small_run import Worker, add_inputs, environment, model_folder, write_run

LOOP = """
import gc
import json
import resource
import sys
import time
from pathlib import Path

import torch
from transformers import AutoModel, AutoTokenizer

folder, model_folder, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
collecting = sys.argv[4] == "True"
torch.set_num_threads(1)
tokenizer = AutoTokenizer.from_pretrained(model_folder)
model = AutoModel.from_pretrained(model_folder, dtype=torch.float32).eval()
head = json.loads((folder / "head.json").read_text())
weights, bias = torch.tensor(head["weights"]), torch.tensor(head["bias"])
texts = [json.loads(text)["text"] for text in (folder / "texts.jsonl").read_text().splitlines()]
batches = [
    dict(tokenizer(texts[at : at + size], truncation=True, max_length=128, padding=True, return_tensors="pt"))
    for at in range(0, len(texts), size)
]


def classify(batch):
    with torch.inference_mode():
        hidden = model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
        chosen = (torch.nn.functional.normalize(mean, dim=-1) @ weights.T + bias).argmax(dim=-1)
    return [head["classes"][index] for index in chosen.tolist()]


for _order in sys.stdin:
    labels = []
    if collecting:
        gc.collect()
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    for batch in batches:
        labels.append(classify(batch))
    wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    labels = [label for some in labels for label in some]
    print(json.dumps({"elapsed_ns": wall, "cpu_ns": cpu, "max_resident_bytes": peak, "labels": labels}), flush=True)
"""


def labels_of(answer: dict[str, Any]) -> list[str]:
    """The labels of a pass in their order."""
    if "labels" in answer:
        return answer["labels"]
    return [json.loads(row)["label"] for row in answer["outputs"].split("\n") if row]


def told(low: float, high: float) -> str:
    """Where an interval stands to 0.99 to 1.01."""
    if low >= 0.99 and high <= 1.01:
        return "lies within 0.99 to 1.01"
    return "meets 0.99 to 1.01 and goes beyond it" if low <= 1.01 and high >= 0.99 else "is apart from 0.99 to 1.01"


def couples_of(options: argparse.Namespace) -> list[list[tuple[dict[str, Any], dict[str, Any]]]]:
    """The pairs of passes (ours, bare loop) of each couple of fresh processes."""
    couples: list[list[tuple[dict[str, Any], dict[str, Any]]]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        protocol = write_run(folder, options)
        env = environment(folder)
        script = folder / "loop.py"
        script.write_text(LOOP, encoding="utf-8")
        words = (folder, model_folder(protocol), options.batch, options.collect)
        for couple in range(options.couples):
            share = options.pairs // options.couples + (couple < options.pairs % options.couples)
            with ExitStack() as stack:
                log = stack.enter_context((folder / "run.log").open("a"))
                bare, *other = (
                    stack.enter_context(Child(sys.executable, script, *words, env=env, log=folder / "bare.log"))
                    for _ in range(1 + options.control)
                )
                for loop in (bare, *other):
                    loop.ask()
                ours = other[0].ask if other else stack.enter_context(Worker(protocol, log, env)).warm_pass
                couples.append(in_turn(share, ours, bare.ask, first=couple))
    return couples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_inputs(parser, texts=300)
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--couples", type=int, default=4, help="couples of fresh processes that share the pairs")
    parser.add_argument("--control", action="store_true", help="a second bare loop in the worker's place")
    parser.add_argument("--collect", action="store_true", help="the bare loop collects garbage ahead of its clocks")
    options = parser.parse_args()
    couples = couples_of(options)
    pairs = [pair for couple in couples for pair in couple]
    same = all(labels_of(own) == labels_of(other) for own, other in pairs)
    who = f"{'second bare loop' if options.control else 'worker'} to bare loop"
    fastest = [min(one["cpu_ns"] for one in side) / 1e9 for side in zip(*pairs, strict=True)]
    print(
        f"{options.texts} texts, batch {options.batch}, one thread, {options.couples} couples of processes; {machine()}"
    )
    print(f"labels {'the same' if same else 'NOT THE SAME'} in every pass")
    cpu = [own["cpu_ns"] / other["cpu_ns"] for own, other in pairs]
    print(line(f"CPU time, {who}", cpu))
    print(f"  its interval {told(*interval(cpu))}")
    print(line(f"wall time, {who}", [own["elapsed_ns"] / other["elapsed_ns"] for own, other in pairs]))
    by_couple = [median(own["cpu_ns"] / other["cpu_ns"] for own, other in couple) for couple in couples]
    print(f"CPU time, median of each couple: {', '.join(f'{ratio:.4f}' for ratio in by_couple)}")
    print(
        f"CPU time, fastest pass to fastest pass: {fastest[0] / fastest[1]:.4f} ({fastest[1]:.2f} s in the bare loop)"
    )
    peaks = [[answer["max_resident_bytes"] for answer in couple[-1]] for couple in couples]
    memory = [own / other for own, other in peaks]
    print(
        f"peak resident memory, {who}: {median(memory):.4f} ({min(memory):.4f} to {max(memory):.4f});"
        f" {median(own for own, _ in peaks) / 2**20:.0f} MiB to {median(other for _, other in peaks) / 2**20:.0f} MiB"
    )


if __name__ == "__main__":
    main()
