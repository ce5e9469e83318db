"""What whoever runs the server lets a browser do about measuring: which protocols, where runs are kept, whether to
launch.

A browser chooses among what is offered here and sends nothing else: names are looked up, never joined into paths.
"""

import os
from pathlib import Path

import streamlit as st

from gpucost.dashboard import settings
from gpucost.measuring.runs import RunState, list_runs

PROTOCOLS_VARIABLE = "GPUCOST_PROTOCOLS"
RUNS_VARIABLE = "GPUCOST_RUNS"
LAUNCH_VARIABLE = "GPUCOST_ALLOW_LAUNCH"
_YES, _NO = ("1", "true", "yes"), ("0", "false", "no")
_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


def protocols_folder() -> Path:
    """Where protocol files stand: configured, else `protocols` where the server was started."""
    return settings.configured_path(PROTOCOLS_VARIABLE, "protocols") or Path("protocols")


def runs_folder() -> Path:
    """Where runs are kept: configured, else `runs` where the server was started."""
    return settings.configured_path(RUNS_VARIABLE, "runs") or Path("runs")


def offered_protocols() -> dict[str, Path]:
    """The protocol files of the folder and of its direct subfolders, by the name that a page shows."""
    root = protocols_folder()
    if not root.is_dir():
        return {}
    inside = root.resolve()
    found = sorted([*root.glob("*.toml"), *root.glob("*/*.toml")])
    return {
        path.relative_to(root).as_posix(): path
        for path in found
        if path.is_file() and path.resolve().is_relative_to(inside)
    }


def offered_runs() -> dict[str, RunState]:
    """The runs of the folder by name, the latest started first."""
    return {run.name: run for run in list_runs(runs_folder())}


def may_launch() -> bool:
    """Whether this server may start measurements: by its configuration, else only where it answers this machine."""
    said = os.environ.get(LAUNCH_VARIABLE, "").strip().lower()
    if said in _YES:
        return True
    if said in _NO:
        return False
    return (st.get_option("server.address") or "") in _THIS_MACHINE
