"""Parts that every page shares: drawing in the reader's theme, naming a pass in a link, downloads."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import streamlit as st

from gpucost.cells import visible
from gpucost.dashboard import charts, desk
from gpucost.dashboard.fragments import finding_cards
from gpucost.dashboard.statuses import status_colours
from gpucost.dashboard.wording import language, say
from gpucost.findings import Finding, Place
from gpucost.report import findings_entries
from gpucost.review import Review
from gpucost.sentences import SEVERITY_WORDS, place_text
from gpucost.spreadsheet import derived_csv

Shown = str | int | Decimal | float | bool | None
"""A cell of a table that is shown and downloaded."""


def ink() -> charts.Ink:
    """The colours of the reader's theme."""
    dark = st.context.theme.type == "dark"
    colours = {status.word: colour for status, colour in status_colours(dark=dark).items()}
    colours |= (
        {"allocated": "#5DB0F7", "reserved": "#FCC545", "paper": "#1B222C"}
        if dark
        else {"allocated": "#1059DB", "reserved": "#BB4C04", "paper": "#EEF3FB"}
    )
    return charts.Ink("#E8ECF2" if dark else "#1B2330", "#9AA4B2" if dark else "#5B6675", colours)


def chart_labels() -> charts.Labels:
    """The words of the charts."""
    _ = say().gettext
    return charts.Labels(
        x=_("seconds (raw)"),
        variant=_("variant"),
        status=_("status"),
        run=_("run"),
        seconds=_("seconds"),
        median=_("median of accepted passes"),
        failed=_("failed"),
    )


def draw(chart: charts.Drawing, alternative: str) -> None:
    """Draw a chart with its text alternative."""
    st.altair_chart(charts.localised(chart, language()), width="stretch", alt=alternative)


def draw_selectable(chart: charts.Drawing, alternative: str, key: str) -> Mapping[str, object]:
    """Draw a chart whose points can be chosen; returns what is chosen."""
    drawn = st.altair_chart(
        charts.localised(chart, language()), width="stretch", alt=alternative, key=key, on_select="rerun"
    )
    selection: Mapping[str, object] = drawn.get("selection", {})
    return selection


def more(count: int) -> None:
    """How many things a page does not show."""
    if count > 0:
        st.caption(say().ngettext("and {count} more", "and {count} more", count).format(count=count))


def chosen_by_link(parameter: str, key: str, allowed: Sequence[str], default: str) -> None:
    """Have a single choice begin with the word of a link, else with its default. The address holds the word itself: a
    translated label, which Streamlit would put there, opens nothing for a colleague of another language."""
    if st.session_state.get(key) not in allowed:
        linked = st.query_params.get(parameter)
        st.session_state[key] = linked if linked in allowed else default


ROW_PARAMETER = "row"
"""The part of a link that names a pass."""


def pass_link(review: Review, row: int) -> str:
    """A row in a link: the position of its file and its data row, both from 1."""
    return f"{int(review.table.files[row]) + 1}-{int(review.table.row_numbers[row])}"


def linked_row(review: Review, text: str | None) -> int | None:
    """The row that a link names, None where it names none of this review."""
    file, _dash, number = (text or "").partition("-")
    if not (file.isascii() and file.isdigit() and number.isascii() and number.isdigit()):
        return None
    found = (review.table.files == int(file[:9]) - 1) & (review.table.row_numbers == int(number[:12]))
    return int(found.argmax()) if found.any() else None


def place_of(review: Review, row: int) -> str:
    """Where a row stands, in words."""
    table = review.table
    return (
        say()
        .gettext("{file}, row {row}, line {line}")
        .format(
            file=visible(review.files[table.files[row]].name, 60),
            row=table.row_numbers[row],
            line=table.line_numbers[row],
        )
    )


@st.cache_data(show_spinner=False, max_entries=8)
def _findings_csv(key: str, language_code: str, _review: Review) -> bytes:  # noqa: ARG001 - the key of the cache
    header = ("severity", "code", "file", "row", "line", "column", "value", "message", "remedy", "section")
    return derived_csv(header, [[entry[name] for name in header] for entry in findings_entries(_review, say())])


def findings_download(review: Review) -> None:
    """Every finding, as a spreadsheet's table."""
    if not review.findings:
        return
    to = say()
    key = desk.current_desk().fingerprint + desk.current_tariffs().sha256
    total = sum(review.finding_counts.values())
    st.download_button(
        to.ngettext("Download {count} finding (CSV)", "Download {count} findings (CSV)", total).format(count=total),
        lambda: _findings_csv(key, language(), review),
        file_name="gpucost-findings.csv",
        mime="text/csv",
        on_click="ignore",
    )


def table_download(header: Sequence[str], rows: Sequence[Sequence[Shown]], name: str, key: str) -> None:
    """Any table of a page, with spreadsheet formulas made harmless."""
    st.download_button(
        say().gettext("Download this table (CSV)"),
        derived_csv(header, rows),
        file_name=name,
        mime="text/csv",
        key=key,
        on_click="ignore",
    )


def finding_list(findings: Iterable[tuple[Finding, str]], limit: int) -> None:
    """Findings with the place of each, in words; past the limit their number is said."""
    to = say()
    every = list(findings)
    cards = [
        (to.gettext(SEVERITY_WORDS[one.severity]), place, one.message(to), one.remedy(to), one.rule.code)
        for one, place in every[:limit]
    ]
    st.html(finding_cards(cards))
    more(len(every) - limit)


def own_place(finding: Finding) -> str:
    """Where a finding that is about no row of the table stands: its own row, line and column."""
    return place_text(Place(None, finding.row, finding.line), finding.column, say())
