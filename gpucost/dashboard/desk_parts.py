"""Parts about the desk: choosing what lies on it, uploading, converting a spreadsheet's export, saying where it is from."""

import pandas as pd
import streamlit as st

from gpucost.cells import visible
from gpucost.conversion import convert
from gpucost.dashboard import desk
from gpucost.dashboard.markup import inert
from gpucost.dashboard.parts import finding_list, more, own_place
from gpucost.dashboard.wording import say
from gpucost.reader import read_csv
from gpucost.review import Review, Source
from gpucost.spreadsheet import FrenchCopy, french_copy

MOST_ORIGINALS = 20
UPLOAD_LIMIT_MEBIBYTES = 200
"""The limit of `server.maxUploadSize`, which the page states before an upload."""


def desk_controls() -> None:
    """Choose what lies on the desk, and bring files of one's own."""
    to = say()
    _ = to.gettext
    words = {
        "example": _("Example"),
        "folder": _("Folder of this server"),
        "upload": _("My uploads"),
        "run": _("Run: {name}").format(name=visible(desk.chosen_run() or "", 60)),
    }
    origins = desk.origins()
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(origins) > 1:
            current = desk.current_desk().origin
            chosen = st.segmented_control(
                _("On the desk"),
                origins,
                default=current,
                format_func=lambda origin: words.get(origin, origin),
                label_visibility="collapsed",
                key=f"origin-{current}-{len(origins)}",
            )
            if chosen in origins and chosen != current:
                desk.choose_origin(chosen)
                st.rerun()
        upload_popover()


def upload_popover() -> None:
    """Bring files of one's own."""
    with st.popover(say().gettext("Upload files")):
        _upload_form()


def _upload_form() -> None:
    """Upload one or many CSVs, or a run's folder whole."""
    _ = say().gettext
    st.text(
        _("Completed CSVs, or a run's folder with its outputs. At most {limit} MiB a file. They are kept for this"
          " browser session, over every page, and nobody else sees them.").format(limit=UPLOAD_LIMIT_MEBIBYTES)
    )  # fmt: skip
    files = st.file_uploader(
        _("CSV files"), accept_multiple_files=True, key="upload-files", max_upload_size=UPLOAD_LIMIT_MEBIBYTES
    )
    folder = st.file_uploader(
        _("A run's folder"),
        accept_multiple_files="directory",
        key="upload-folder",
        max_upload_size=UPLOAD_LIMIT_MEBIBYTES,
    )
    received = [*(files or []), *(folder or [])]
    if received and st.button(_("Put on the desk"), type="primary"):
        # getvalue, not read: the buffer is read once only, and a rerun would find it empty.
        papers = desk.papers_of_upload({file.name: file.getvalue() for file in received})
        if papers:
            desk.keep_uploads([*desk.uploads(), *papers])
            st.rerun()
        st.warning(_("None of these files is a CSV or a run's folder with a `results.csv`."), icon=None)
    if desk.uploads() and st.button(_("Clear my uploads")):
        desk.keep_uploads(())
        st.rerun()


def conversion_offer(current: desk.Desk) -> None:
    """For an upload that a spreadsheet exported: what a conversion would change, and the click that does it."""
    to = say()
    _ = to.gettext
    for position, paper in enumerate(current.papers):
        if current.origin != "upload" or paper.source.folder is not None or not needs_conversion(paper):
            continue
        done = convert(paper.source.name, paper.source.data)
        with st.container(border=True):
            st.markdown(_("**A spreadsheet’s export** {name}").format(name=inert(paper.source.name, 80)))
            for remark in done.remarks:
                st.text(remark.render(to))
            if done.changes:
                st.text(
                    to.ngettext(
                        "{count} cell would be spelled anew:", "{count} cells would be spelled anew:", len(done.changes)
                    ).format(count=len(done.changes))
                )
                st.dataframe(
                    pd.DataFrame(
                        [
                            (c.row, c.line, c.column, visible(c.before, 60), visible(c.after, 60))
                            for c in done.changes[:500]
                        ],
                        columns=[_("row"), _("line"), _("column"), _("before"), _("after")],
                    ),
                    hide_index=True,
                    height=220,
                    alt=_("Cells that a conversion would change"),
                )
                more(len(done.changes) - 500)
            if done.canonical is None:
                st.text(_("It is refused, and nothing is converted:"))
                finding_list(((finding, own_place(finding)) for finding in done.refused), 20)
            elif st.button(_("Convert, and go on with the canonical file"), key=f"convert-{position}", type="primary"):
                kept = desk.Converted(paper.source.name, paper.sha256, paper.source.data, len(done.changes))
                canonical = desk.Paper(Source(canonical_name(paper.source.name), done.canonical), kept)
                papers = list(desk.uploads())
                papers[position] = canonical
                desk.keep_uploads(papers)
                st.rerun()


def needs_conversion(paper: desk.Paper) -> bool:
    """Whether the findings of a file are of the kind that a conversion mends."""
    read = read_csv(paper.source.name, paper.source.data)
    mended = {"file-delimiter", "file-encoding"}
    if any(finding.rule.code in mended for finding in read.findings):
        return True
    return bool(read.table.faulty.any())


def canonical_name(name: str) -> str:
    """The name of the canonical file that comes from another."""
    stem = name.rsplit(".", 1)[0]
    return f"{stem}-canonical.csv"


def provenance(current: desk.Desk, review: Review) -> None:
    """One line: where the rows come from, how many files, their SHA-256."""
    to = say()
    _ = to.gettext
    origin = {
        "example": _("Example: measured on a CPU, shipped with gpucost"),
        "folder": _("Folder of this server"),
        "upload": _("Uploaded in this browser session"),
        "run": _("A run of this server"),
    }[current.origin]
    files = ", ".join(f"{visible(file.name, 60)} ({file.sha256[: desk.SHORT_DIGITS]}…)" for file in review.files[:4])
    left = len(review.files) - 4
    if left > 0:
        files += " " + _("and {count} more").format(count=left)
    st.caption(f"{origin} · {inert(f'SHA-256 {files}', 400)}" if files else origin)
    for paper in current.papers:
        if paper.converted is not None:
            original = f"{paper.converted.name} (SHA-256 {paper.converted.sha256[: desk.SHORT_DIGITS]}…)"
            st.caption(
                to.ngettext(
                    "{canonical} was converted from {original}: {count} cell spelled anew",
                    "{canonical} was converted from {original}: {count} cells spelled anew",
                    paper.converted.changes,
                ).format(
                    canonical=inert(paper.source.name, 80), original=inert(original, 160), count=paper.converted.changes
                )
            )


def nothing_here() -> None:
    """What a page shows when there is no row at all: what to do."""
    _ = say().gettext
    st.info(_("No pass yet. Load the example, upload a completed CSV, or take the template from the Protocol page."))


def originals_download(current: desk.Desk) -> None:
    """The raw CSVs, byte for byte as they were received, and a copy of each for a French spreadsheet."""
    to = say()
    with st.popover(to.gettext("Original files")):
        for position, paper in enumerate(current.papers[:MOST_ORIGINALS]):
            _original(paper.source.name, paper.source.data, paper.sha256, f"original-{position}")
            if paper.converted is not None:
                st.caption(to.gettext("It was converted from this file, kept as it was received:"))
                received = paper.converted
                _original(received.name, received.data, received.sha256, f"received-{position}")
            _french_copy(paper, f"french-{position}")
        more(len(current.papers) - MOST_ORIGINALS)


def _original(name: str, data: bytes, sha256: str, key: str) -> None:
    st.download_button(
        inert(name, 60), data, file_name=name.replace("/", "-"), mime="text/csv", key=key, on_click="ignore"
    )
    st.caption(inert(f"SHA-256 {sha256}", 90))


def _french_copy(paper: desk.Paper, key: str) -> None:
    """A copy that a French spreadsheet opens by a double click. It is not canonical, and `check` refuses it."""
    to = say()
    copy = _copy_of(paper.key, paper)
    if copy is None:
        return
    st.download_button(
        to.gettext("Copy for a French spreadsheet (not canonical)"),
        copy.data,
        file_name=copy.name.replace("/", "-"),
        mime="text/csv",
        key=key,
        on_click="ignore",
        help=to.gettext("Semicolons, decimal commas, VRAI and FAUX. `gpucost convert` gives the canonical file back."),
    )
    if copy.fragile:
        column, text = copy.fragile[0]
        st.caption(
            to.gettext("A double click would alter {value} in `{column}`: import that column as text.").format(
                value=inert(text, 60), column=column
            )
        )


@st.cache_data(show_spinner=False, max_entries=4)
def _copy_of(key: tuple[str, str], _paper: desk.Paper) -> FrenchCopy | None:  # noqa: ARG001 - the key of the cache
    return french_copy(read_csv(_paper.source.name, _paper.source.data))
