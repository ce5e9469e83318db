"""`check --json` on a long CSV, as whole processes, beside one that only reads the file with pandas.

    python benchmarks/bench_check.py [--rows 100000] [--pairs 5]

Prints medians, ratios in one run and peak memory. Nothing is asserted: the machine may be busy.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from gpucost.columns import NAMES

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "gpucost" / "example" / "massive-en-batch-cpu" / "results.csv"
PASSES_AN_EXPERIMENT = 1000
CELLS = {
    "corpus_revision": "corpus-1f0c", "model_revision": "model-77aa", "tokenizer_revision": "tok-5b21", "seed": "42",
    "gpu_model": "B200", "gpu_count": "1", "device": "cuda:0", "driver_version": "570.124.06",
    "python_version": "3.11.9", "torch_version": "2.7.1+cu128", "runtime_version": "CUDA 12.8", "precision": "bf16",
    "context": "512", "phase": "warm", "warmup_iterations": "2", "expected_ids": "1000", "observed_ids": "1000",
    "ids_match": "true", "format_valid": "true", "quality_metric": "macro-f1", "quality_threshold": "0.9",
    "quality_tolerance": "0", "quality_value": "0.912", "corpus_accepted": "true",
    "baseline_allocated_bytes": "1610612736", "baseline_reserved_bytes": "1744830464",
    "peak_allocated_bytes": "3221225472", "peak_reserved_bytes": "3758096384", "duration_days": "3", "lots": "1",
    "package_total_usd_minor": "129600", "accepted_unique_corpora": "1",
    "notes": "full chain: read, tokenise, classify, write; code rev demo-0001; nothing else on the GPU",
}  # fmt: skip
FAILED = {
    "observed_ids": "0", "ids_match": "false", "format_valid": "false", "quality_value": "", "corpus_accepted": "false",
    "elapsed_seconds": "", "accepted_unique_corpora": "", "notes": "CUDA out of memory, no output",
}  # fmt: skip


def write(path: Path, rows: int, change: Callable[[dict[str, str]], None]) -> None:
    """A plausible CSV: experiments of 1,000 passes over four variants, one pass in a hundred failed."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(NAMES)
        for number in range(rows):
            inside = number % PASSES_AN_EXPERIMENT
            batch = 8 << inside % 4
            cells = CELLS | {
                "experiment_id": f"exp-{number // PASSES_AN_EXPERIMENT}",
                "variant_id": f"b{batch}",
                "batch": str(batch),
                "run_index": str(inside // 4 + 1),
                "elapsed_seconds": f"{5 + (number * 7919 % 1_000_003) / 40_000:.9f}",
            }
            if number % 100 == 99:
                cells |= FAILED
            change(cells)
            writer.writerow([cells[name] for name in NAMES])


def spoil(cells: dict[str, str]) -> None:
    """Make a row wrong as a French spreadsheet does."""
    cells["elapsed_seconds"] = cells["elapsed_seconds"].replace(".", ",") or "0"
    cells["ids_match"] = "VRAI"


def run(command: Sequence[str]) -> tuple[float, float]:
    """Wall seconds and peak MiB of one process."""
    started = time.perf_counter()
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123
        process = subprocess.Popen(command, cwd=ROOT, stdout=nothing, stderr=nothing)
        _pid, _status, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--frictionless-python", help="a Python that has frictionless, in an environment of its own")
    options = parser.parse_args()
    python = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        valid, wrong = Path(folder) / "valid.csv", Path(folder) / "wrong.csv"
        write(valid, options.rows, lambda _cells: None)
        write(wrong, options.rows, spoil)
        read = "import pandas, sys; pandas.read_csv(sys.argv[1], dtype=str)"
        commands = {
            "pandas.read_csv(dtype=str)": [python, "-c", read, str(valid)],
            "check --json, valid": [python, "-m", "gpucost", "check", "--json", str(valid)],
            "check --json, every row wrong": [python, "-m", "gpucost", "check", "--json", str(wrong)],
            "import pandas": [python, "-c", "import pandas"],
            "check --json, sample of 20 rows": [python, "-m", "gpucost", "check", "--json", str(SAMPLE)],
        }
        if options.frictionless_python:
            program = (
                "import os, sys; from frictionless import Resource\n"
                "os.chdir(os.path.dirname(sys.argv[1]))\n"
                "with Resource(path=os.path.basename(sys.argv[1])) as resource:\n"
                "    print(sum(1 for row in resource.row_stream if not row.errors or row.errors))"
            )
            commands["frictionless, with findings"] = [options.frictionless_python, "-c", program, str(valid)]
        figures: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _pair in range(options.pairs + 1):
            for name, command in commands.items():
                figures[name].append(run(command))
    base = [seconds for seconds, _ in figures["pandas.read_csv(dtype=str)"][1:]]
    print(f"{options.rows} rows, {options.pairs} interleaved runs after one warm-up; ratios to pandas.read_csv")
    for name, measured in figures.items():
        seconds = [s for s, _ in measured[1:]]
        ratios = [s / b for s, b in zip(seconds, base, strict=True)]
        peak = max(mib for _, mib in measured[1:])
        print(
            f"{name:34} {median(seconds):8.3f} s ({min(seconds):.3f}-{max(seconds):.3f})"
            f"  ratio {median(ratios):6.2f} ({min(ratios):.2f}-{max(ratios):.2f})  peak {peak:7.0f} MiB"
        )
    print(
        f"every row wrong / valid: {median(s for s, _ in figures['check --json, every row wrong'][1:]) / median(s for s, _ in figures['check --json, valid'][1:]):.2f}"
    )
    small = median(s for s, _ in figures["check --json, sample of 20 rows"][1:])
    print(f"sample / import pandas: {small / median(s for s, _ in figures['import pandas'][1:]):.2f}")


if __name__ == "__main__":
    main()
