"""Starting a measurement that outlives whoever started it: from a page, detached, found again from its folder.

The command itself holds the device's lock, writes the folder and says everything; a launcher only starts it. What a
browser sends never becomes a path, a module or an argument: the protocol and the run are chosen among those offered,
and the name of a new run is made here.
"""

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import psutil

from gpucost.measuring.ledger import LAUNCH, LOG, STOP, UNFINISHED, now, read_object
from gpucost.measuring.runs import is_alive
from gpucost.measuring.seal import PACKAGE

KEPT_VARIABLES = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TEMP|TMP|LANG|LANGUAGE|LC_\w+|TZ|VIRTUAL_ENV|PYTHON\w+|LD_LIBRARY_PATH"
    r"|GPUCOST_LOCKS|(CUDA|HIP|ROCR|ZE|OMP|MKL|OPENBLAS|NUMEXPR|PYTORCH|TORCH|HF|TRANSFORMERS|TOKENIZERS|NVIDIA)_\w+"
)
"""What a measurement started from a page gets of the server's environment: no secret of the server."""
PATIENCE_SECONDS = 10.0
"""How long a run that was asked to stop may take to write its last row."""


def new_run_name(experiment_id: str) -> str:
    """A name for a new run's folder: the experiment, this moment, and a few random characters."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", experiment_id).strip("-.")[:60] or "run"
    return f"{stem}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"


def measure_command(protocol: Path | None, folder: Path) -> list[str]:
    """The command line of a measurement: a new run of a protocol, or the run in the folder gone on with."""
    words = [sys.executable, "-m", "gpucost", "measure"]
    named = [str(protocol)] if protocol is not None else ["--resume"]
    return [*words, *named, "--out", str(folder)]


def launch(protocol: Path, folder: Path) -> bool:
    """Start measuring a protocol into a new folder, detached. False where the folder exists already: a second click
    on the same form starts nothing."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    _start(measure_command(protocol.resolve(), folder.resolve()), folder, {"protocol": str(protocol.resolve())})
    return True


def resume(folder: Path) -> bool:
    """Go on with the run in a folder, detached. False where its process runs."""
    if is_alive(read_object(folder, LAUNCH)):
        return False
    with suppress(FileNotFoundError):
        (folder / STOP).unlink()
    _start(measure_command(None, folder.resolve()), folder, read_object(folder, LAUNCH))
    return True


def _start(words: list[str], folder: Path, known: dict[str, object]) -> None:
    environment = {name: value for name, value in os.environ.items() if KEPT_VARIABLES.fullmatch(name)}
    environment["PYTHONPATH"] = os.pathsep.join([str(PACKAGE.parent), *filter(None, [environment.get("PYTHONPATH")])])
    with (folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=folder,
            start_new_session=True, close_fds=True,
        )  # fmt: skip
    with suppress(psutil.Error):
        created = psutil.Process(process.pid).create_time()
        _write_launch(folder, {**known, "pid": process.pid, "create_time": created, "started_at": now()})
    # A child that ended stays a zombie until somebody waits for it.
    threading.Thread(target=process.wait, daemon=True).start()


def _write_launch(folder: Path, launch: dict[str, object]) -> None:
    unfinished = folder / (LAUNCH + UNFINISHED)
    unfinished.write_text(json.dumps(launch, indent=2) + "\n", encoding="utf-8")
    unfinished.replace(folder / LAUNCH)


def request_stop(folder: Path) -> bool:
    """Ask the run in a folder to stop: the intent is written first, so that whatever dies says why. False where no
    process of it runs. A run that does not answer in time is killed; `resume` marks the pass it was in as failed."""
    launched = read_object(folder, LAUNCH)
    if not is_alive(launched):
        return False
    (folder / STOP).write_text(json.dumps({"at": now(), "by": "page"}) + "\n", encoding="utf-8")
    pid = int(launched["pid"])
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    threading.Thread(target=_kill_later, args=(launched,), daemon=True).start()
    return True


def _kill_later(launched: dict[str, object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while is_alive(launched) and time.monotonic() < deadline:
        time.sleep(0.2)
    if is_alive(launched):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(int(str(launched["pid"])), signal.SIGKILL)
