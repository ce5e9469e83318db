"""What the tests of the measuring machinery share: the workloads registered, and a desk that starts commands."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.measuring import runs
from tests.measuring.runs import Desk, Launcher


@pytest.fixture(scope="session")
def registered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the workloads of the tests are registered."""
    return runs.register(tmp_path_factory.mktemp("registered"))


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    """The process that commands are forked from."""
    made = Launcher()
    yield made
    made.end()


@pytest.fixture
def desk(launcher: Launcher, registered: Path, tmp_path: Path) -> Desk:
    """A desk of its own for each test: no other test's run is in its way."""
    return Desk(launcher, runs.environment(registered, tmp_path / "locks"), tmp_path / "jobs")


@pytest.fixture(scope="module")
def shared_desk(launcher: Launcher, registered: Path, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A desk for runs that several tests of a module look at."""
    made = tmp_path_factory.mktemp("desk")
    return Desk(launcher, runs.environment(registered, made / "locks"), made / "jobs")
