"""Parts that several pages share: what lies on the desk, the counts, one pass in full, links and downloads."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np
import pandas as pd
import streamlit as st

from gpucost.attention import Attention
from gpucost.cells import visible
from gpucost.columns import COLUMNS, NAMES, Group, Unit
from gpucost.conversion import convert
from gpucost.dashboard import charts, desk, frames
from gpucost.dashboard.fragments import count_cards, definitions, finding_cards, paragraph, status_line
from gpucost.dashboard.markup import inert
from gpucost.dashboard.statuses import status_colours
from gpucost.dashboard.wording import language, say
from gpucost.findings import Finding, Rows, Severity
from gpucost.reader import read_csv
from gpucost.report import findings_entries
from gpucost.review import Review, Source
from gpucost.sentences import SEVERITY_WORDS, comparability, reason
from gpucost.spreadsheet import derived_csv
from gpucost.terminal import place_text
from gpucost.verdicts import ExperimentVerdict, Status

Shown = str | int | Decimal | float | bool | None
"""A cell of a table that is shown and downloaded."""
SHOWN_EXPERIMENTS = 12
"""Experiments that a page shows at once; their number is always exact."""
ROWS_A_PAGE = 50
READING_ORDER = (
    Group.PASS, Group.CONTROL, Group.QUALITY, Group.TIME, Group.NOTES, Group.CONFIGURATION, Group.MEMORY, Group.PACKAGE,
    Group.IDENTITY, Group.REVISIONS, Group.MACHINE,
)  # fmt: skip
"""The groups of columns as a reviewer reads a pass: what decides it first."""
MOST_NAMES = 1_000
"""Names that a filter offers."""
UPLOAD_LIMIT_MEBIBYTES = 200


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


# The desk


def desk_controls() -> None:
    """Choose what lies on the desk, and bring files of one's own."""
    to = say()
    _ = to.gettext
    words = {
        "example": _("Example"),
        "folder": _("Folder of this server"),
        "upload": _("My uploads"),
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
            st.markdown(f"**{_('A spreadsheet’s export')}** {inert(paper.source.name, 80)}")
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
                st.html(finding_cards([_refusal_card(finding) for finding in done.refused[:20]]))
                more(len(done.refused) - 20)
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


def _refusal_card(finding: Finding) -> tuple[str, str, str, str, str]:
    to = say()
    place = to.gettext("row {row}, line {line}, {column}").format(
        row=finding.row or "–", line=finding.line or "–", column=finding.column or ""
    )
    return (
        to.gettext(SEVERITY_WORDS[finding.severity]),
        place,
        finding.message(to),
        finding.remedy(to),
        finding.rule.code,
    )


def provenance(current: desk.Desk, review: Review) -> None:
    """One line: where the rows come from, how many files, their SHA-256."""
    to = say()
    _ = to.gettext
    origin = {
        "example": _("Example: measured on a CPU, shipped with gpucost"),
        "folder": _("Folder of this server"),
        "upload": _("Uploaded in this browser session"),
    }[current.origin]
    files = ", ".join(f"{visible(file.name, 60)} ({file.sha256[: desk.SHORT_DIGITS]}…)" for file in review.files[:4])
    left = len(review.files) - 4
    if left > 0:
        files += " " + _("and {count} more").format(count=left)
    st.caption(f"{inert_sentence(origin)} · {inert(f'SHA-256 {files}', 400)}" if files else inert_sentence(origin))
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


def inert_sentence(text: str) -> str:
    """A sentence of ours in which nothing is markup."""
    return text.replace("*", "\\*").replace("_", "\\_")


def nothing_here() -> None:
    """What a page shows when there is no row at all: what to do."""
    _ = say().gettext
    st.info(_("No pass yet. Load the example, upload a completed CSV, or take the template from the Protocol page."))


def more(count: int) -> None:
    """How many things a page does not show."""
    if count > 0:
        st.caption(say().ngettext("and {count} more", "and {count} more", count).format(count=count))


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
    label = f"**{kind}** · {inert(one.sentence.replace('`', ''), 300)}"
    if len(one.rows):
        st.page_link("review.py", label=label, query_params={"row": pass_link(review, int(one.rows[0]))})
    else:
        st.page_link("review.py", label=label, query_params={"view": "findings"})


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


# The table of passes


def status_option(review: Review, word: str) -> str:
    """A status as a filter: shape, word and how many."""
    status = next((one for one in Status if one.word == word), None)
    return word if status is None else f"{frames.badge(status, say())} {review.counts[status]}"


def name_filter(label: str, names: Sequence[str], key: str) -> list[str]:
    """Choose some of many names; none chosen means any."""
    _ = say().gettext
    shown = list(names[:MOST_NAMES])
    chosen = st.multiselect(
        label, shown, format_func=lambda name: visible(str(name), 60), placeholder=_("any"), key=key,
        persist_state="session", width=220,
    )  # fmt: skip
    more(len(names) - len(shown))
    return [name for name in chosen if name in shown]


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
    colours = status_colours(dark=st.context.theme.type == "dark")
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
                    _("status"), options=options, color=[colours[s] or "gray" for s in Status], pinned=True
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
        st.html(finding_cards([_file_card(review, finding) for finding in ordered[:60]]))
        more(len(ordered) - 60)


def _file_card(review: Review, finding: Finding) -> tuple[str, str, str, str, str]:
    to = say()
    place = place_text(next(review.locator.places(finding)), finding.column, to)
    return (
        to.gettext(SEVERITY_WORDS[finding.severity]),
        place,
        finding.message(to),
        finding.remedy(to),
        finding.rule.code,
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


# One pass


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
        st.html(finding_cards([_card(finding) for finding in found[:20]]))
        more(len(found) - 20)
    if row in review.table.unreadable:
        st.text(_("The row as it stands in the file:"))
        st.code(visible(",".join(review.table.unreadable[row].cells), 4000), language=None, wrap_lines=True)
        return
    st.html(definitions(_groups(review, row), explain=explain))


def _card(finding: Finding) -> tuple[str, str, str, str, str]:
    to = say()
    place = finding.column or ""
    if not finding.each_row:
        place = to.gettext("{column} (said once for {count} rows)").format(column=place, count=len(finding.rows))
    return (
        to.gettext(SEVERITY_WORDS[finding.severity]),
        place,
        finding.message(to),
        finding.remedy(to),
        finding.rule.code,
    )


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


# Downloads


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


def originals_download(current: desk.Desk) -> None:
    """The raw CSVs, byte for byte as they were received."""
    to = say()
    with st.popover(to.gettext("Original files")):
        for position, paper in enumerate(current.papers[:20]):
            st.download_button(
                inert(paper.source.name, 60),
                paper.source.data,
                file_name=paper.source.name.replace("/", "-"),
                mime="text/csv",
                key=f"original-{position}",
                on_click="ignore",
            )
            st.caption(inert(f"SHA-256 {paper.sha256}", 90))
            if paper.converted is not None:
                st.download_button(
                    inert(paper.converted.name, 60),
                    paper.converted.data,
                    file_name=paper.converted.name,
                    key=f"received-{position}",
                    on_click="ignore",
                )
                st.caption(
                    to.gettext("received as {sha256}; {count} cells were converted").format(
                        sha256=inert(paper.converted.sha256, 90), count=paper.converted.changes
                    )
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


def json_text(value: object) -> str:
    """A value as readable JSON, for downloads."""
    return json.dumps(value, ensure_ascii=False, indent=2)
