"""Starts gpucost commands in real processes, forked from one that has imported what they import.

The tests start dozens of commands, and each would spend three seconds on importing scikit-learn. Here a command is a
process of its own all the same: it can be killed, has its own environment and limits, and starts its own workers.

Orders come one a line on standard input, as JSON: `words`, `environment`, `job`, and optionally `file_limit_bytes` and
`die` (see `DyingDisk`). The files `pid`, `stdout`, `stderr` and, at the end, `status` of the folder `job` say the rest.
"""

import gc
import json
import os
import resource
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import sklearn.metrics  # noqa: F401 - imported here, once for every command

import gpucost.measuring.conduct
import gpucost.review
import gpucost.terminal_measuring
from gpucost.cli import main
from tests.measuring.dying_disk import DyingDisk


def serve() -> None:
    gc.collect()
    gc.freeze()  # a command shares this process's memory as long as nobody walks through it
    for line in sys.stdin:
        order = json.loads(line)
        if os.fork() == 0:
            watch(order, Path(order["job"]))
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def watch(order: dict[str, Any], job: Path) -> NoReturn:
    """Start the command, and write down how it ended."""
    pid = os.fork()
    if pid == 0:
        run(order, job)
    place(job / "pid", str(pid))
    _, status = os.waitpid(pid, 0)
    place(job / "status", str(os.waitstatus_to_exitcode(status)))
    os._exit(0)


def place(path: Path, text: str) -> None:
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def run(order: dict[str, Any], job: Path) -> NoReturn:
    os.setsid()
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
    os.chdir("/")
    for descriptor, name in ((0, os.devnull), (1, job / "stdout"), (2, job / "stderr")):
        opened = os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    if "file_limit_bytes" in order:
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["file_limit_bytes"],) * 2)
    words = order["words"]
    sys.argv = ["gpucost", *words]
    status = 1
    try:
        if "die" in order:
            resume, folder = "--resume" in words, Path(words[words.index("--out") + 1])
            protocol = None if resume else Path(words[1])
            gpucost.measuring.conduct.measure(protocol, folder, resume=resume, disk=DyingDisk(*order["die"]))
        else:
            status = main(words)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve()
