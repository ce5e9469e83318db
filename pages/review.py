"""Review: which passes, and why?"""

import streamlit as st

from gpucost.dashboard import desk_parts, parts, review_parts
from gpucost.dashboard.desk import current_desk, current_review
from gpucost.dashboard.layout import next_step, page_header
from gpucost.dashboard.wording import say
from gpucost.findings import Severity
from gpucost.selection import Choice, chosen_rows, names_in
from gpucost.sentences import SEVERITY_WORDS
from gpucost.verdicts import Status

_ = say().gettext

page_header(_("Review"), _("Every pass with its status, and the condition that decides it."))
desk, review = current_desk(), current_review()
desk_parts.provenance(desk, review)
if not len(review.table):
    review_parts.file_findings(review)
    desk_parts.nothing_here()
    next_step("overview.py", _("Choose what lies on the desk"))
    st.stop()

to = say()
present = [status.word for status in Status if review.counts[status]]
review_parts.words_of_link("status", "status_filter", present)
statuses = st.pills(
    _("Status"),
    present,
    selection_mode="multi",
    format_func=lambda word: review_parts.status_option(review, word),
    key="status_filter",
    persist_state="session",
)
review_parts.write_words("status", statuses or [])
levels = [severity.value for severity in Severity]
review_parts.words_of_link("severity", "severity_filter", levels)
with st.container(horizontal=True, vertical_alignment="bottom"):
    experiments = review_parts.name_filter(_("Experiment"), names_in(review, "experiment_id"), "experiment")
    variants = review_parts.name_filter(_("Variant"), names_in(review, "variant_id", experiments), "variant")
    phases = review_parts.name_filter(_("Phase"), names_in(review, "phase", experiments), "phase")
    severities = st.multiselect(
        _("Findings"),
        levels,
        format_func=lambda value: to.gettext(SEVERITY_WORDS[Severity(value)]),
        placeholder=_("any"),
        key="severity_filter",
        persist_state="session",
        width=180,
    )
review_parts.write_words("severity", severities)
choice = Choice(
    experiments=experiments,
    variants=variants,
    phases=phases,
    statuses=[status for status in Status if status.word in (statuses or ())],
    severities=[severity for severity in Severity if severity.value in severities],
)
rows = chosen_rows(review, choice)
linked = review_parts.row_of_link(review)

table_side, pass_side = st.columns([63, 37], gap="medium")
with table_side:
    chosen = review_parts.passes_table(review, rows, linked)
    review_parts.file_findings(review)
with pass_side, st.container(height=700, border=False):
    if chosen is None:
        st.info(_("Choose a row to see why it has its status, every cell, and its findings."))
    else:
        review_parts.write_link(review, chosen)
        explain = st.toggle(_("Explain the columns"), key="explain", persist_state="session")
        review_parts.pass_details(review, chosen, explain=explain)
with st.container(horizontal=True):
    review_parts.passes_download(review, rows)
    parts.findings_download(review)
    desk_parts.originals_download(desk)
next_step("variants.py", _("See whether the variants may be compared"))
