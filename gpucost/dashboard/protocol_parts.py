"""Parts of the Protocol page: the method in one screen, the columns, the rules, the template."""

import pandas as pd
import streamlit as st

from gpucost.columns import COLUMNS, HEADER
from gpucost.dashboard import parts
from gpucost.dashboard.layout import section
from gpucost.dashboard.wording import say
from gpucost.language import N_
from gpucost.rules.catalogue import RULES
from gpucost.sentences import SEVERITY_WORDS

METHOD: tuple[tuple[str, str], ...] = (
    (
        N_("1. Fix the useful work"),
        N_("Before any measurement: the corpus and its expected IDs, the classes, the output format, the quality metric,"
           " its threshold, the largest drop allowed. A corpus is accepted when every expected ID stands exactly once,"
           " no other does, the format is valid and the quality rule is met."),
    ),
    (
        N_("2. Change only the announced variable"),
        N_("Same corpus, order, model, tokenizer, precision, context and machine for every variant. Truncating texts"
           " changes the work that is done."),
    ),
    (
        N_("3. Measure comparable passes"),
        N_("Loading, first pass and warm passes apart. The announced warm-up, then five measured passes a variant."
           " Every raw duration is kept; a slow or failed pass keeps its row and its reason."),
    ),
    (
        N_("4. Fill the raw CSV"),
        N_("One row a pass: decimal point, seconds, bytes, US cents. An empty cell means not recorded; zero means zero."),
    ),
    (
        N_("5. Compare without inventing production"),
        N_("The price to compare is the whole package of 3, 7 or 30 days times its lots. Repetitions of one corpus are"
           " one useful corpus. No throughput is projected over a rental."),
    ),
)  # fmt: skip
TYPE_WORDS = {
    "identifier": N_("text, identifying"),
    "text": N_("text"),
    "integer": N_("whole number, 0 or more"),
    "decimal": N_("decimal, with a point"),
    "boolean": N_("`true` or `false`"),
}


def method() -> None:
    """The five sections of the protocol, a few lines each."""
    to = say()
    columns = st.columns(len(METHOD))
    for column, (title, text) in zip(columns, METHOD, strict=True):
        with column:
            st.markdown(f"**{to.gettext(title)}**")
            st.markdown(to.gettext(text))


def template_download() -> None:
    """The headers-only CSV."""
    st.download_button(
        say().gettext("Download the template (CSV)"),
        HEADER + "\n",
        file_name="results.csv",
        mime="text/csv",
        type="primary",
        on_click="ignore",
    )


def columns_table() -> None:
    """The 38 columns, in order, from their one description."""
    to = say()
    _ = to.gettext
    section(_("The 38 columns"))
    header = (_("column"), _("title"), _("group"), _("type"), _("unit"), _("section"), _("what it holds"))
    rows = [
        (
            column.name, _(column.title), _(column.group.value), _(TYPE_WORDS[column.cell_type.value]).replace("`", ""),
            _(column.unit.value), column.section, _(column.help),
        )
        for column in COLUMNS
    ]  # fmt: skip
    st.dataframe(
        pd.DataFrame(rows, columns=header),
        hide_index=True,
        height=420,
        row_height=34,
        alt=_("The columns of the raw CSV"),
        column_config={header[0]: st.column_config.TextColumn(pinned=True), header[6]: st.column_config.TextColumn(width=620)},
    )  # fmt: skip
    parts.table_download(header, rows, "gpucost-columns.csv", "columns-csv")


def rules_table() -> None:
    """Every rule of the catalogue."""
    to = say()
    _ = to.gettext
    section(to.ngettext("{count} rule", "{count} rules", len(RULES)).format(count=len(RULES)))
    st.caption(
        _("error: the row or the file cannot be used as it stands. warning: usable, and a reviewer must read it."
          " notice: worth knowing. Only errors make a row invalid.")
    )  # fmt: skip
    header = (_("severity"), _("code"), _("section"), _("rule"), _("message"), _("what to do"))
    rows = [
        (
            _(SEVERITY_WORDS[rule.severity]), rule.code, rule.section, _(rule.title), _(rule.message), _(rule.remedy),
        )
        for rule in RULES
    ]  # fmt: skip
    wanted = st.text_input(_("Search the rules"), key="rule_search", persist_state="session")
    if wanted:
        rows = [row for row in rows if wanted.casefold() in " ".join(row).casefold()]
        st.text(to.ngettext("{count} rule found", "{count} rules found", len(rows)).format(count=len(rows)))
    st.dataframe(
        pd.DataFrame(rows, columns=header), hide_index=True, height=460, row_height=34, alt=_("Every rule"),
        column_config={
            header[3]: st.column_config.TextColumn(width=280),
            header[4]: st.column_config.TextColumn(width=520),
            header[5]: st.column_config.TextColumn(width=520),
        },
    )  # fmt: skip
    parts.table_download(header, rows, "gpucost-rules.csv", "rules-csv")
