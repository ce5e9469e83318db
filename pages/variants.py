"""Variants: may I compare, and what do the raw points show?"""

import streamlit as st

from gpucost.cells import visible
from gpucost.dashboard import desk_parts, variant_parts
from gpucost.dashboard.desk import current_desk, current_review
from gpucost.dashboard.layout import next_step, page_header
from gpucost.dashboard.wording import say

_ = say().gettext

page_header(_("Variants"), _("Whether the variants may be compared, and every raw duration."))
desk, review = current_desk(), current_review()
desk_parts.provenance(desk, review)
if not review.experiments:
    desk_parts.nothing_here()
    next_step("overview.py", _("Choose what lies on the desk"))
    st.stop()

names = [verdict.experiment_id for verdict in review.experiments]
name = st.selectbox(
    _("Experiment"), names, format_func=lambda text: visible(text, 80), key="experiment_shown", bind="query-params"
)
verdict = review.verdict_on(name) or review.experiments[0]
variant_parts.comparability_verdict(review, verdict)
variant_parts.duration_panels(review, verdict)
variant_parts.figures_table(review, verdict)
variant_parts.memory_panel(review, verdict)
variant_parts.notes_scope(review, verdict)
next_step("packages.py", _("Read what each whole package costs"))
