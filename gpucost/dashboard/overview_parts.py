"""Parts of the Overview: the counts, what needs a reviewer first, a line for each experiment."""

import pandas as pd
import streamlit as st

from gpucost.attention import Attention
from gpucost.cells import visible
from gpucost.dashboard import charts, frames
from gpucost.dashboard.fragments import count_cards, paragraph
from gpucost.dashboard.markup import inert, inert_sentence
from gpucost.dashboard.parts import chart_labels, draw, ink, pass_link
from gpucost.dashboard.statuses import status_colours
from gpucost.dashboard.wording import say
from gpucost.review import Review
from gpucost.sentences import SEVERITY_WORDS, comparability
from gpucost.verdicts import ExperimentVerdict, Status

SHOWN_EXPERIMENTS = 12
"""Experiments that the page shows at once; their number is always exact."""


def status_counts(review: Review) -> None:
    """Four large counts with shape and word; loading rows as a small line."""
    to = say()
    colours = status_colours(dark=st.context.theme.type == "dark")
    shown = (Status.ACCEPTED, Status.REJECTED, Status.FAILED, Status.INVALID)
    st.html(
        count_cards(
            [
                (frames.MARKS[s], frames.badge(s, to).partition(" ")[2], review.counts[s], colours[s] or "inherit")
                for s in shown
            ]
        )
    )
    loading = review.counts[Status.SETUP]
    if loading:
        st.caption(
            to.ngettext(
                "▸ {count} loading row, shown apart: no corpus passed through",
                "▸ {count} loading rows, shown apart: no corpus passed through",
                loading,
            ).format(count=loading)
        )


def attention_link(one: Attention, review: Review) -> None:
    """One thing that needs a reviewer, as a link that opens its first row."""
    to = say()
    if one.status is not None:
        kind = frames.badge(one.status, to)
    else:
        kind = to.gettext(SEVERITY_WORDS[one.severity]) if one.severity is not None else ""
    label = f"**{kind}** · {inert_sentence(one.sentence.replace('`', ''), 300)}"
    if len(one.rows):
        st.page_link("review.py", label=label, query_params={"row": pass_link(review, int(one.rows[0]))})
    else:
        st.page_link("review.py", label=label, query_params={"view": "findings"})


def experiment_line(review: Review, verdict: ExperimentVerdict) -> None:
    """One experiment: comparable or why not, what was accepted and on what evidence, and its raw points."""
    to = say()
    _ = to.gettext
    mine = [one for one in review.variants if one.experiment_id == verdict.experiment_id]
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        st.markdown(f"**{inert(verdict.experiment_id, 80)}**")
        st.html(
            paragraph(comparability(review, verdict, to)) + paragraph(_evidence_sentence(review, verdict)),
        )
    with right:
        frame = pd.concat([frames.points(review, [one], to).assign(phase=visible(one.phase, 30)) for one in mine[:60]])
        if frame["seconds"].notna().any():
            phases = list(dict.fromkeys(frame["phase"]))
            draw(
                charts.strip(frame, chart_labels(), ink(), phases),
                _("Raw durations of {experiment}, by phase").format(experiment=visible(verdict.experiment_id, 60)),
            )


def _evidence_sentence(review: Review, verdict: ExperimentVerdict) -> str:
    _ = say().gettext
    accepted = [row for row in verdict.rows.tolist() if review.statuses[row] == Status.ACCEPTED]
    names = dict.fromkeys(visible(review.table.text(row, "variant_id"), 40) for row in accepted[:2000])
    if not accepted:
        return _("no variant has an accepted pass")
    whole = all(review.evidence_of(row) == "outputs" for row in accepted)
    evidence = _("recomputed from the individual outputs") if whole else _("on what the rows say alone")
    return _("accepted: {variants} ({evidence})").format(variants=", ".join(list(names)[:8]), evidence=evidence)
