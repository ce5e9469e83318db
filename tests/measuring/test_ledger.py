"""How a run's folder is written: the order of the calls that make bytes last, and what a failing disk leaves."""

import errno
import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpucost.columns import HEADER, NAMES
from gpucost.measuring.conduct import measure
from gpucost.measuring.ledger import Disk, Ledger, read_events, read_rows
from tests.measuring.runs import environment, events_of, passes_of, rows_of, write_protocol


class RecordingDisk(Disk):
    """A real disk that remembers what it was asked for, and the calls of the system beneath, by file name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.calls: list[str] = []

    def _named(self, path: Path) -> str:
        return path.relative_to(self._folder).as_posix()

    def write(self, path: Path, data: bytes) -> None:
        self.calls.append(f"write {self._named(path)}")
        super().write(path, data)

    def append(self, path: Path, data: bytes) -> None:
        what = json.loads(data)["event"] if path.suffix == ".jsonl" else ",".join(data.decode().split(",")[14:18])
        self.calls.append(f"append {self._named(path)} {what}")
        super().append(path, data)

    def rename(self, source: Path, target: Path) -> None:
        self.calls.append(f"rename {self._named(source)} {self._named(target)}")
        super().rename(source, target)

    def flush(self, path: Path) -> None:
        self.calls.append(f"flush {self._named(path)}")
        super().flush(path)


@pytest.fixture
def here(registered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process as one that measures: the workloads importable, and locks of its own."""
    env = environment(registered, tmp_path / "locks")
    for name in ("GPUCOST_LOCKS", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.setenv(name, env[name])
    monkeypatch.syspath_prepend(str(registered))
    return tmp_path


def placed(name: str) -> list[str]:
    parent = Path(name).parent.as_posix()
    return [f"write {name}.unfinished", f"rename {name}.unfinished {name}", f"flush {parent}"]


def test_a_row_never_stands_without_its_pieces(here: Path) -> None:
    """Outputs, control, row, event: each is on the disk before the next is begun."""
    protocol = write_protocol(here, ("warm = 2", "warm = 1"), ("[1, 4]", "[4]"))
    folder = here / "run"
    disk = RecordingDisk(folder)
    assert measure(protocol, folder, disk=disk).accepted == 2
    sealed = [
        call
        for name in ("launch.json", "protocol.toml", "expected-ids.txt", "reference.jsonl", "seal.json",
                     "environment.json", "events.jsonl", "results.csv")
        for call in placed(name)
    ]  # fmt: skip
    assert disk.calls == [
        *sealed,
        "append events.jsonl sealed",
        "append events.jsonl load-started", "append results.csv 4,64,load,1", "append events.jsonl load-finished",
        "append events.jsonl pass-started",
        *placed("outputs/batch-4-cold-1.jsonl"),
        "flush .",  # the entry of the new folder `controls`
        *placed("controls/batch-4-cold-1.json"),
        "append results.csv 4,64,cold,1",
        "append events.jsonl pass-finished",
        "append events.jsonl warm-up-started", "append events.jsonl warm-up-finished",
        "append events.jsonl pass-started",
        *placed("outputs/batch-4-warm-1.jsonl"),
        *placed("controls/batch-4-warm-1.json"),
        "append results.csv 4,64,warm,1",
        "append events.jsonl pass-finished",
        "append events.jsonl finished",
    ]  # fmt: skip


def test_outputs_that_a_worker_wrote_are_flushed_before_they_get_their_place(here: Path) -> None:
    protocol = write_protocol(
        here, ("warm = 2", "warm = 1"), ("[1, 4]", "[4]"), ('scope = "processing"', 'scope = "whole-chain"')
    )
    disk = RecordingDisk(here / "run")
    measure(protocol, here / "run", disk=disk)
    start = disk.calls.index("append events.jsonl pass-started")
    name = "outputs/batch-4-cold-1.jsonl"
    assert disk.calls[start + 1 : start + 4] == [
        f"flush {name}.unfinished", f"rename {name}.unfinished {name}", "flush outputs",
    ]  # fmt: skip


class SystemCalls:
    """The calls of the operating system that a disk makes, in their order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[str] = []
        for name in ("write", "fsync", "ftruncate", "close"):
            monkeypatch.setattr(os, name, self._recording(name, getattr(os, name)))

    def _recording(self, name, call):
        def record(descriptor, *rest):
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            self.made.append(f"{name} {path.name}")
            return call(descriptor, *rest)

        return record


def test_every_write_is_flushed_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results.csv").write_text("header\n")
    calls = SystemCalls(monkeypatch)
    disk = Disk()
    disk.write(tmp_path / "new.unfinished", b"whole")
    disk.rename(tmp_path / "new.unfinished", tmp_path / "new")
    disk.append(tmp_path / "results.csv", b"row\n")
    assert calls.made == [
        "write new.unfinished", "fsync new.unfinished", "close new.unfinished",
        f"fsync {tmp_path.name}", f"close {tmp_path.name}",
        "write results.csv", "fsync results.csv", "close results.csv",
    ]  # fmt: skip
    assert (tmp_path / "new").read_bytes() == b"whole"
    assert (tmp_path / "results.csv").read_bytes() == b"header\nrow\n"


@contextmanager
def size_limit(limit: int) -> Iterator[None]:
    """No file may grow beyond so many bytes: the next write is short, and the one after it fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_half_written_line_is_taken_back_and_the_error_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(b"header\n" * 10)
    with size_limit(100), pytest.raises(OSError, match="File too large") as caught:
        Disk().append(path, b"x" * 99 + b"\n")
    assert caught.value.errno == errno.EFBIG
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"header\n" * 10


def test_a_piece_that_finds_no_room_leaves_the_old_one_and_no_rest(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.place("launch.json", b"old")
    with size_limit(100), pytest.raises(OSError, match="File too large") as caught:
        ledger.place("launch.json", b"n" * 200)
    assert caught.value.filename == f"{tmp_path / 'launch.json'}.unfinished"
    assert [path.name for path in tmp_path.iterdir()] == ["launch.json"]
    assert (tmp_path / "launch.json").read_bytes() == b"old"


def begun(folder: Path) -> Ledger:
    ledger = Ledger(folder, clock=lambda: "2026-12-01T00:00:00+00:00")
    ledger.begin()
    for index in range(1, 4):
        ledger.row({"variant_id": "b1", "phase": "warm", "run_index": str(index), "notes": "a, b; « c »"})
        ledger.event("pass-finished", run_index=index)
    return ledger


def test_a_row_is_written_as_the_csv_asks(tmp_path: Path) -> None:
    begun(tmp_path)
    lines = (tmp_path / "results.csv").read_bytes().decode("utf-8").split("\n")
    assert lines[0] == HEADER
    assert lines[1] == f',b1{"," * 15}warm,1{"," * 20}"a, b; « c »"'
    assert lines[-1] == ""
    assert passes_of(rows_of(tmp_path)) == ["b1 warm 1", "b1 warm 2", "b1 warm 3"]
    assert read_rows(tmp_path) == rows_of(tmp_path)
    assert [event["run_index"] for event in events_of(tmp_path)] == [1, 2, 3]
    assert events_of(tmp_path)[0]["at"] == "2026-12-01T00:00:00+00:00"


def test_a_cell_that_the_csv_does_not_know_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    ledger = begun(tmp_path)
    before = (tmp_path / "results.csv").read_bytes()
    with pytest.raises(KeyError, match="elapsed_second"):
        ledger.row({"elapsed_second": "1"})
    assert (tmp_path / "results.csv").read_bytes() == before
    assert "elapsed_second" not in NAMES


@pytest.mark.parametrize("cut", [1, 2, 30])
def test_a_torn_last_line_is_taken_off_and_given_back(cut: int, tmp_path: Path) -> None:
    ledger = begun(tmp_path)
    for name in ("results.csv", "events.jsonl"):
        path = tmp_path / name
        path.write_bytes(path.read_bytes()[:-cut])
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "b1-warm-4.jsonl.unfinished").write_bytes(b"half")
    torn = (tmp_path / "results.csv").read_bytes().rpartition(b"\n")[2].decode()
    assert torn
    assert passes_of(read_rows(tmp_path)) == ["b1 warm 1", "b1 warm 2"]
    assert ledger.mend() == torn
    assert passes_of(rows_of(tmp_path)) == ["b1 warm 1", "b1 warm 2"]
    assert [event["run_index"] for event in events_of(tmp_path)] == [1, 2]
    assert list(tmp_path.rglob("*.unfinished")) == []
    assert ledger.mend() is None
    ledger.row({"variant_id": "b1", "phase": "warm", "run_index": "3"})
    assert passes_of(rows_of(tmp_path)) == ["b1 warm 1", "b1 warm 2", "b1 warm 3"]


def test_a_whole_folder_is_left_byte_for_byte(tmp_path: Path) -> None:
    ledger = begun(tmp_path)
    before = [(path.name, path.read_bytes(), path.stat().st_ino) for path in sorted(tmp_path.iterdir())]
    assert ledger.mend() is None
    assert [(path.name, path.read_bytes(), path.stat().st_ino) for path in sorted(tmp_path.iterdir())] == before


def test_a_row_torn_in_the_middle_of_a_letter_is_given_back_all_the_same(tmp_path: Path) -> None:
    ledger = begun(tmp_path)
    path = tmp_path / "results.csv"
    path.write_bytes(path.read_bytes()[: -len(' »"\n'.encode()) + 2])
    assert len(read_rows(tmp_path)) == 2
    torn = ledger.mend()
    assert torn is not None
    assert torn.endswith("« c \ufffd")


def test_an_event_holds_what_utf_8_does_not(tmp_path: Path) -> None:
    ledger = begun(tmp_path)
    ledger.event("pass-failed", reason="half of a pair: \ud83d, and é")
    assert events_of(tmp_path)[-1]["reason"] == "half of a pair: \ud83d, and é"
    assert list(read_events(tmp_path)) == events_of(tmp_path)
