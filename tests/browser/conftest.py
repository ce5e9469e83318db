"""A real server and a real browser. Without Chromium these tests skip and say so; with GPUCOST_REQUIRE_BROWSER set, as in
CI, they fail instead."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
START_LIMIT_SECONDS = 60
# Nothing may leave the machine: Chromium's own look-ups are off too.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def start(environment: dict[str, str]) -> tuple[subprocess.Popen[bytes], str]:
    """A server with some environment, and its address once it answers."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    limit = time.monotonic() + START_LIMIT_SECONDS
    while time.monotonic() < limit:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                return process, address
        except OSError:
            time.sleep(0.2)  # the server has no other way to say that it listens
    stop(process)
    message = "the server did not start"
    raise RuntimeError(message)


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The dashboard over its example."""
    process, address = start({"GPUCOST_RESULTS": "", "GPUCOST_TARIFFS": ""})
    yield address
    stop(process)


@pytest.fixture
def fresh_server() -> Iterator[Callable[..., str]]:
    """Starts servers of a test's own, each with its environment."""
    running: list[subprocess.Popen[bytes]] = []

    def run(**environment: str) -> str:
        process, address = start(environment)
        running.append(process)
        return address

    yield run
    for process in running:
        stop(process)


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    """The headless Chromium; the windows that a test opened are closed after it."""
    yield chromium
    for context in chromium.contexts:
        context.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One headless Chromium for all tests."""
    path = shutil.which("chromium")
    required = bool(os.environ.get("GPUCOST_REQUIRE_BROWSER"))
    if path is None:
        reason = "Chromium is missing (Debian's package chromium)"
        pytest.fail(reason) if required else pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()
