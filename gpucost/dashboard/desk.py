"""What lies on the review desk: the example, a folder of this server, or what one browser session uploaded.

Uploads belong to their session and are seen by nobody else. Reviews are shared between sessions by content (names and
SHA-256), never by name alone, and are never changed.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Literal

import streamlit as st

from gpucost.dashboard.settings import configured_path
from gpucost.dashboard.workshop import offered_runs
from gpucost.folder import RESULTS, RunFolder
from gpucost.measuring.runs import open_run
from gpucost.offers import Tariffs, example_tariffs, read_tariffs
from gpucost.review import Review, Source, review

EXAMPLE = Path(__file__).parent.parent / "example"
RESULTS_VARIABLE = "GPUCOST_RESULTS"
TARIFFS_VARIABLE = "GPUCOST_TARIFFS"
SHORT_DIGITS = 12
"""Digits of a SHA-256 that a link carries and a page shows."""

Origin = Literal["example", "folder", "upload", "run"]
_UPLOADS = "desk_uploads"
_ORIGIN = "desk_origin"
_TARIFF = "desk_tariff"
_RUN = "desk_run"


@dataclass(frozen=True)
class Converted:
    """The original of a file that was converted: its name, SHA-256 and bytes, kept beside the canonical file."""

    name: str
    sha256: str
    data: bytes
    changes: int


@dataclass(frozen=True)
class Paper:
    """One file or run folder on the desk. `converted` is set where the canonical file came from a conversion."""

    source: Source
    converted: Converted | None = None

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the raw CSV."""
        return hashlib.sha256(self.source.data).hexdigest()

    @cached_property
    def key(self) -> tuple[str, str]:
        """What tells this paper from any other: its name, and a digest of all its pieces."""
        digest = hashlib.sha256(self.source.data)
        if self.source.folder is not None:
            for name in sorted(self.source.folder.pieces):
                piece = self.source.folder.pieces[name]
                digest.update(f"{name}:{len(piece)}:".encode() + hashlib.sha256(piece).digest())
        return self.source.name, digest.hexdigest()


@dataclass(frozen=True)
class Desk:
    """Everything under review in this session."""

    origin: Origin
    papers: tuple[Paper, ...]

    @cached_property
    def key(self) -> tuple[tuple[str, str], ...]:
        """Identifies the content."""
        return tuple(paper.key for paper in self.papers)

    @property
    def fingerprint(self) -> str:
        """A short digest of the whole content, which a link carries."""
        return hashlib.sha256(repr(self.key).encode()).hexdigest()[:SHORT_DIGITS]


@st.cache_resource(show_spinner=False, max_entries=1)
def _example_papers() -> tuple[Paper, ...]:
    return tuple(Paper(Source.of_folder(_in_memory(path))) for path in sorted(EXAMPLE.iterdir()) if _is_run(path))


def _is_run(path: Path) -> bool:
    return path.is_dir() and (path / RESULTS).is_file()


def _in_memory(path: Path) -> RunFolder:
    folder = open_run(path)
    return RunFolder(folder.name, dict(folder.pieces), folder.changed_since)


def results_folder() -> Path | None:
    """The folder of results of this server, None where none is configured."""
    return configured_path(RESULTS_VARIABLE, "results")


def _folder_papers(path: Path) -> tuple[Paper, ...]:
    if _is_run(path):
        return (Paper(Source.of_folder(_in_memory(path))),)
    papers: list[Paper] = []
    for entry in sorted(path.iterdir()) if path.is_dir() else []:
        if _is_run(entry):
            papers.append(Paper(Source.of_folder(_in_memory(entry))))
        elif entry.suffix.lower() == ".csv" and entry.is_file():
            papers.append(Paper(Source(entry.name, entry.read_bytes())))
    return tuple(papers)


def _stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    """What changes when a file of the folder does: names, sizes and times, so that a page sees a new row at once."""
    files = sorted(entry for entry in path.rglob("*") if entry.is_file()) if path.is_dir() else []
    return tuple((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files)


@st.cache_resource(show_spinner=False, max_entries=4)
def _read_folder(path: Path, stamp: tuple[tuple[str, int, int], ...]) -> tuple[Paper, ...]:  # noqa: ARG001
    return _folder_papers(path)


def uploads() -> tuple[Paper, ...]:
    """What this session uploaded."""
    kept: tuple[Paper, ...] = st.session_state.get(_UPLOADS, ())
    return kept


def keep_uploads(papers: Iterable[Paper]) -> None:
    """Put uploads on the desk of this session, and show them."""
    st.session_state[_UPLOADS] = tuple(papers)
    st.session_state[_ORIGIN] = "upload" if st.session_state[_UPLOADS] else default_origin()


def default_origin() -> Origin:
    """What a new session sees: the server's folder where one is configured, else the example."""
    return "folder" if results_folder() is not None else "example"


def choose_origin(origin: Origin) -> None:
    """Show another part of the desk."""
    st.session_state[_ORIGIN] = origin


def origins() -> tuple[Origin, ...]:
    """What this session can choose from."""
    found: list[Origin] = ["example"]
    if results_folder() is not None:
        found.insert(0, "folder")
    if uploads():
        found.append("upload")
    if chosen_run() is not None:
        found.append("run")
    return tuple(found)


def choose_run(name: str) -> None:
    """Put a run of this server's runs folder on the desk of this session. A name that is none of them does nothing."""
    if name in offered_runs():
        st.session_state[_RUN] = name
        choose_origin("run")


def chosen_run() -> str | None:
    """The run that this session put on its desk, None where there is none, or it is gone."""
    name: str | None = st.session_state.get(_RUN)
    run = offered_runs().get(name) if name is not None else None
    return None if run is None or not _is_run(run.folder) else name


def current_desk() -> Desk:
    """What is under review in this session now."""
    origin: Origin = st.session_state.get(_ORIGIN, default_origin())
    return desk_of(origin if origin in origins() else default_origin())


def desk_of(origin: Origin) -> Desk:
    """What lies on one part of the desk."""
    if origin == "upload":
        return Desk(origin, uploads())
    if origin == "run" and (name := chosen_run()) is not None:
        run = offered_runs()[name].folder
        return Desk(origin, _read_folder(run, _stamp(run)))
    path = results_folder()
    if origin == "folder" and path is not None:
        return Desk(origin, _read_folder(path, _stamp(path)))
    return Desk("example", _example_papers())


@st.cache_resource(show_spinner=False, max_entries=12)
def _shared_review(
    key: tuple[tuple[str, str], ...],  # noqa: ARG001 - the key of the cache
    tariff_sha256: str,  # noqa: ARG001
    _papers: Sequence[Paper],
    _tariffs: Tariffs,
) -> Review:
    return review([paper.source for paper in _papers], _tariffs)


def current_review() -> Review:
    """The review of what is on the desk, against the current tariff. It is shared: never change it."""
    desk, tariffs = current_desk(), current_tariffs()
    return _shared_review(desk.key, tariffs.sha256, desk.papers, tariffs)


@st.cache_resource(show_spinner=False, max_entries=1)
def _shipped_tariffs() -> Tariffs:
    return example_tariffs()


def current_tariffs() -> Tariffs:
    """The prices of this session: uploaded or typed, else configured, else the example."""
    own: tuple[str, bytes] | None = st.session_state.get(_TARIFF)
    if own is not None:
        return read_tariffs(*own)
    path = configured_path(TARIFFS_VARIABLE, "tariffs")
    if path is not None and path.is_file():
        return read_tariffs(path.name, path.read_bytes())
    return _shipped_tariffs()


def keep_tariff(name: str, data: bytes) -> None:
    """Use other prices in this session."""
    st.session_state[_TARIFF] = (name, data)


def drop_tariff() -> None:
    """Go back to the configured prices, or the example."""
    st.session_state.pop(_TARIFF, None)


def has_own_tariff() -> bool:
    """Whether this session brought its own prices."""
    return _TARIFF in st.session_state


def papers_of_upload(files: Mapping[str, bytes]) -> tuple[Paper, ...]:
    """The papers of an upload, by the names the browser gave. Names with a folder form run folders where that folder
    holds a `results.csv`; they are labels, and never become paths."""
    folders: dict[str, dict[str, bytes]] = {}
    for name, data in files.items():
        parts = PurePosixPath(name.replace("\\", "/")).parts
        for depth in range(len(parts) - 1, 0, -1):
            root = "/".join(parts[:depth])
            if f"{root}/{RESULTS}" in files:
                folders.setdefault(root, {})["/".join(parts[depth:])] = data
                break
    papers = [Paper(Source.of_folder(RunFolder(PurePosixPath(root).name, pieces))) for root, pieces in folders.items()]
    inside = {f"{root}/{piece}" for root, pieces in folders.items() for piece in pieces}
    papers += [
        Paper(Source(PurePosixPath(name).name, data))
        for name, data in files.items()
        if name not in inside and (name.lower().endswith((".csv", ".xlsx", ".xls", ".tsv", ".txt")))
    ]
    return tuple(papers)
