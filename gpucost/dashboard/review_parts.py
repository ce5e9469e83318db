"""Parts of the Review: the filters, the table of passes a page at a time, one pass in full."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from gpucost.cells import visible
from gpucost.columns import COLUMNS, NAMES, Group, Unit
from gpucost.dashboard import frames
from gpucost.dashboard.fragments import definitions, status_line
from gpucost.dashboard.markup import inert
from gpucost.dashboard.parts import ROW_PARAMETER, finding_list, linked_row, more, pass_link, place_of
from gpucost.dashboard.statuses import LIGHT, status_colours
from gpucost.dashboard.wording import say
from gpucost.findings import Finding, Rows, Severity
from gpucost.review import Review
from gpucost.sentences import place_text, reason
from gpucost.spreadsheet import derived_csv
from gpucost.verdicts import Status

ROWS_A_PAGE = 50
READING_ORDER = (
    Group.PASS, Group.CONTROL, Group.QUALITY, Group.TIME, Group.NOTES, Group.CONFIGURATION, Group.MEMORY, Group.PACKAGE,
    Group.IDENTITY, Group.REVISIONS, Group.MACHINE,
)  # fmt: skip
"""The groups of columns as a reviewer reads a pass: what decides it first."""
MOST_NAMES = 1_000
"""Names that a filter offers."""


def status_option(review: Review, word: str) -> str:
    """A status as a filter: shape, word and how many."""
    status = next((one for one in Status if one.word == word), None)
    return word if status is None else f"{frames.badge(status, say())} {review.counts[status]}"


def words_of_link(parameter: str, key: str, allowed: Sequence[str]) -> None:
    """Have a filter begin with the words of a link. The address holds the words themselves: a translated label, which
    Streamlit would put there, opens nothing for a colleague of another language."""
    if key not in st.session_state and parameter in st.query_params:
        wanted = st.query_params[parameter].split(",")
        st.session_state[key] = [word for word in allowed if word in wanted]


def write_words(parameter: str, words: Sequence[str]) -> None:
    """Write the chosen words into the address; none chosen leaves it without them."""
    if words:
        st.query_params[parameter] = ",".join(words)
    elif parameter in st.query_params:
        del st.query_params[parameter]


def name_filter(label: str, names: Sequence[str], key: str) -> list[str]:
    """Choose some of many names; none chosen means any."""
    _ = say().gettext
    shown = list(names[:MOST_NAMES])
    chosen = st.multiselect(
        label, shown, format_func=lambda name: visible(str(name), 60), placeholder=_("any"), key=key,
        bind="query-params", width=220,
    )  # fmt: skip
    more(len(names) - len(shown))
    return [name for name in chosen if name in shown]


_LINKED, _WRITTEN = "review_linked", "review_written"


def row_of_link(review: Review) -> int | None:
    """The row that a link asks for. What this page wrote into the address itself asks for nothing."""
    wanted = st.query_params.get(ROW_PARAMETER)
    if wanted and wanted != st.session_state.get(_WRITTEN):
        st.session_state[_LINKED] = wanted
    return linked_row(review, st.session_state.get(_LINKED))


def write_link(review: Review, row: int) -> None:
    """Have the address open this row for a colleague."""
    st.session_state[_WRITTEN] = st.query_params[ROW_PARAMETER] = pass_link(review, row)


def passes_table(review: Review, rows: Rows, linked: int | None) -> int | None:
    """The chosen passes, a page of rows at a time; returns the one that is selected, if any."""
    to = say()
    _ = to.gettext
    total = len(rows)
    st.text(
        to.ngettext("{count} row of {all}", "{count} rows of {all}", total).format(count=total, all=len(review.table))
    )
    if not total:
        st.info(_("No row satisfies these filters. Take one away."))
        return None
    pages = -(-total // ROWS_A_PAGE)
    position = int(rows.searchsorted(linked)) if linked is not None and linked in rows else None
    start = position // ROWS_A_PAGE + 1 if position is not None else 1
    slot = st.empty()
    page = 1
    if pages > 1:
        page = st.pagination(pages, default=start, key=f"page-{pages}-{start}")
    shown = rows[(page - 1) * ROWS_A_PAGE : page * ROWS_A_PAGE]
    frame = frames.passes(review, shown, to)
    chosen_at = (
        int(shown.searchsorted(linked)) if linked is not None and linked in shown else _first_problem(review, shown)
    )
    # The text on a badge is white in both themes: the darker hues carry it.
    options = [frames.badge(status, to) for status in Status]
    with slot:
        selection = st.dataframe(
            frame,
            hide_index=True,
            on_select="rerun",
            selection_mode="single-row",
            selection_default={"selection": {"rows": [chosen_at] if chosen_at is not None else []}},
            key=f"passes-{page}-{total}-{linked}",
            column_order=None if len(review.experiments) > 1 else [str(name) for name in frame if name != "experiment"],
            height=min(38 + 35 * len(shown), 560),
            alt=_("Passes with their status"),
            column_config={
                "status": st.column_config.MultiselectColumn(
                    _("status"), options=options, color=[LIGHT[s] or "gray" for s in Status], pinned=True
                ),
                "experiment": st.column_config.TextColumn(_("experiment")),
                "variant": st.column_config.TextColumn(_("variant")),
                "phase": st.column_config.TextColumn(_("phase")),
                "run": st.column_config.TextColumn(_("run"), width="small"),
                "seconds": st.column_config.TextColumn(_("seconds"), alignment="right"),
                "quality": st.column_config.TextColumn(_("quality / threshold")),
                "ids": st.column_config.TextColumn(_("IDs observed / expected")),
                "findings": st.column_config.TextColumn(
                    _("findings"), help=_("E: errors, W: warnings, N: notices that stand on the row itself")
                ),
                "evidence": st.column_config.TextColumn(
                    _("evidence"),
                    help=_("outputs: recomputed from the individual outputs; row: what the row says alone"),
                ),
                "file": st.column_config.TextColumn(_("file")),
                "line": st.column_config.NumberColumn(_("line"), format="%d"),
            },
        )
    picked = selection.selection.rows if selection is not None else []
    return int(shown[picked[0]]) if picked and 0 <= picked[0] < len(shown) else None


def _first_problem(review: Review, shown: Rows) -> int | None:
    """Where the first pass that is not accepted stands among the shown rows: what a reviewer wants to read."""
    wrong = np.flatnonzero(~np.isin(review.statuses[shown], (Status.ACCEPTED, Status.SETUP)))
    return int(wrong[0]) if len(wrong) else None


def file_findings(review: Review) -> None:
    """What was found about whole files and experiments, said once."""
    to = say()
    said_once = [finding for finding in review.findings if not finding.each_row]
    if not said_once:
        return
    ordered = sorted(said_once, key=lambda finding: finding.severity.rank)
    label = to.ngettext(
        "{count} finding about files, variants and experiments",
        "{count} findings about files, variants and experiments",
        len(ordered),
    ).format(count=len(ordered))
    with st.expander(label, expanded=not len(review.table) or ordered[0].severity is Severity.ERROR):
        finding_list(
            ((finding, place_text(next(review.locator.places(finding)), finding.column, to)) for finding in ordered), 60
        )


def passes_download(review: Review, rows: Rows) -> None:
    """The chosen rows with their verdicts, as a spreadsheet's table."""
    to = say()
    header = ("file", "row", "line", "status", "reason", *NAMES)

    def data() -> bytes:
        table = review.table
        return derived_csv(
            header,
            [
                (
                    review.files[table.files[row]].name, int(table.row_numbers[row]), int(table.line_numbers[row]),
                    Status(review.statuses[row]).word, reason(review, row, to),
                    *(table.text(row, name) for name in NAMES),
                )
                for row in rows.tolist()
            ],
        )  # fmt: skip

    st.download_button(
        to.gettext("Download these rows (CSV)"), data, file_name="gpucost-passes.csv", mime="text/csv",
        on_click="ignore",
    )  # fmt: skip


def pass_details(review: Review, row: int, *, explain: bool) -> None:
    """One pass in full: its status and why, its findings with remedies, every cell in the protocol's groups."""
    to = say()
    _ = to.gettext
    status = Status(review.statuses[row])
    colour = status_colours(dark=st.context.theme.type == "dark")[status] or "inherit"
    mark, _space, word = frames.badge(status, to).partition(" ")
    st.html(status_line(mark, word, colour, reason(review, row, to)))
    st.caption(inert(place_of(review, row), 160))
    if row in review.evidence:
        _outputs(review, row)
    found = review.findings_of(row)
    if found:
        finding_list(((finding, _place_on_row(finding)) for finding in found), 20)
    if row in review.table.unreadable:
        st.text(_("The row as it stands in the file:"))
        st.code(visible(",".join(review.table.unreadable[row].cells), 4000), language=None, wrap_lines=True)
        return
    st.html(definitions(_groups(review, row), explain=explain))


def _place_on_row(finding: Finding) -> str:
    place = finding.column or ""
    if finding.each_row:
        return place
    return say().gettext("{column} (said once for {count} rows)").format(column=place, count=len(finding.rows))


def _groups(review: Review, row: int) -> dict[str, list[tuple[str, str, str, str, str]]]:
    to = say()
    nothing = to.gettext("not recorded")
    groups: dict[str, list[tuple[str, str, str, str, str]]] = {to.gettext(group.value): [] for group in READING_ORDER}
    for column in COLUMNS:
        text = review.table.text(row, column.name)
        unit = to.gettext(column.unit.value) if text and column.unit is not Unit.COUNT else ""
        groups[to.gettext(column.group.value)].append(
            (to.gettext(column.title), column.name, text or nothing, unit, to.gettext(column.help))
        )
    return groups


def _outputs(review: Review, row: int) -> None:
    """What the individual outputs of a pass say."""
    _ = say().gettext
    evidence = review.evidence[row]
    report = evidence.report
    st.caption(
        _("Its outputs ({outputs}): {observed} rows for {expected} expected IDs; quality {quality}.").format(
            outputs=inert(evidence.outputs, 120),
            observed=report.observed,
            expected=report.expected,
            quality=report.quality_value if report.quality_value is not None else _("not computed"),
        )
    )
