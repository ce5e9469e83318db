"""The bones of every page: its heading and question, its next step."""

import streamlit as st

from gpucost.dashboard.wording import say


def page_header(title: str, question: str) -> None:
    """The one heading of a page, and what it shows in one line."""
    st.title(title, anchor=False)
    st.markdown(question)


def section(title: str) -> None:
    """A section's heading, one level under the page's: headings stay in order for those who move by them."""
    st.header(title, anchor=False)


def next_step(page: str, label: str) -> None:
    """Where to go from here."""
    st.divider()
    st.page_link(page, label=say().gettext("Next: {step} →").format(step=label))
