"""The audit of a long corpus against plain Python sets: whole processes, run in turn on the same files.

    python benchmarks/bench_audit.py [--rows N] [--repeats R] [--order same|shuffled]

Ten expected IDs are missing from the outputs, ten stand twice, ten were never expected. Only the ratio holds on another
machine.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLAIN = """
import json, sys
from collections import Counter
with open(sys.argv[1], encoding="utf-8") as file:
    expected = {line.rstrip("\\n") for line in file}
with open(sys.argv[2], encoding="utf-8") as file:
    counts = Counter(json.loads(line)["id"] for line in file)
observed = set(counts)
print(len(expected - observed), sum(count > 1 for count in counts.values()), len(observed - expected))
"""
FAULTY = 10


def write_files(folder: Path, rows: int, *, shuffled: bool) -> tuple[Path, Path]:
    """The expected IDs and the outputs: `rows` lines each, with a fixed seed."""
    ids = [f"text-{number:07d}" for number in range(rows)]
    observed = ids[FAULTY:] + ids[-FAULTY:] + [f"other-{number}" for number in range(FAULTY)]
    draw = random.Random(0)
    if shuffled:
        draw.shuffle(observed)
    expected_path, outputs_path = folder / "expected.txt", folder / "outputs.jsonl"
    expected_path.write_text("".join(f"{name}\n" for name in ids), encoding="utf-8")
    with outputs_path.open("w", encoding="utf-8") as file:
        for name in observed:
            file.write(f'{{"id": "{name}", "label": "{draw.choice("AB")}"}}\n')
    return expected_path, outputs_path


def elapsed_seconds(command: list[str]) -> float:
    """How long a whole process takes. Raises CalledProcessError where it could not do its work."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    elapsed = time.perf_counter() - start
    if done.returncode not in (0, 1) or not done.stdout:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return elapsed


def peak_mebibytes(command: list[str]) -> float:
    """The largest resident memory of a process, asked of a parent that had no other child."""
    measure = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", measure, *command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    unit = 1 if sys.platform == "darwin" else 1024
    return int(done.stdout) * unit / 2**20


def main() -> None:
    """Print the seconds of both, the median ratio with its range, and the peak memory of both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--order", choices=("same", "shuffled"), default="shuffled")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        expected, outputs = write_files(Path(folder), options.rows, shuffled=options.order == "shuffled")
        files = ["--expected", str(expected), "--outputs", str(outputs)]
        ours = [sys.executable, "-m", "gpucost", "audit", *files, "--json"]
        plain = [sys.executable, "-c", PLAIN, str(expected), str(outputs)]
        pairs = [(elapsed_seconds(ours), elapsed_seconds(plain)) for _ in range(options.repeats)]
        ratios = sorted(audit / sets for audit, sets in pairs)
        print(f"{options.rows} IDs, outputs in {options.order} order, {options.repeats} pairs")
        print(f"audit          {statistics.median(audit for audit, _ in pairs):.2f} s  {peak_mebibytes(ours):.0f} MiB")
        print(f"sets and json  {statistics.median(sets for _, sets in pairs):.2f} s  {peak_mebibytes(plain):.0f} MiB")
        print(f"ratio          {statistics.median(ratios):.2f}  ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
