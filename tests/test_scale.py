"""A file over the upload limit is still read whole on the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpucost.columns import NAMES
from tests.rows import ACCEPTED

pytestmark = pytest.mark.scale
ROOT = Path(__file__).parent.parent
SIZE_BYTES = 210 * 2**20
MOST_KIBIBYTES = 4 * 2**20


def test_a_csv_over_the_upload_limit_is_checked_whole_within_four_gibibytes(tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    cells = [ACCEPTED[name] for name in NAMES]
    run, notes = NAMES.index("run_index"), NAMES.index("notes")
    cells[notes] = f'"{cells[notes]}"'
    rows = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(NAMES) + "\n")
        while file.tell() < SIZE_BYTES:
            lines = []
            for _ in range(10_000):
                rows += 1
                cells[run] = str(rows)
                lines.append(",".join(cells))
            file.write("\n".join(lines) + "\n")
    with (tmp_path / "out.txt").open("wb") as out:
        command = [sys.executable, "-m", "gpucost", "check", str(path), "--lang", "en"]
        process = subprocess.Popen(command, cwd=ROOT, stdout=out)
        _pid, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert f"✓ {rows} accepted" in (tmp_path / "out.txt").read_text(encoding="utf-8")
    assert usage.ru_maxrss < MOST_KIBIBYTES
