"""Parts of the Packages page: the prices, the choice, each whole package with its evidence, what can be downloaded."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from gpucost.cells import visible
from gpucost.columns import PACKAGE_DAYS
from gpucost.dashboard import desk, parts
from gpucost.dashboard.layout import section
from gpucost.dashboard.markup import inert
from gpucost.dashboard.wording import exact_number, money, say
from gpucost.offers import (
    PRICES_ALONE,
    SAME_QUANTITY,
    TARIFF_NAMES,
    Offer,
    Package,
    Tariffs,
    price_ratio,
    tariffs_from_rows,
    write_tariffs,
)
from gpucost.quantities import (
    MeasuredPackage,
    PackageLine,
    UsefulWork,
    measured_packages,
    package_lines,
    useful_works,
)
from gpucost.review import Review
from gpucost.sentences import NOTHING_PROJECTED

MOST_LOTS = 10_000
MOST_RESULTS = 10_000_000


@dataclass(frozen=True)
class Chosen:
    """What the reader chose, and the lines it gives."""

    lines: tuple[PackageLine, ...]
    measured: tuple[MeasuredPackage, ...]
    typed: int | None
    typed_days: int | None


def tariff_line(tariffs: Tariffs) -> None:
    """Where the prices come from; an example is always called one."""
    to = say()
    _ = to.gettext
    source = inert(f"{tariffs.name} · SHA-256 {tariffs.sha256[: desk.SHORT_DIGITS]}…", 160)
    if tariffs.is_example:
        warned = _("**Example prices, and nobody’s offer.** Bring your own tariff below before you decide. {source}")
        st.warning(warned.format(source=source), icon=None)
    else:
        st.caption(_("Prices: {source}").format(source=source))


def nothing_projected() -> None:
    """The standing word of this page."""
    st.caption(say().gettext(NOTHING_PROJECTED))


def offer_name(offer: Offer) -> str:
    """An offer in words: provider, model, GPUs in a lot."""
    return say().ngettext("{provider} · {model} · lot of {count} GPU", "{provider} · {model} · lot of {count} GPUs",
                          offer.gpus_per_lot).format(
        provider=visible(offer.provider, 40), model=visible(offer.gpu_model, 40), count=offer.gpus_per_lot
    )  # fmt: skip


def choose(review: Review, tariffs: Tariffs) -> Chosen:
    """Offers, durations, lots, the useful work and perhaps a typed quantity."""
    to = say()
    _ = to.gettext
    offers = list(dict.fromkeys(row.offer for row in tariffs.offers))
    measured = measured_packages(review, tariffs)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = st.multiselect(
            _("Offers"), range(len(offers)), format_func=lambda index: offer_name(offers[index]),
            placeholder=_("all offers"), key="offers", persist_state="session", width=420,
        )  # fmt: skip
        days = st.pills(
            _("Package length, days"), PACKAGE_DAYS, selection_mode="multi", key="days", bind="query-params"
        )
        lots = st.number_input(
            _("Lots"), min_value=1, max_value=MOST_LOTS, value=1, step=1, key="lots", bind="query-params", width=130
        )
    works = useful_works(measured)
    work: UsefulWork | None = works[0] if works else None
    if len(works) > 1:
        position = st.selectbox(
            _("Useful work (quantities of different work are never set side by side)"),
            range(len(works)),
            format_func=lambda index: _work_name(works[index]),
            key="work",
            persist_state="session",
        )
        work = works[position if isinstance(position, int) and 0 <= position < len(works) else 0]
    typed, typed_days = _typed_quantity()
    chosen = {offers[index] for index in wanted if isinstance(index, int) and 0 <= index < len(offers)} or set(offers)
    lengths = [n for n in PACKAGE_DAYS if n in (days or PACKAGE_DAYS)]
    prices = [row for row in tariffs.offers if row.offer in chosen and row.duration_days in lengths]
    lines = tuple(
        line
        for price in prices
        for line in package_lines(
            [price], int(lots), measured, work, typed if typed_days in (None, price.duration_days) else None
        )
    )
    return Chosen(lines, measured, typed, typed_days)


def _work_name(work: UsefulWork) -> str:
    named = work.named()
    return (
        f"{visible(named['corpus_revision'], 24)} · {named['expected_ids']} IDs · "
        f"{visible(named['quality_metric'], 24)} ≥ {named['quality_threshold']}"
    )


def _typed_quantity() -> tuple[int | None, int | None]:
    """A quantity that a person types, with the length of the period over which it was accepted."""
    _ = say().gettext
    with st.expander(_("Type a quantity that was accepted")):
        st.caption(
            _("Distinct corpora accepted over one period. A typed quantity takes the place of the measured ones and is"
              " shown as typed. Nothing is added over variants or experiments.")
        )  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="bottom"):
            typed = st.number_input(
                _("Accepted corpora (typed)"), min_value=0, max_value=MOST_RESULTS, value=None, step=1, key="typed",
                persist_state="session", width=220,
            )  # fmt: skip
            period = st.selectbox(
                _("Accepted over, days"), PACKAGE_DAYS, index=None, placeholder=_("not said"), key="typed_days",
                persist_state="session", width=200,
            )  # fmt: skip
    return (int(typed) if typed is not None else None), (period if period in PACKAGE_DAYS else None)


def package_table(chosen: Chosen) -> None:
    """Each whole package: its price first, then the evidence behind it."""
    to = say()
    _ = to.gettext
    header = _header()
    rows = [_row(line) for line in chosen.lines]
    frame = pd.DataFrame(rows, columns=header)
    st.dataframe(
        frame,
        hide_index=True,
        alt=_("Whole packages with their price and the evidence behind each"),
        column_config={header[3]: st.column_config.TextColumn(pinned=False)},
        height="content",
    )
    if chosen.typed is not None and chosen.typed_days is None:
        st.caption(_(SAME_QUANTITY))
    parts.table_download(header, rows, "gpucost-packages.csv", "packages-csv")


def _header() -> tuple[str, ...]:
    _ = say().gettext
    return (
        _("offer"), _("days"), _("lots"), _("whole package"), _("GPUs billed"), _("GPUs used"), _("evidence"),
        _("accepted corpora"), _("cost per accepted corpus"),
    )  # fmt: skip


def _row(line: PackageLine) -> tuple[parts.Shown, ...]:
    to = say()
    package = line.package
    used = sorted({count for one in line.measured for count in one.gpus_used})
    quantity = "–"
    if package.accepted_results is not None:
        quantity = to.gettext("{count} (typed)").format(count=package.accepted_results)
    elif line.quantity is not None:
        quantity = str(line.quantity.quantity)
    return (
        offer_name(package.price.offer),
        package.price.duration_days,
        package.lots,
        money(package.total_usd_minor),
        package.gpus,
        ", ".join(map(str, used)) or "–",
        _evidence(line.measured),
        quantity,
        _unit_cost(line),
    )


def _unit_cost(line: PackageLine) -> str:
    """The cost per accepted corpus; where there is none, a dash and the reason, never 0."""
    to = say()
    if line.unit_cost is not None:
        return to.gettext("{cents} US cents").format(cents=exact_number(line.unit_cost))
    return f"– {line.reason.render(to)}" if line.reason is not None else "–"


def _evidence(measured: Sequence[MeasuredPackage]) -> str:
    to = say()
    if not measured:
        return to.gettext("nothing measured on it")
    return "; ".join(
        to.ngettext(
            "{experiment}, {variant}: {accepted} accepted of {count} row ({source})",
            "{experiment}, {variant}: {accepted} accepted of {count} rows ({source})",
            len(one.rows),
        ).format(
            experiment=visible(one.experiment_id, 40),
            variant=visible(one.variant_id, 30),
            accepted=one.accepted_passes,
            count=len(one.rows),
            source=to.gettext("outputs recomputed") if one.from_outputs else to.gettext("rows alone"),
        )
        for one in measured[:4]
    ) + (" …" if len(measured) > 4 else "")


def price_ratio_line(chosen: Chosen) -> None:
    """Two packages side by side: the ratio of their prices, and no more than that."""
    to = say()
    _ = to.gettext
    packages = [line.package for line in chosen.lines]
    if len(packages) < 2:
        return
    section(_("Two packages by their prices"))

    def name(index: int) -> str:
        package = packages[index]
        return _("{offer}, {days} days, {lots} lots, {total}").format(
            offer=offer_name(package.price.offer),
            days=package.price.duration_days,
            lots=package.lots,
            total=money(package.total_usd_minor),
        )

    first, second = st.columns(2)
    one = first.selectbox(_("One package"), range(len(packages)), format_func=name, key=f"one-{len(packages)}")
    other = second.selectbox(
        _("Another package"), range(len(packages)), index=1, format_func=name, key=f"other-{len(packages)}"
    )
    ratio = price_ratio(_at(packages, one), _at(packages, other))
    positions = {id(package): index for index, package in enumerate(packages)}
    st.text(
        _(PRICES_ALONE).format(
            dearer=name(positions[id(ratio.dearer)]),
            cheaper=name(positions[id(ratio.cheaper)]),
            ratio=exact_number(ratio.decimal),
        )
    )


def _at(packages: Sequence[Package], index: object) -> Package:
    return packages[index if isinstance(index, int) and 0 <= index < len(packages) else 0]


def unattached(review: Review, tariffs: Tariffs) -> None:
    """Packages that were measured and belong to no offer, or to several: said, never attached."""
    to = say()
    _ = to.gettext
    left = [one for one in measured_packages(review, tariffs) if one.offer is None]
    if not left:
        if not measured_packages(review, tariffs):
            st.text(_("No pass on the desk states a package (GPU, days, lots and total): no price can be attached."))
        return
    section(_("Measured packages whose offer cannot be identified"))
    header = (
        _("experiment"),
        _("variant"),
        _("GPU"),
        _("days"),
        _("lots"),
        _("total stated"),
        _("accepted corpora"),
        _("why"),
    )
    rows = [
        (
            visible(one.experiment_id, 60), visible(one.variant_id, 60), visible(one.gpu_model, 40), one.duration_days,
            one.lots, money(one.total_usd_minor), "–" if one.quantity is None else one.quantity,
            _no_offer(one),
        )
        for one in left[:200]
    ]  # fmt: skip
    st.dataframe(pd.DataFrame(rows, columns=header).astype({header[6]: str}), hide_index=True)
    parts.more(len(left) - 200)
    parts.table_download(header, rows, "gpucost-unattached.csv", "unattached-csv")


def _no_offer(one: MeasuredPackage) -> str:
    _ = say().gettext
    if not one.offers:
        return _("no offer of the tariff has this price")
    return _("several offers have this price: {offers}").format(offers="; ".join(map(offer_name, one.offers)))


def computation_download(chosen: Chosen, tariffs: Tariffs, review: Review) -> None:
    """The computation with its inputs, so that anyone can do it again."""
    to = say()
    computation = {
        "tariff": {"name": tariffs.name, "sha256": tariffs.sha256, "example": tariffs.is_example},
        "files": [{"name": file.name, "sha256": file.sha256, "rows": file.rows} for file in review.files],
        "typed_accepted_results": chosen.typed,
        "typed_period_days": chosen.typed_days,
        "projected": None,
        "packages": [
            {
                **line.package.to_json(),
                "measured": [
                    {
                        "experiment_id": one.experiment_id,
                        "variant_id": one.variant_id,
                        "accepted_unique_corpora": one.quantity,
                        "accepted_passes": one.accepted_passes,
                        "rows": len(one.rows),
                        "useful_work": one.work.named(),
                        "findings": [finding.rule.code for finding in one.findings],
                        "evidence": "outputs" if one.from_outputs else "row",
                    }
                    for one in line.measured
                ],
                "usd_minor_per_accepted_corpus": line.unit_cost,
                "reason": line.reason.render(to) if line.reason is not None else None,
            }
            for line in chosen.lines
        ],
    }
    st.download_button(
        to.gettext("Download the computation with its inputs (JSON)"),
        json.dumps(computation, ensure_ascii=False, indent=2),
        file_name="gpucost-packages.json",
        mime="application/json",
        on_click="ignore",
    )


def tariff_findings(tariffs: Tariffs) -> None:
    """What is wrong with the prices, with the line and the remedy."""
    to = say()
    if tariffs.findings:
        section(to.gettext("Findings on the tariff"))
        parts.finding_list(((finding, parts.own_place(finding)) for finding in tariffs.findings), 40)


def tariff_editor(tariffs: Tariffs) -> None:
    """Prices of one's own: an uploaded tariff, or rows typed into a table that is checked at once."""
    to = say()
    _ = to.gettext
    section(_("Your own prices"))
    uploaded = st.file_uploader(
        _("Tariff CSV ({columns})").format(columns=", ".join(TARIFF_NAMES)),
        type=None,
        key="tariff_upload",
        max_upload_size=5,
    )
    if uploaded is not None:
        data = uploaded.getvalue()
        if st.button(_("Use the uploaded tariff"), type="primary"):
            desk.keep_tariff(uploaded.name, data)
            st.rerun()
    if desk.has_own_tariff() and st.button(_("Go back to the configured prices")):
        desk.drop_tariff()
        st.rerun()
    with st.expander(_("Type the prices")):
        st.caption(_("Whole US cents for a whole lot and a whole package. A lot's price covers all its GPUs."))
        rows = [
            {
                "provider": row.offer.provider,
                "gpu_model": row.offer.gpu_model,
                "gpus_per_lot": str(row.offer.gpus_per_lot),
                "duration_days": str(row.duration_days),
                "price_usd_minor_per_lot": str(row.price_usd_minor_per_lot),
                "valid_from": row.valid_from.isoformat(),
                "source": row.source,
            }
            for row in tariffs.offers
        ]
        edited = st.data_editor(
            pd.DataFrame(rows, columns=list(TARIFF_NAMES), dtype=str),
            num_rows="dynamic",
            hide_index=True,
            key=f"tariff_editor_{tariffs.sha256[:12]}",
            alt=_("Prices to type"),
        )
        typed = [
            {str(name): "" if pd.isna(value) else str(value) for name, value in record.items()}
            for record in edited.to_dict("records")
        ]
        checked = tariffs_from_rows(typed, _("typed-tariff.csv"))
        tariff_findings(checked)
        with st.container(horizontal=True):
            if st.button(_("Use these prices"), disabled=not checked.offers):
                desk.keep_tariff(checked.name, write_tariffs(typed))
                st.rerun()
            st.download_button(
                _("Download these prices (CSV)"),
                write_tariffs(typed),
                file_name="tariffs.csv",
                mime="text/csv",
                on_click="ignore",
            )
