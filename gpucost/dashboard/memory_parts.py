"""The memory lesson on a page: what the four figures mean, a run of the synthetic MLP, and its figures on one axis."""

import json
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

import altair as alt
import pandas as pd
import streamlit as st

import gpucost
from gpucost.columns import BY_NAME, MEMORY
from gpucost.dashboard import charts, parts
from gpucost.dashboard.fragments import paragraph
from gpucost.dashboard.layout import section
from gpucost.dashboard.markup import inert
from gpucost.dashboard.wording import language, say
from gpucost.measuring.locks import holder_of, physical_name
from gpucost.measuring.memory_lesson import INTRODUCTION, MEANINGS, ORDER, REASONS, Lesson

LIMIT_SECONDS = 120
LEARNT = "memory_lesson"
LANE_HEIGHT = 34
_CHARACTER = 7.2
"""Width of a character of a label, in pixels: room is kept before the face has loaded and can be measured."""
_RUNNING = Lock()
"""Held while a lesson runs: each one is a process that imports PyTorch, and a page may have many readers."""


class NoLessonError(Exception):
    """The lesson did not run; its text says why, in the reader's language and as markdown without markup of others."""


def memory_chart(
    figures: Mapping[str, int | None], words: Mapping[str, str], titles: tuple[str, str], ink: charts.Ink, *,
    description: str,
) -> alt.Chart:  # fmt: skip
    """The recorded figures as points on one axis from zero, each in a lane of its own: never stacked or subtracted.

    `figures`: bytes by column, None where not recorded, and then not drawn. `words`: the title of each column.
    `titles`: of the axis, and of a figure. `description` is the text alternative.
    """
    names = [name for name in words if figures.get(name) is not None]
    points = pd.DataFrame(
        [{"word": words[name], "bytes": figures[name], "exact": str(figures[name])} for name in names],
        columns=["word", "bytes", "exact"],
    )
    lanes = [words[name] for name in names]
    colours = [ink.colours["reserved" if "reserved" in name else "allocated"] for name in names]
    # As everywhere: allocated is round and reserved square, a baseline hollow and a peak filled.
    shapes = ["square" if "reserved" in name else "circle" for name in names]
    fills = [colour if name.startswith("peak") else "transparent" for name, colour in zip(names, colours, strict=True)]
    room = min(charts.LABEL_LIMIT, max((len(lane) for lane in lanes), default=0) * _CHARACTER) + 16
    labels = alt.Axis(
        labelLimit=charts.LABEL_LIMIT, labelFontSize=12, labelPadding=8, minExtent=room, ticks=False, domain=False,
        grid=True,
    )  # fmt: skip
    chart: alt.Chart = (
        alt.Chart(points)
        .mark_point(size=90, strokeWidth=1.8, opacity=1)
        .encode(
            y=alt.Y("word:N", sort=lanes, title=None, axis=labels),
            x=alt.X("bytes:Q", title=titles[0], scale=alt.Scale(zero=True), axis=alt.Axis(format="~s", tickCount=6)),
            shape=alt.Shape("word:N", legend=None, scale=alt.Scale(domain=lanes, range=shapes)),
            stroke=alt.Stroke("word:N", legend=None, scale=alt.Scale(domain=lanes, range=colours)),
            fill=alt.Fill("word:N", legend=None, scale=alt.Scale(domain=lanes, range=fills)),
            tooltip=[alt.Tooltip("word:N", title=titles[1]), alt.Tooltip("exact:N", title=titles[0])],
        )
        .properties(height=max(1, len(lanes)) * LANE_HEIGHT + charts.AXIS_HEIGHT, description=description)
    )
    return chart


def offered_devices(nodes: Path = Path("/dev")) -> tuple[str, ...]:
    """The devices that the page offers: the processor, and a `cuda:N` for each NVIDIA device node of this machine."""
    found = sum(1 for node in nodes.glob("nvidia[0-9]*") if node.name.removeprefix("nvidia").isdigit())
    return ("cpu", *(f"cuda:{index}" for index in range(found)))


def run_lesson(device: str) -> Lesson:
    """The lesson, run by the command in a process of its own. Raises NoLessonError with the reason."""
    _ = say().gettext
    if find_spec("torch") is None:
        raise NoLessonError(
            _(
                "PyTorch is not installed on this server: the lesson cannot run. Install gpucost with its extra `measure`."
            )
        )
    if device not in offered_devices():
        raise NoLessonError(_("This device is not offered here."))
    if holder_of(physical_name(device)) is not None:
        raise NoLessonError(_("A measurement runs on this device: the lesson would disturb it. Wait for its end."))
    if not _RUNNING.acquire(blocking=False):
        raise NoLessonError(_("Another reader runs the lesson now. Try again in a moment."))
    try:
        done = subprocess.run(
            [sys.executable, "-m", "gpucost", "memory", "--json", "--device", device, "--lang", language()],
            cwd=Path(gpucost.__file__).parent.parent, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        late = _("The lesson did not end within {limit} seconds, and was stopped.")
        raise NoLessonError(late.format(limit=LIMIT_SECONDS)) from None
    except OSError as error:
        raise NoLessonError(_failure(str(error))) from None
    finally:
        _RUNNING.release()
    if done.returncode != 0:
        raise NoLessonError(_failure(done.stderr))
    try:
        return Lesson.of_json(json.loads(done.stdout))
    except (ValueError, KeyError, TypeError):
        raise NoLessonError(_failure(done.stderr or done.stdout)) from None


def _failure(said: str) -> str:
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "")
    return say().gettext("The lesson did not run: {why}").format(why=inert(last.removeprefix("gpucost: "), 400))


def memory_lesson(*, allowed: bool = True) -> None:
    """The whole lesson: the explanation, the button, the figures with what each means, and how to read them.

    Where it is not `allowed` to start a process from a page, the command stands in the button's place.
    """
    _ = say().gettext
    section(_("Learn to read the memory"))
    st.markdown(_(INTRODUCTION))
    st.caption(_(ORDER))
    if allowed:
        _run_button()
    else:
        st.text(_("This server starts no process from a page. On a terminal, this command runs the lesson:"))
        st.code("gpucost memory", language=None)
    kept = st.session_state.get(LEARNT)
    learnt = kept if isinstance(kept, Lesson) else None
    _figures_table(learnt)
    if learnt is not None:
        _what_was_read(learnt)
    for title, why in REASONS:
        st.html(paragraph(_(why), strong=_(title)))


def _run_button() -> None:
    """Choose among the offered devices and run the lesson; its outcome stays in the session."""
    _ = say().gettext
    offered = offered_devices()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        device = offered[0]
        if len(offered) > 1:
            chosen = st.selectbox(_("Device"), offered, key="memory_device", width=190)
            device = chosen if chosen in offered else device
        asked = st.button(_("Run the lesson"), key="memory_run")
    if asked:
        st.session_state.pop(LEARNT, None)
        try:
            with st.spinner(_("The MLP runs in a process of its own…")):
                st.session_state[LEARNT] = run_lesson(device)
        except NoLessonError as reason:
            st.warning(str(reason), icon=None)


def _figures_table(learnt: Lesson | None) -> None:
    """The four figures in the CSV's order: bytes once the lesson has run, and what each means."""
    _ = say().gettext
    header = (_("figure"), _("bytes"), _("what it means"))
    rows = []
    for name in MEMORY:
        figure = None if learnt is None else learnt.figures[name]
        shown = _("not run yet") if learnt is None else _("not recorded") if figure is None else str(figure)
        rows.append((_(BY_NAME[name].title), shown, _(MEANINGS[name])))
    st.table(
        pd.DataFrame(rows, columns=header), border="horizontal", hide_index=True,
        alt=_("The four memory figures and what each means"),
    )  # fmt: skip


def _what_was_read(learnt: Lesson) -> None:
    """What ran and where, why a figure is missing, and the chart where there is something to plot."""
    _ = say().gettext
    ran = _("{layers} linear layers, {parameters} parameters, a batch of {batch} rows, fp32, PyTorch {version}").format(
        layers=learnt.model.layers, parameters=learnt.model.parameters, batch=learnt.model.batch,
        version=learnt.torch_version,
    )  # fmt: skip
    st.caption(inert(f"{learnt.device} · {ran}", 240))
    if learnt.unrecorded is not None:
        st.text(_(learnt.unrecorded))
    words = {name: _(BY_NAME[name].title) for name in MEMORY}
    recorded = {name: figure for name, figure in learnt.figures.items() if figure is not None}
    if recorded:
        alternative = _("Memory in bytes of the lesson on {device}, on one axis: {figures}").format(
            device=learnt.device, figures=", ".join(f"{words[name]} {figure}" for name, figure in recorded.items())
        )
        chart = memory_chart(learnt.figures, words, (_("bytes"), _("figure")), parts.ink(), description=alternative)
        # The chart brings its own text alternative: a second one by `alt` would only be a warning in the server's log.
        st.altair_chart(charts.localised(chart, language()), width="stretch")
