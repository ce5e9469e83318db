"""The frame around every page: navigation, language, the link's promise."""

import streamlit as st

from gpucost.dashboard.frame import language_switch, link_notice, stylesheet
from gpucost.dashboard.wording import say

_ = say().gettext
page = st.navigation(
    [
        st.Page("overview.py", title=_("Overview"), default=True),
        st.Page("review.py", title=_("Review"), url_path="review"),
        st.Page("variants.py", title=_("Variants"), url_path="variants"),
        st.Page("packages.py", title=_("Packages"), url_path="packages"),
        st.Page("audit.py", title=_("Audit"), url_path="audit"),
        st.Page("measure.py", title=_("Measure"), url_path="measure"),
        st.Page("protocol.py", title=_("Protocol"), url_path="protocol"),
    ],
    position="top",
)
st.set_page_config(page_title=f"{page.title} · gpucost", page_icon="static/icon.svg", layout="wide")
stylesheet()
language_switch()
if link_notice():
    page.run()
