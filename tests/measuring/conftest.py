"""What the tests of the measuring machinery share: the workloads registered, and a desk that starts commands."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.measuring import runs
from tests.measuring.runs import Desk


@pytest.fixture(scope="session")
def registered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the workloads of the tests are registered."""
    return runs.register(tmp_path_factory.mktemp("registered"))


@pytest.fixture(scope="session")
def launcher() -> Iterator[subprocess.Popen[str]]:
    """The process that commands are forked from."""
    env = {**os.environ, "PYTHONPATH": str(runs.ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.measuring.launcher"], stdin=subprocess.PIPE, text=True, env=env, cwd=runs.ROOT
    )
    yield process
    process.communicate(timeout=10)


@pytest.fixture
def desk(launcher: subprocess.Popen[str], registered: Path, tmp_path: Path) -> Desk:
    """A desk of its own for each test: no other test's run is in its way."""
    return Desk(launcher, runs.environment(registered, tmp_path / "locks"), tmp_path / "jobs")


@pytest.fixture(scope="module")
def shared_desk(
    launcher: subprocess.Popen[str], registered: Path, tmp_path_factory: pytest.TempPathFactory
) -> Desk:  # fmt: skip
    """A desk for runs that several tests of a module look at."""
    made = tmp_path_factory.mktemp("desk")
    return Desk(launcher, runs.environment(registered, made / "locks"), made / "jobs")
