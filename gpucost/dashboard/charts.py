"""Charts: pure functions from a table to an Altair chart. They decide nothing, and draw only what was recorded.

Shapes carry the status or the series, colour only repeats it. Every chart is shown with the same values in a table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd

from gpucost.language import Language

Drawing = alt.Chart | alt.LayerChart | alt.FacetChart
"""What a chart function gives."""
FACE = "Inter, sans-serif"
LANE_HEIGHT = 40
"""Height of one variant's lane, in pixels."""
AXIS_HEIGHT = 56
"""Height of the axis and its title under the lanes: a chart that fits its container counts them in."""
MEMORY_LANE_HEIGHT = 72


LABEL_LIMIT = 220
_CHARACTER = 7.2
"""Width of a character of a label, in pixels: room is kept before the face has loaded and can be measured."""


def _lanes(names: Sequence[str]) -> alt.Axis:
    room = min(LABEL_LIMIT, max((len(name) for name in names), default=0) * _CHARACTER) + 16
    return alt.Axis(
        labelLimit=LABEL_LIMIT,
        labelFontSize=12,
        labelPadding=8,
        minExtent=room,
        ticks=False,
        domain=False,
        labelOverlap=False,
    )


@dataclass(frozen=True, slots=True)
class Ink:
    """The colours of a theme: text, muted text, and one colour per status or series."""

    text: str
    muted: str
    colours: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Labels:
    """The words of a chart, in the reader's language."""

    x: str
    variant: str
    status: str
    run: str
    seconds: str
    median: str
    failed: str


SHAPES = {"accepted": "circle", "rejected": "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0M-0.7,-0.7L0.7,0.7"}
"""Vega symbol of each drawn status: a filled circle, and an open circle with a bar."""


def durations(
    points: pd.DataFrame, medians: pd.DataFrame, variants: Sequence[str], labels: Labels, ink: Ink
) -> Drawing:
    """Every raw duration of one phase as a point, a lane per variant.

    `points`: `variant`, `run`, `seconds` (NaN where there is none), `exact` (the text recorded), `status`, `word`,
    `row`. `medians`: `variant`, `median`, `low`, `high` (seconds over accepted passes). Failed passes have no time:
    they stand at the axis as crosses.
    """
    lane = alt.Y("variant:N", sort=list(variants), title=None, axis=_lanes(variants))
    x = alt.X("seconds:Q", title=labels.x, scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(grid=True, tickCount=6))
    timed = points[points["seconds"].notna()]
    failed = points[points["seconds"].isna()]
    tooltip = [
        alt.Tooltip("variant:N", title=labels.variant),
        alt.Tooltip("run:N", title=labels.run),
        alt.Tooltip("exact:N", title=labels.seconds),
        alt.Tooltip("word:N", title=labels.status),
    ]
    chosen = alt.selection_point(name="chosen", fields=["row"], on="click", empty=False)
    spread = (
        alt.Chart(medians).mark_rule(strokeWidth=1.2, color=ink.muted).encode(y=lane, x=alt.X("low:Q"), x2="high:Q")
    )
    median = (
        alt.Chart(medians)
        .mark_tick(thickness=2.5, size=22, color=ink.text)
        .encode(y=lane, x=alt.X("median:Q"), tooltip=[alt.Tooltip("label:N", title=labels.median)])
    )
    statuses = list(ink.colours)
    marks = (
        alt.Chart(timed)
        .mark_point(size=70, strokeWidth=1.8, opacity=0.9)
        .encode(
            y=lane,
            x=x,
            shape=alt.Shape("status:N", legend=None, scale=_shape_scale(statuses)),
            stroke=alt.Stroke("status:N", legend=None, scale=_colour_scale(ink)),
            fill=alt.condition(
                "datum.status === 'accepted'",
                alt.Fill("status:N", legend=None, scale=_colour_scale(ink)),
                alt.value("transparent"),
            ),
            tooltip=tooltip,
            detail="row:N",
        )
        .add_params(chosen)
    )
    crosses = (
        alt.Chart(failed)
        .mark_text(fontSize=15, fontWeight="bold", align="left", color=ink.colours["failed"])
        .encode(y=lane, x=alt.value(3), text=alt.Text("cross:N"), tooltip=tooltip)
    )
    return alt.layer(spread, median, marks, crosses).properties(
        height=max(1, len(variants)) * LANE_HEIGHT + AXIS_HEIGHT
    )


def _shape_scale(statuses: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(statuses), range=[SHAPES.get(status, "square") for status in statuses])


def _colour_scale(ink: Ink) -> alt.Scale:
    return alt.Scale(domain=list(ink.colours), range=list(ink.colours.values()))


def memory(
    points: pd.DataFrame, variants: Sequence[str], series: Mapping[str, str], titles: tuple[str, str], ink: Ink
) -> Drawing:
    """The four memory figures of every pass, each in a lane of its own beside the others: never stacked, never
    subtracted.

    `points`: `variant`, `run`, `series` (a key of `series`, the words), `bytes`, `exact` (the digits recorded).
    """
    words = list(series.values())
    shapes = ["circle", "square", "circle", "square"]
    drawing: alt.Chart = (
        alt.Chart(points)
        .mark_point(size=60, strokeWidth=1.6)
        .encode(
            y=alt.Y("variant:N", sort=list(variants), title=None, axis=_lanes(variants)),
            yOffset=alt.YOffset("word:N", sort=words),
            x=alt.X("bytes:Q", title=titles[0], scale=alt.Scale(zero=True), axis=alt.Axis(format="~s", tickCount=6)),
            shape=alt.Shape("word:N", title=titles[1], sort=words, scale=alt.Scale(domain=words, range=shapes)),
            stroke=alt.Stroke("word:N", title=titles[1], sort=words, scale=_series_scale(words, ink)),
            fill=alt.Fill("word:N", title=titles[1], sort=words, scale=_fill_scale(words, ink)),
            tooltip=[alt.Tooltip("variant:N"), alt.Tooltip("run:N"), alt.Tooltip("word:N"), alt.Tooltip("exact:N")],
        )
        .properties(height=max(1, len(variants)) * MEMORY_LANE_HEIGHT + AXIS_HEIGHT)
    )
    return drawing


def _series_scale(words: Sequence[str], ink: Ink) -> alt.Scale:
    pair = [ink.colours["allocated"], ink.colours["reserved"]]
    return alt.Scale(domain=list(words), range=pair + pair)


def _fill_scale(words: Sequence[str], ink: Ink) -> alt.Scale:
    """Baselines are hollow, peaks are filled."""
    return alt.Scale(
        domain=list(words), range=["transparent", "transparent", ink.colours["allocated"], ink.colours["reserved"]]
    )


def strip(points: pd.DataFrame, labels: Labels, ink: Ink, phases: Sequence[str]) -> Drawing:
    """One tiny strip of the raw points of an experiment, a thin lane per phase, without axes' words."""
    drawing: alt.Chart = (
        alt.Chart(points[points["seconds"].notna()])
        .mark_tick(thickness=1.6, size=12)
        .encode(
            x=alt.X("seconds:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(grid=False, tickCount=3)),
            y=alt.Y("phase:N", sort=list(phases), title=None, axis=_lanes(phases)),
            color=alt.Color("status:N", legend=None, scale=_colour_scale(ink)),
            tooltip=[
                alt.Tooltip("variant:N", title=labels.variant),
                alt.Tooltip("run:N", title=labels.run),
                alt.Tooltip("exact:N", title=labels.seconds),
                alt.Tooltip("word:N", title=labels.status),
            ],
        )
        .properties(height=22 * max(1, len(phases)) + 26)
    )
    return drawing


def confusion(counts: pd.DataFrame, order: Sequence[str], titles: tuple[str, str, str], ink: Ink) -> Drawing:
    """A confusion matrix: `reference`, `output`, `count`. The counts are written where there is room for them."""
    base = alt.Chart(counts).encode(
        x=alt.X("output:N", sort=list(order), title=titles[1], axis=alt.Axis(labelAngle=-45, labelLimit=110)),
        y=alt.Y("reference:N", sort=list(order), title=titles[0], axis=alt.Axis(labelLimit=140)),
        tooltip=[
            alt.Tooltip("reference:N", title=titles[0]),
            alt.Tooltip("output:N", title=titles[1]),
            alt.Tooltip("count:Q", title=titles[2]),
        ],
    )
    squares = base.mark_rect().encode(
        color=alt.Color(
            "count:Q",
            legend=None,
            scale=alt.Scale(type="sqrt", range=[ink.colours["paper"], ink.colours["accepted"]]),
        )
    )
    height = min(480, 20 * len(order) + 90)
    if len(order) > 24:
        return alt.layer(squares).properties(height=height)
    numbers = (
        base.transform_filter("datum.count > 0")
        .mark_text(fontSize=10)
        .encode(
            text="count:Q",
            color=alt.condition("datum.count > datum.half", alt.value(ink.colours["paper"]), alt.value(ink.text)),
        )
    )
    return alt.layer(squares, numbers).properties(height=height)


_NUMBERS: dict[Language, alt.NumberLocale] = {
    "fr": alt.NumberLocale(decimal=",", thousands="\u202f", grouping=[3], currency=["", "\u00a0$US"]),
    "en": alt.NumberLocale(decimal=".", thousands=",", grouping=[3], currency=["$", ""]),
}


def localised(chart: Drawing, language: Language) -> Drawing:
    """The chart with the numbers of its axes in the reader's language."""
    # The labels are measured in the face that they are drawn in, or long ones would be cut.
    drawing: Drawing = chart.configure(locale=alt.Locale(number=_NUMBERS[language]), font=FACE)
    return drawing
