"""What stands around every page: the language, the look that the theme cannot give, the promise of a link."""

import streamlit as st

from gpucost.dashboard import desk, desk_parts
from gpucost.dashboard.markup import inert
from gpucost.dashboard.wording import LANGUAGE_KEY, language, remember_language, say
from gpucost.language import LANGUAGE_NAMES, LANGUAGES

ORIGIN_PARAMETER = "desk"
FINGERPRINT_PARAMETER = "sha"
FILES_PARAMETER = "files"
RUN_PARAMETER = "run"
_WRITTEN = "frame_written"
_RUN_LINKED = "frame_run_linked"

_STYLE = """
<style>
.stApp { font-variant-numeric: tabular-nums; }
.block-container { padding-top: 3.9rem; padding-bottom: 3rem; max-width: 1320px; }
h1 { letter-spacing: -0.015em; padding-bottom: 0 !important; }
:focus-visible { outline: 3px solid currentColor !important; outline-offset: 2px; }
[data-testid="stCaptionContainer"] { opacity: 1; }
[data-testid="stCaptionContainer"] p { color: inherit; opacity: .82; }
.stMarkdown code, [data-testid="stCaptionContainer"] code, [data-testid="stPageLink"] code, button code {
  font-family: inherit; font-size: inherit; color: inherit; background: transparent; padding: 0;
  overflow-wrap: anywhere; white-space: normal;
}
[data-testid="stPageLink"] a { border-radius: 6px; }
[data-testid="stPageLink"] p { white-space: normal; overflow-wrap: anywhere; }
/* Streamlit's own download would hand live formulas to a spreadsheet: each table has a download of ours. */
[data-testid="stElementToolbar"] button[aria-label^="Download as CSV"] { display: none; }
.st-key-language { position: fixed; top: .55rem; right: 1rem; z-index: 999991; width: auto !important; }
@media (max-width: 640px) {
  .block-container { padding-left: 1rem; padding-right: 1rem; }
  h1 { font-size: 1.6rem !important; }
}
</style>
"""


def stylesheet() -> None:
    """The few rules that the theme has no word for. They name no colour: both themes keep theirs."""
    st.html(_STYLE)


def language_switch() -> None:
    """French or English, in place; kept in the session, and in the link where it is not the browser's."""
    current = language()
    if st.session_state.get(LANGUAGE_KEY) not in LANGUAGES:
        st.session_state[LANGUAGE_KEY] = current
    with st.container(key="language"):
        st.segmented_control(
            say().gettext("Language"),
            LANGUAGES,
            format_func=lambda tag: LANGUAGE_NAMES.get(tag, tag),
            required=True,
            key=LANGUAGE_KEY,
            label_visibility="collapsed",
            persist_state="session",
        )
    remember_language()


def link_notice() -> bool:
    """Whether what a link speaks of lies on this desk; where it does not, say which file it was, and show nothing else.

    A link carries where its rows came from, a digest of their content, and the names and short SHA-256 of the files.
    """
    linked_run = st.query_params.get(RUN_PARAMETER)
    if linked_run is not None and linked_run != st.session_state.get(_RUN_LINKED):
        st.session_state[_RUN_LINKED] = linked_run
        desk.choose_run(linked_run)
    current = desk.current_desk()
    wanted = st.query_params.get(FINGERPRINT_PARAMETER)
    # What this session wrote itself is no link: the desk has changed since.
    if wanted and wanted not in (current.fingerprint, st.session_state.get(_WRITTEN)):
        found = next((origin for origin in desk.origins() if desk.desk_of(origin).fingerprint == wanted), None)
        if found is None:
            _say_what_is_missing(wanted)
            return False
        desk.choose_origin(found)
        current = desk.current_desk()
    st.session_state[_WRITTEN] = current.fingerprint
    st.query_params[FINGERPRINT_PARAMETER] = current.fingerprint
    st.query_params[FILES_PARAMETER] = ",".join(
        f"{paper.source.name}:{paper.sha256[: desk.SHORT_DIGITS]}" for paper in current.papers[:4]
    )
    if current.origin == "run" and (run := desk.chosen_run()) is not None:
        st.query_params[RUN_PARAMETER] = st.session_state[_RUN_LINKED] = run
    else:
        st.query_params.pop(RUN_PARAMETER, None)
    return True


def _say_what_is_missing(wanted: str) -> None:
    _ = say().gettext
    files = st.query_params.get(FILES_PARAMETER, "")
    lead = _("This link shows files that are not on this server, or not in this browser session:")
    st.warning(f"{lead} {inert(files or wanted, 400)}", icon=None)
    st.text(_("Upload these very files to see the view, or go on with what lies on the desk."))
    desk_parts.upload_popover()
    if st.button(_("Go on with what lies on the desk")):
        st.session_state[_WRITTEN] = wanted
        st.query_params.clear()
        st.rerun()
