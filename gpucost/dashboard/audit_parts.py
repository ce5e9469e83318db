"""Parts of the Audit page: three drop zones, one verdict sentence, then the IDs, the labels and the figures."""

from decimal import Decimal, InvalidOperation

import pandas as pd
import streamlit as st

from gpucost.audit import COMPUTABLE, AuditReport, AuditUsageError, Document, audit, control_json
from gpucost.cells import visible
from gpucost.dashboard import charts, desk, frames, parts
from gpucost.dashboard.fragments import status_line
from gpucost.dashboard.layout import section
from gpucost.dashboard.markup import inert
from gpucost.dashboard.statuses import status_colours
from gpucost.dashboard.wording import exact_number, say
from gpucost.folder import EXPECTED_IDS, REFERENCE
from gpucost.metrics import Quality
from gpucost.review import Review
from gpucost.verdicts import Status

LIMIT_MEBIBYTES = 200
SHOWN_CLASSES = 60


def choose_kind(current: desk.Desk) -> str:
    """Audit the folders on the desk, which needs no asking, or outputs of one's own."""
    _ = say().gettext
    has_folder = any(paper.source.folder is not None for paper in current.papers)
    words = {"folder": _("The run folders on the desk"), "upload": _("Outputs of my own")}
    kinds = ["folder", "upload"] if has_folder else ["upload"]
    if len(kinds) == 1:
        return "upload"
    parts.chosen_by_link("kind", "audit_kind", kinds, kinds[0])
    chosen = st.segmented_control(
        _("What to audit"), kinds, required=True, format_func=lambda kind: words.get(kind, kind),
        label_visibility="collapsed", key="audit_kind",
    )  # fmt: skip
    kind = chosen if chosen in kinds else "folder"
    st.query_params["kind"] = kind
    return kind


def folder_audit(current: desk.Desk, review: Review) -> None:
    """Every pass whose outputs stand beside its row, audited without asking."""
    to = say()
    _ = to.gettext
    rows = sorted(review.evidence)
    if not rows:
        st.info(_("No folder on the desk holds both `expected-ids.txt` and outputs of its passes."))
        return
    header = (
        _("status"), _("experiment"), _("variant"), _("phase"), _("run"), _("output rows / expected"), _("missing"),
        _("repeated"), _("extra"), _("invalid rows"), _("quality, recomputed"), _("evidence"),
    )  # fmt: skip
    table = [_folder_row(review, row) for row in rows[:2_000]]
    st.text(
        to.ngettext(
            "{count} pass audited from its individual outputs",
            "{count} passes audited from their individual outputs",
            len(rows),
        ).format(count=len(rows))
    )
    selection = st.dataframe(
        pd.DataFrame(table, columns=header), hide_index=True, on_select="rerun", selection_mode="single-row",
        selection_default={"selection": {"rows": [0]}}, key="audited", height=300, alt=_("Audited passes"),
    )  # fmt: skip
    parts.more(len(rows) - len(table))
    parts.table_download(header, table, "gpucost-audits.csv", "audits-csv")
    picked = selection.selection.rows
    row = rows[picked[0]] if picked and picked[0] < len(rows) else rows[0]
    evidence = review.evidence[row]
    section(_("The chosen pass"))
    st.caption(inert(f"{parts.place_of(review, row)} · {evidence.outputs}", 240))
    show_report(evidence.report, f"{evidence.outputs.rpartition('/')[2].removesuffix('.jsonl')}.json")
    _pieces_used(current, review, row)


def _folder_row(review: Review, row: int) -> tuple[parts.Shown, ...]:
    to = say()
    table, report = review.table, review.evidence[row].report
    return (
        frames.badge(Status(review.statuses[row]), to),
        visible(table.text(row, "experiment_id"), 60),
        visible(table.text(row, "variant_id"), 60),
        visible(table.text(row, "phase"), 30),
        visible(table.text(row, "run_index"), 20),
        f"{report.observed} / {report.expected}",
        report.missing.count,
        report.duplicate.count,
        report.extra.count,
        report.invalid_count,
        exact_number(str(report.quality_value)) if report.quality_value is not None else "–",
        to.gettext("outputs") if review.evidence_of(row) == "outputs" else to.gettext("row"),
    )


def _pieces_used(current: desk.Desk, review: Review, row: int) -> None:
    _ = say().gettext
    folder = current.papers[int(review.table.files[row])].source.folder
    if folder is not None:
        present = [name for name in (EXPECTED_IDS, REFERENCE) if name in folder.pieces]
        st.caption(_("Held against: {pieces}").format(pieces=inert(", ".join(present), 120)))


def upload_audit() -> None:
    """Three drop zones and a rule; nothing is kept beyond this session."""
    to = say()
    _ = to.gettext
    first, second, third = st.columns(3)
    with first:
        expected = _drop(_("Expected IDs"), _("One ID a line, or CSV / JSON Lines with an `id`"), "audit_expected")
    with second:
        outputs = _drop(_("Outputs"), _("JSON Lines or CSV with `id` and `label`"), "audit_outputs")
    with third:
        reference = _drop(_("Reference (optional)"), _("The right label of every ID"), "audit_reference")
    with st.expander(_("Quality rule, classes and other split"), expanded=reference is not None):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            metric = st.selectbox(_("Metric"), COMPUTABLE, key="audit_metric", persist_state="session", width=190)
            threshold = st.text_input(_("Threshold, such as 0.9"), key="audit_threshold", width=190)
            tolerance = st.text_input(_("Largest drop allowed"), key="audit_tolerance", width=190)
            value = st.text_input(_("Reference value"), key="audit_reference_value", width=190)
        classes = st.text_input(
            _("Classes, separated by commas (default: those of the reference)"), key="audit_classes"
        )
        split = _drop(_("Training or tuning split"), _("Must share no ID and no text with the corpus"), "audit_split")
    if expected is None or outputs is None:
        st.info(_("Drop the expected IDs and the outputs to see the verdict. A reference adds the quality."))
        return
    numbers = [_decimal(text) for text in (threshold, tolerance, value)]
    if any(number is False for number in numbers):
        st.warning(_("The threshold, the drop and the reference value are numbers such as 0.9."), icon=None)
        return
    with_rule = reference is not None and isinstance(numbers[0], Decimal)
    try:
        report = audit(
            expected,
            outputs,
            reference=reference,
            classes=tuple(name for name in classes.split(",") if name) or None,
            metric=metric if reference is not None and metric in COMPUTABLE else None,
            threshold=numbers[0] if with_rule and isinstance(numbers[0], Decimal) else None,
            tolerance=numbers[1] if with_rule and isinstance(numbers[1], Decimal) else None,
            reference_value=numbers[2] if with_rule and isinstance(numbers[2], Decimal) else None,
            not_in=split,
        )
    except AuditUsageError as error:
        st.warning(inert(error.phrase.render(to), 400), icon=None)
        return
    show_report(report, "control.json")


def _drop(label: str, help_text: str, key: str) -> Document | None:
    uploaded = st.file_uploader(label, key=key, max_upload_size=LIMIT_MEBIBYTES)
    st.caption(help_text)
    return Document(uploaded.name, uploaded.getvalue()) if uploaded is not None else None


def _decimal(text: str) -> Decimal | bool | None:
    """The number typed; None where nothing was, False where it is no number."""
    if not text.strip():
        return None
    try:
        value = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        return False
    return value if value.is_finite() else False


def show_report(report: AuditReport, file_name: str) -> None:
    """The verdict in one sentence, why, the IDs by name, the labels, the figures, and the control to archive."""
    to = say()
    _ = to.gettext
    colours = status_colours(dark=st.context.theme.type == "dark")
    reasons = [phrase.render(to) for phrase in report.reasons()]
    status, word = {
        True: (Status.ACCEPTED, _("accepted")),
        False: (Status.REJECTED, _("not accepted")),
        None: (Status.INVALID, _("no verdict")),
    }[report.accepted]
    if report.accepted is None and not reasons:
        reasons = [_("IDs and format hold; a verdict needs a reference and a rule (metric and threshold)")]
    sentence = "; ".join(reasons) or _(
        "every one of the {count} expected IDs stands once, the format is valid, the quality rule is met"
    ).format(count=report.expected)
    st.html(status_line(frames.MARKS[status], word, colours[status], sentence))
    for warning in report.warnings:
        st.text(_("warning: {text}").format(text=warning.render(to)))
    _ids(report)
    if report.quality is not None:
        _quality(report, report.quality)
    st.download_button(
        _("Download the control (JSON)"), control_json(report), file_name=file_name, mime="application/json",
        key=f"control-{file_name}", on_click="ignore",
    )  # fmt: skip


def _ids(report: AuditReport) -> None:
    to = say()
    _ = to.gettext
    for title, names in (
        (_("Missing IDs"), report.missing),
        (_("Repeated IDs"), report.duplicate),
        (_("IDs that were not expected"), report.extra),
    ):
        if names.count:
            st.markdown(f"**{title}** · {names.count}")
            st.code("\n".join(visible(name, 200) for name in names.ids), language=None, height=150)
            parts.more(names.count - len(names.ids))
    if report.invalid_count:
        title = _("Rows that are not valid")
        st.markdown(f"**{title}** · {report.invalid_count}")
        rows = [(bad.row, bad.line, bad.value, bad.reason.render(to)) for bad in report.invalid_rows]
        st.dataframe(
            pd.DataFrame(rows, columns=[_("row"), _("line"), _("value"), _("why")]), hide_index=True,
            alt=_("Rows that are not valid"),
        )  # fmt: skip
        parts.more(report.invalid_count - len(rows))


def _quality(report: AuditReport, quality: Quality) -> None:
    to = say()
    _ = to.gettext
    metric = report.rule.metric.name if report.rule is not None else ""
    value = exact_number(str(quality.value)) if quality.value is not None else "–"
    section(f"{metric} {value}")
    st.caption(
        _("{count} classes averaged: those that occur in the reference or the outputs.").format(
            count=len(quality.classes_averaged)
        )
    )
    left, right = st.columns(2)
    header = (_("class"), _("precision"), _("recall"), _("F1"), _("reference"), _("outputs"))
    rows = [(visible(c.name, 60), c.precision, c.recall, c.f1, c.support, c.predicted) for c in quality.per_class]
    with left:
        number = st.column_config.NumberColumn(format="%.4f")
        st.dataframe(
            pd.DataFrame(rows, columns=header), hide_index=True, height=420, alt=_("Figures of every class"),
            column_config=dict.fromkeys(header[1:4], number),
        )  # fmt: skip
        parts.table_download(header, rows, "gpucost-classes.csv", "classes-csv")
    with right:
        if len(quality.labels) <= SHOWN_CLASSES:
            _confusion(quality)
        else:
            st.caption(_("The confusion matrix of {count} labels is in the control.").format(count=len(quality.labels)))


def _confusion(quality: Quality) -> None:
    _ = say().gettext
    names = [visible(label, 40) or "∅" for label in quality.labels]
    most = max((max(line) for line in quality.confusion), default=1)
    frame = pd.DataFrame(
        [
            {"reference": names[i], "output": names[j], "count": count, "half": most / 2}
            for i, line in enumerate(quality.confusion)
            for j, count in enumerate(line)
        ]
    )
    chart = charts.confusion(frame, names, (_("reference label"), _("label given"), _("texts")), parts.ink())
    parts.draw(chart, _("Confusion matrix: reference labels by row, given labels by column"))
