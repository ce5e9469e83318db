"""Overview: what do we have, and what needs me first?"""

import streamlit as st

from gpucost.attention import needs_attention
from gpucost.dashboard import desk_parts, overview_parts, parts
from gpucost.dashboard.desk import current_desk, current_review
from gpucost.dashboard.layout import next_step, page_header, section
from gpucost.dashboard.wording import say

_ = say().gettext

page_header(_("Overview"), _("What lies on the desk, and what needs a reviewer first."))
desk_parts.desk_controls()
desk, review = current_desk(), current_review()
desk_parts.provenance(desk, review)
if not len(review.table) and not review.findings:
    desk_parts.nothing_here()
    st.stop()
desk_parts.conversion_offer(desk)
overview_parts.status_counts(review)

attention = needs_attention(review, say())
section(_("What needs a reviewer first"))
if not attention:
    st.text(_("Nothing stands against these passes."))
for one in attention:
    overview_parts.attention_link(one, review)

if review.experiments:
    section(_("Experiments"))
for verdict in review.experiments[: overview_parts.SHOWN_EXPERIMENTS]:
    overview_parts.experiment_line(review, verdict)
parts.more(len(review.experiments) - overview_parts.SHOWN_EXPERIMENTS)
parts.findings_download(review)
next_step("review.py", _("Review every pass"))
