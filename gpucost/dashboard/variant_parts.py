"""Parts of the Variants page: the verdict on comparability, the raw durations, the figures, the memory."""

from itertools import pairwise

import pandas as pd
import streamlit as st

from gpucost.cells import visible
from gpucost.columns import BY_NAME, MEMORY
from gpucost.dashboard import charts, frames, parts
from gpucost.dashboard.fragments import paragraph, verdict_banner
from gpucost.dashboard.layout import section
from gpucost.dashboard.markup import inert
from gpucost.dashboard.wording import exact_number, say
from gpucost.language import N_
from gpucost.review import Review
from gpucost.rules.experiments import distinct_values
from gpucost.sentences import comparability, ranks_nothing
from gpucost.verdicts import COLD, LOAD, WARM, ExperimentVerdict, VariantFigures

SCOPES = {
    "processing": N_("processing alone: what the workload prepares, such as tokens, is made before the clock starts."),
    "whole-chain": N_("the whole chain: reading the texts, preparing them, processing, writing the outputs."),
}
"""What the timer covers, by the word of the protocol file."""
POINTS_LIMIT = 4_000
"""Points that a chart draws; past it the chart says how many it leaves to the table."""


def comparability_verdict(review: Review, verdict: ExperimentVerdict) -> None:
    """The verdict, before any figure: what varies, or why nothing is compared."""
    to = say()
    _ = to.gettext
    sentence = comparability(review, verdict, to)
    if verdict.comparable:
        st.html(verdict_banner(sentence, good=True, colour=parts.ink().colours["accepted"]))
        ranking = review.ranking(verdict.experiment_id)
        if ranking:
            order = " · ".join(
                _("{variant} {median} s (median of {n} accepted, {low}–{high})").format(
                    variant=visible(one.variant_id, 60),
                    median=_number(one.median_seconds),
                    n=len(one.accepted_rows),
                    low=_number(one.min_seconds),
                    high=_number(one.max_seconds),
                )
                for one in ranking
            )
            st.html(paragraph(order, strong=_("Warm medians, the shortest first:")))
            _overlaps(ranking)
        else:
            st.text(ranks_nothing(review, verdict, to) or "")
        _without_figure(review, verdict)
    else:
        st.html(verdict_banner(sentence, good=False, colour=parts.ink().colours["rejected"]))
        _differing_columns(review, verdict)
    if "context" in verdict.varied:
        st.warning(_("The context varies: truncating texts changes the work that is done."), icon=None)


def _number(value: object) -> str:
    return exact_number(str(value))


def _overlaps(ranking: tuple[VariantFigures, ...]) -> None:
    """Say which neighbouring ranges overlap: their order could turn on one pass."""
    to = say()
    pairs = [
        f"{visible(one.variant_id, 40)} / {visible(other.variant_id, 40)}"
        for one, other in pairwise(ranking)
        if one.max_seconds is not None and other.min_seconds is not None and one.max_seconds >= other.min_seconds
    ]
    if pairs:
        st.text(to.gettext("The ranges of {pairs} overlap: their order is not settled.").format(pairs=", ".join(pairs)))


def _without_figure(review: Review, verdict: ExperimentVerdict) -> None:
    """Name the variants that have no figure, with the reason."""
    to = say()
    for one in review.variants:
        if one.experiment_id == verdict.experiment_id and one.phase == WARM and one.median_seconds is None:
            st.text(
                to.gettext("{variant} is not ranked: 0 accepted of {rows} warm passes").format(
                    variant=visible(one.variant_id, 60), rows=len(one.rows)
                )
            )
    warm = {v.variant_id for v in review.variants if v.experiment_id == verdict.experiment_id and v.phase == WARM}
    every = {v.variant_id for v in review.variants if v.experiment_id == verdict.experiment_id}
    for name in sorted(every - warm):
        st.text(to.gettext("{variant} is not ranked: it has no warm pass").format(variant=visible(name, 60)))


def _differing_columns(review: Review, verdict: ExperimentVerdict) -> None:
    """The columns that differ, with their values."""
    to = say()
    if not verdict.varied:
        return
    frame = pd.DataFrame(
        {
            to.gettext("column"): list(verdict.varied),
            to.gettext("title"): [to.gettext(BY_NAME[name].title) for name in verdict.varied],
            to.gettext("values"): [
                ", ".join(visible(value, 60) or "∅" for value in distinct_values(review.table, verdict, name)[:12])
                for name in verdict.varied
            ],
            to.gettext("inside a variant"): [
                to.gettext("yes") if name in verdict.inside else to.gettext("no") for name in verdict.varied
            ],
        }
    )
    st.dataframe(frame, hide_index=True, alt=to.gettext("Columns that differ within the experiment"))


def _phases(review: Review, verdict: ExperimentVerdict) -> dict[str, list[VariantFigures]]:
    found: dict[str, list[VariantFigures]] = {}
    for one in review.variants:
        if one.experiment_id == verdict.experiment_id:
            found.setdefault(one.phase, []).append(one)
    order = {WARM: 0, COLD: 1, LOAD: 3}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], 2)))


def duration_panels(review: Review, verdict: ExperimentVerdict) -> None:
    """Every raw duration, a panel per phase with its own scale."""
    to = say()
    _ = to.gettext
    section(_("Raw durations"))
    st.caption(
        _("Each point is one pass; the tick is the median of accepted passes, the thin line their range. Failed passes"
          " have no time and stand at the axis. Each phase has its own scale.")
    )  # fmt: skip
    legend = "   ".join(frames.badge(status, to) for status in frames.MARKS if review.counts[status])
    st.text(legend)
    for phase, figures in _phases(review, verdict).items():
        points = frames.points(review, figures, to)
        total = len(points)
        drawn = points.head(POINTS_LIMIT)
        counted = to.ngettext("{count} row", "{count} rows", total).format(count=total)
        st.markdown(f"**{inert(phase, 40)}** · {counted}")
        if total > POINTS_LIMIT:
            st.caption(
                _("The chart draws the first {shown} of {total} rows; the review table holds every one.").format(
                    shown=POINTS_LIMIT, total=total
                )
            )
        variants = [visible(one.variant_id, 60) for one in figures]
        chart = charts.durations(
            drawn, frames.medians(figures), list(dict.fromkeys(variants))[:60], parts.chart_labels(), parts.ink()
        )
        alternative = _("Raw durations in seconds of phase {phase}, a lane per variant").format(
            phase=visible(phase, 30)
        )
        selection = parts.draw_selectable(chart, alternative, f"durations-{verdict.experiment_id}-{phase}")
        _open_point(review, selection)


def _open_point(review: Review, selection: object) -> None:
    chosen = selection.get("chosen") if isinstance(selection, dict) else None
    if isinstance(chosen, list) and chosen and isinstance(chosen[0], dict):
        row = chosen[0].get("row")
        if isinstance(row, int) and 0 <= row < len(review.table):
            st.page_link(
                "review.py",
                label=say()
                .gettext("Open the chosen pass: {place}")
                .format(place=inert(parts.place_of(review, row), 120)),
                query_params={"row": parts.pass_link(review, row)},
            )


def figures_table(review: Review, verdict: ExperimentVerdict) -> None:
    """The same figures in a table: n accepted of n rows, median, min, max, every raw duration."""
    to = say()
    _ = to.gettext
    header = (
        _("variant"), _("phase"), _("accepted of rows"), _("median (s)"), _("min (s)"), _("max (s)"),
        _("raw durations (s), in order of rows"),
    )  # fmt: skip
    rows = []
    for phase, figures in _phases(review, verdict).items():
        for one in figures:
            elapsed = review.table["elapsed_seconds"]
            raw = [elapsed.texts[code] or "–" for code in elapsed.codes[one.rows[:200]].tolist()]
            rows.append(
                (
                    visible(one.variant_id, 60),
                    visible(phase, 30),
                    f"{len(one.accepted_rows)} / {len(one.rows)}",
                    *(
                        _number(v) if v is not None else "–"
                        for v in (one.median_seconds, one.min_seconds, one.max_seconds)
                    ),
                    "  ".join(exact_number(text) for text in raw) + (" …" if len(one.rows) > len(raw) else ""),
                )
            )
    st.dataframe(pd.DataFrame(rows, columns=header), hide_index=True, alt=_("Figures of every variant and phase"))
    st.caption(_("Medians and ranges are over accepted passes only. No mean, and no percentile from five passes."))
    parts.table_download(header, rows, "gpucost-figures.csv", "figures-csv")


def memory_panel(review: Review, verdict: ExperimentVerdict) -> None:
    """The four memory figures, side by side on one axis; never stacked, added or subtracted."""
    to = say()
    _ = to.gettext
    section(_("Memory of the measured device"))
    words = {name: to.gettext(BY_NAME[name].title) for name in MEMORY}
    drawn = False
    for phase, figures in _phases(review, verdict).items():
        points = frames.memory(review, figures[:40], words)
        if points.empty:
            continue
        drawn = True
        st.markdown(f"**{inert(phase, 40)}**")
        variants = list(dict.fromkeys(points["variant"]))
        chart = charts.memory(points.head(POINTS_LIMIT), variants, words, (_("bytes"), _("figure")), parts.ink())
        parts.draw(
            chart,
            _("Memory in bytes of phase {phase}: baseline and peak, allocated and reserved").format(
                phase=visible(phase, 30)
            ),
        )
        header = (_("variant"), _("run"), _("figure"), _("bytes"))
        values = points[["variant", "run", "word", "exact"]]
        with st.expander(_("The same values in a table")):
            st.dataframe(values.head(2000).set_axis(header, axis=1), hide_index=True)
            parts.table_download(header, values.to_numpy().tolist(), "gpucost-memory.csv", f"memory-csv-{phase}")
    if drawn:
        st.caption(
            _("Allocated memory is part of the reserved, and the two peaks may be reached at different moments: the four"
              " figures are never added nor subtracted. They cover the measured process on one device.")
        )  # fmt: skip
    else:
        st.text(_("Not recorded: the four memory cells are empty on every pass. An empty cell is not zero."))


def notes_scope(review: Review, verdict: ExperimentVerdict) -> None:
    """What the timer covered: a lone CSV cannot say, so its notes are shown."""
    to = say()
    _ = to.gettext
    section(_("What the timer covered"))
    scopes = {said.scope for row in verdict.rows.tolist() if (said := review.announced_of(row)) is not None}
    if len(scopes) == 1 and (scope := next(iter(scopes))) in SCOPES:
        st.text(_("By the protocol of the run, the same for every row:") + " " + _(SCOPES[scope]))
        return
    st.text(_("The scope of the timer stands in the protocol. A CSV alone cannot be checked for it; its notes say:"))
    notes = review.table["notes"]
    distinct = list(dict.fromkeys(notes.codes[verdict.rows].tolist()))
    for code in distinct[:6]:
        if notes.texts[code]:
            st.code(visible(notes.texts[code], 600), language=None, wrap_lines=True)
    parts.more(len(distinct) - 6)
