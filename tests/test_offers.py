"""Offers and packages: strict prices, exact cents, and nothing projected."""

import random
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucost.findings import Finding
from gpucost.language import LANGUAGES, Language, translator
from gpucost.offers import (
    EXAMPLE_SOURCE,
    PRICES_ALONE,
    SAME_QUANTITY,
    TARIFF_NAMES,
    Offer,
    OfferRow,
    Package,
    PackageTable,
    Tariffs,
    example_tariffs,
    matching_offers,
    packages,
    price_ratio,
    read_tariffs,
    tariffs_from_rows,
    write_tariffs,
)
from gpucost.rules.tariffs import TARIFF_RULES

HEADER = ",".join(TARIFF_NAMES)
ROW = {
    "provider": "demo-cloud",
    "gpu_model": "B200",
    "gpus_per_lot": "2",
    "duration_days": "3",
    "price_usd_minor_per_lot": "129600",
    "valid_from": "2031-01-01",
    "source": "synthetic test price",
}
LINE = ",".join(ROW.values())


def priced(**cells: str) -> dict[str, str]:
    return {**ROW, **cells}


DEMO = (
    priced(),
    priced(duration_days="7", price_usd_minor_per_lot="259200"),
    priced(duration_days="30", price_usd_minor_per_lot="864000"),
    priced(gpu_model="H200", gpus_per_lot="1", price_usd_minor_per_lot="50001"),
)


def tariff(*rows: dict[str, str]) -> Tariffs:
    return read_tariffs("t.csv", write_tariffs(rows))


def lines(*texts: str, end: str = "\n") -> Tariffs:
    return read_tariffs("t.csv", "".join(text + end for text in texts).encode())


def said(findings: tuple[Finding, ...]) -> list[tuple[str, int | None, int | None, str | None, str | None]]:
    """Everything a finding says, as far as it does not depend on the language."""
    return [(f.rule.code, f.row, f.line, f.column, f.value) for f in findings]


def prices(tariffs: Tariffs) -> list[tuple[str, int, int]]:
    return [(row.offer.gpu_model, row.duration_days, row.price_usd_minor_per_lot) for row in tariffs.offers]


def english(finding: Finding) -> str:
    to = translator("en")
    return f"{finding.message(to)} {finding.remedy(to)}"


# Reading


def test_a_good_tariff_gives_every_price_and_no_finding() -> None:
    read = tariff(*DEMO)
    assert said(read.findings) == []
    assert read.offers[0] == OfferRow(
        Offer("demo-cloud", "B200", 2), 3, 129600, date(2031, 1, 1), "synthetic test price", row=1, line=2
    )
    assert prices(read) == [("B200", 3, 129600), ("B200", 7, 259200), ("B200", 30, 864000), ("H200", 3, 50001)]
    assert read.gpu_models == ("B200", "H200")


def test_the_sha256_is_that_of_the_bytes_received() -> None:
    assert read_tariffs("t.csv", b"").sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


FILES: dict[str, tuple[bytes, bytes]] = {
    "tariff-file-empty": (b"", HEADER.encode()),
    "tariff-file-not-csv": (b"PK\x03\x04" + bytes(40), f"{HEADER}\n{LINE}\n".encode()),
    "tariff-file-encoding": (f"{HEADER}\n{LINE} é\n".encode("cp1252"), f"{HEADER}\n{LINE} é\n".encode()),
    "tariff-file-delimiter": (f"{HEADER}\n{LINE}\n".replace(",", ";").encode(), f"{HEADER}\n{LINE};\n".encode()),
    "tariff-header": (f"{HEADER},notes\n{LINE},\n".encode(), f"{HEADER}\n{LINE}\n".encode()),
    "tariff-file-unclosed-quote": (f'{HEADER}\n{LINE}\n"{LINE}\n'.encode(), f'{HEADER}\n{LINE} "new"\n'.encode()),
    "tariff-no-rows": (f"{HEADER}\n".encode(), f"{HEADER}\n{LINE}\n".encode()),
    "tariff-file-bom": (f"{HEADER}\n{LINE}\n".encode("utf-8-sig"), f"{HEADER}\n{LINE}\n".encode()),
    "tariff-file-lone-cr": (f"{HEADER}\r{LINE}\r".encode(), f"{HEADER}\r\n{LINE}\r\n".encode()),
    "tariff-file-blank-lines": (f"{HEADER}\n\n{LINE}\n".encode(), f"{HEADER}\n{LINE}".encode()),
    "tariff-row-cell-count": (
        f"{HEADER}\ndemo,B200,2,3,1,2031-01-01,list, May\n".encode(),
        f'{HEADER}\ndemo,B200,2,3,1,2031-01-01,"list, May"\n'.encode(),
    ),
    "tariff-row-header-again": (f"{HEADER}\n{LINE}\n{HEADER}\n".encode(), f"{HEADER}\n{LINE}\n".encode()),
    "tariff-row-quotes": (
        f'{HEADER}\n"demo" cloud,B200,2,3,1,2031-01-01,x\n'.encode(),
        f'{HEADER}\n"demo ""cloud""",B200,2,3,1,2031-01-01,x\n'.encode(),
    ),
    "tariff-row-swallowed": (
        f'{HEADER}\ndemo-cloud,B200,2,3,1,2031-01-01,"x\n{LINE}"\n'.encode(),
        f'{HEADER}\ndemo-cloud,B200,2,3,1,2031-01-01,"a, b\nc, d"\n'.encode(),
    ),
}  # fmt: skip
ROWS: dict[str, tuple[list[dict[str, str]], list[dict[str, str]]]] = {
    "tariff-offer-repeated": ([priced(), priced()], [priced(), priced(gpus_per_lot="4")]),
    "tariff-cell-nul": ([priced(source="a\0b")], [priced(source="a b")]),
    "tariff-cell-empty": ([priced(source="")], [priced(source="NA")]),
    "tariff-price": ([priced(price_usd_minor_per_lot="1296.00")], [priced(price_usd_minor_per_lot="1296")]),
    "tariff-gpus-per-lot": ([priced(gpus_per_lot="0")], [priced(gpus_per_lot="1")]),
    "tariff-duration": ([priced(duration_days="31")], [priced(duration_days="30")]),
    "tariff-date": ([priced(valid_from="2031-02-29")], [priced(valid_from="2032-02-29")]),
    "tariff-cell-respelled": ([priced(gpus_per_lot="2.0")], [priced(gpus_per_lot="2")]),
    "tariff-name-invisible": ([priced(gpu_model="B200 ")], [priced(gpu_model="B 200")]),
    "tariff-name-look-alike": ([priced(), priced(gpu_model="b200")], [priced(), priced(gpu_model="B200 NVL")]),
}
ASKED: dict[str, tuple[PackageTable, PackageTable]] = {
    "tariff-gpu-unknown": (packages(tariff(*DEMO), gpu="H300"), packages(tariff(*DEMO), gpu="H200")),
    "tariff-days-unknown": (packages(tariff(*DEMO), gpu="H200", days=7), packages(tariff(*DEMO), gpu="H200", days=3)),
    "tariff-nothing-accepted": (
        packages(tariff(*DEMO), accepted_results=0), packages(tariff(*DEMO), accepted_results=1),
    ),
}  # fmt: skip
CASES: dict[str, tuple[tuple[Finding, ...], tuple[Finding, ...]]] = {
    **{
        code: (read_tariffs("t.csv", bad).findings, read_tariffs("t.csv", ok).findings)
        for code, (bad, ok) in FILES.items()
    },
    **{code: (tariff(*bad).findings, tariff(*ok).findings) for code, (bad, ok) in ROWS.items()},
    **{code: (bad.findings, ok.findings) for code, (bad, ok) in ASKED.items()},
}  # fmt: skip


@pytest.mark.parametrize("code", CASES)
def test_a_rule_speaks_alone_and_is_silent_beside(code: str) -> None:
    failing, passing = CASES[code]
    assert [finding.rule.code for finding in failing] == [code]
    assert code not in [finding.rule.code for finding in passing]


def test_every_tariff_rule_has_a_pair() -> None:
    assert set(CASES) == {rule.code for rule in TARIFF_RULES}
    assert all(rule.code.startswith("tariff-") for rule in TARIFF_RULES)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", CASES)
def test_every_message_can_be_filled_and_names_the_file(code: str, language: Language) -> None:
    (finding,) = CASES[code][0]
    to = translator(language)
    assert finding.message(to).startswith("t.csv")
    assert "{" not in finding.message(to) + finding.remedy(to)
    assert finding.remedy(to)


@pytest.mark.parametrize(
    "price",
    ["1296.00", "1296.0", "$1296", "1296 $", "129600 EUR", "1 296", "1\u202f296", "1,296", "1296,00", "1_296", "1.3e5",
     "-129600", "0", "00", "\uff11\uff12", "abc", "inf", "+5", " 129600", "129600 "],
)  # fmt: skip
def test_a_price_that_is_not_whole_cents_is_never_used(price: str) -> None:
    read = tariff(priced(price_usd_minor_per_lot=price))
    assert said(read.findings) == [("tariff-price", 1, 2, "price_usd_minor_per_lot", price)]
    assert read.offers == ()
    assert packages(read).packages == ()


def test_dollars_are_shown_with_the_remedy() -> None:
    read = lines(HEADER, "demo-cloud,B200,2,3,1296.00,2031-01-01,synthetic", "demo-cloud,B200,2,7,259200,2031-01-01,x")
    assert said(read.findings) == [("tariff-price", 1, 2, "price_usd_minor_per_lot", "1296.00")]
    assert "1296.00" in english(read.findings[0])
    assert "129600" in english(read.findings[0])
    assert prices(read) == [("B200", 7, 259200)]
    assert packages(read).exit_status == 1


@pytest.mark.parametrize(
    ("column", "value", "code"),
    [
        ("gpus_per_lot", "2.5", "tariff-gpus-per-lot"),
        ("gpus_per_lot", "-2", "tariff-gpus-per-lot"),
        ("gpus_per_lot", "two", "tariff-gpus-per-lot"),
        ("duration_days", "7.5", "tariff-duration"),
        ("duration_days", "30d", "tariff-duration"),
        ("duration_days", "0", "tariff-duration"),
        ("valid_from", "20310101", "tariff-date"),
        ("valid_from", "2031-W01-1", "tariff-date"),
        ("valid_from", "01/01/2031", "tariff-date"),
        ("valid_from", "2031-13-01", "tariff-date"),
        ("valid_from", "2031-01-01T00:00", "tariff-date"),
        ("valid_from", "0000-01-01", "tariff-date"),
        ("source", " ", "tariff-cell-empty"),
        ("provider", "\u200b", "tariff-cell-empty"),
        ("price_usd_minor_per_lot", "\u00a0", "tariff-cell-empty"),
    ],
)
def test_a_faulty_cell_leaves_its_row_without_a_price(column: str, value: str, code: str) -> None:
    read = tariff(priced(gpu_model="H200"), priced(**{column: value}))
    assert said(read.findings) == [(code, 2, 3, column, value)]
    assert prices(read) == [("H200", 3, 129600)]


@pytest.mark.parametrize("column", TARIFF_NAMES)
def test_an_empty_cell_is_never_zero(column: str) -> None:
    read = tariff(priced(**{column: ""}))
    assert said(read.findings) == [("tariff-cell-empty", 1, 2, column, None)]
    assert read.offers == ()


def test_every_fault_of_a_row_is_said() -> None:
    read = tariff(priced(gpus_per_lot="0", price_usd_minor_per_lot="free", source=""))
    assert said(read.findings) == [
        ("tariff-gpus-per-lot", 1, 2, "gpus_per_lot", "0"),
        ("tariff-price", 1, 2, "price_usd_minor_per_lot", "free"),
        ("tariff-cell-empty", 1, 2, "source", None),
    ]


def test_a_repeated_offer_has_no_price_at_all() -> None:
    read = tariff(*DEMO[:3], priced(price_usd_minor_per_lot="139600"), priced(price_usd_minor_per_lot="129600"))
    assert said(read.findings) == [
        ("tariff-offer-repeated", 4, 5, "gpu_model", "B200"),
        ("tariff-offer-repeated", 5, 6, "gpu_model", "B200"),
    ]
    for finding in read.findings:
        assert "demo-cloud, B200, 2 GPUs per lot, 3 days" in english(finding)
        assert "first in row 1 (line 2)" in english(finding)
    assert prices(read) == [("B200", 7, 259200), ("B200", 30, 864000)]


def test_a_repetition_counts_even_where_one_of_the_two_is_faulty_or_spelled_otherwise() -> None:
    read = tariff(priced(), priced(gpus_per_lot="2.0", price_usd_minor_per_lot="12.00"))
    assert [code for code, *_ in said(read.findings)] == [
        "tariff-cell-respelled", "tariff-price", "tariff-offer-repeated",
    ]  # fmt: skip
    assert read.offers == ()


def test_wrong_cell_counts_leave_the_good_rows_alone() -> None:
    read = lines(HEADER, f"{LINE},new", LINE, "demo-cloud,B200,2,7,2592", '"a"b,c')
    assert said(read.findings) == [
        ("tariff-row-cell-count", 1, 2, None, f"{LINE},new"),
        ("tariff-row-cell-count", 3, 4, None, "demo-cloud,B200,2,7,2592"),
        ("tariff-row-quotes", 4, 5, None, '"a"b,c'),
    ]
    assert "8 cells" in english(read.findings[0])
    assert prices(read) == [("B200", 3, 129600)]


def test_a_row_keeps_its_physical_line() -> None:
    read = lines(HEADER, LINE.replace("synthetic test price", '"a\nb"'), "", LINE.replace(",3,", ",7,"))
    assert [(row.row, row.line) for row in read.offers] == [(1, 2), (2, 5)]


def test_nothing_after_an_open_quotation_mark_is_priced() -> None:
    read = lines(HEADER, LINE, f'"{LINE.replace(",3,", ",7,")}', LINE.replace(",3,", ",30,"))
    assert said(read.findings) == [("tariff-file-unclosed-quote", None, 3, None, read.findings[0].value)]
    assert prices(read) == [("B200", 3, 129600)]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_another_separator_is_one_error(delimiter: str) -> None:
    read = lines(HEADER.replace(",", delimiter), LINE.replace(",", delimiter))
    assert [(code, line) for code, _, line, _, _ in said(read.findings)] == [("tariff-file-delimiter", 1)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "cp1252"])
def test_another_encoding_is_one_error(encoding: str) -> None:
    read = read_tariffs("t.csv", f"{HEADER}\n{LINE} dès mai\n".encode(encoding))
    assert [code for code, *_ in said(read.findings)] == ["tariff-file-encoding"]


def test_a_header_in_another_order_is_shown_beside_the_due_one() -> None:
    read = lines(",".join(reversed(TARIFF_NAMES)), ",".join(reversed(ROW.values())))
    assert said(read.findings) == [("tariff-header", None, 1, None, ",".join(reversed(TARIFF_NAMES)))]
    assert HEADER in english(read.findings[0])


def test_an_invisible_character_is_made_visible_and_never_merged() -> None:
    read = tariff(priced(), priced(gpu_model="B200\u200b"), priced(gpu_model=" B200"), priced(gpu_model="В200"))
    assert said(read.findings) == [
        ("tariff-name-invisible", 2, 3, "gpu_model", "B200\u200b"),
        ("tariff-name-invisible", 3, 4, "gpu_model", " B200"),
        ("tariff-name-look-alike", 4, 5, "gpu_model", "В200"),
    ]
    assert "U+200B" in english(read.findings[0])
    assert "␣B200" in english(read.findings[1])
    assert len(packages(read, gpu="B200").packages) == 1


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    for start in (b"", HEADER.encode() + b"\n"):
        read = read_tariffs("t.csv", start + data)
        assert packages(read, accepted_results=1).exit_status in (0, 1)


CELL = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(TARIFF_NAMES, CELL)), max_size=5))
def test_typed_rows_read_like_their_canonical_csv(rows: list[dict[str, str]]) -> None:
    typed = tariffs_from_rows(rows)
    read = read_tariffs("tariffs.csv", write_tariffs(rows))
    assert (typed.offers, said(typed.findings), typed.sha256) == (read.offers, said(read.findings), read.sha256)


def test_typed_rows_survive_writing_and_reading() -> None:
    rows = [priced(source='a, "b"\rc\nd'), priced(gpu_model="H200", source="a\rb"), priced(gpu_model="H300")]
    read = tariffs_from_rows(rows)
    assert [row.source for row in read.offers] == ['a, "b"\rc\nd', "a\rb", "synthetic test price"]


def test_a_name_that_is_missing_from_a_typed_row_is_an_empty_cell() -> None:
    row = priced()
    del row["source"]
    assert said(tariffs_from_rows([row]).findings) == [("tariff-cell-empty", 1, 2, "source", None)]


# Packages


def costs(table: PackageTable) -> list[tuple[int, int, int, str | None]]:
    return [(p.price.duration_days, p.gpus, p.total_usd_minor, p.usd_minor_per_accepted_result) for p in table.packages]


def test_a_lot_of_two_gpus_is_billed_once() -> None:
    table = packages(tariff(*DEMO), gpu="B200", lots=3, accepted_results=4)
    assert costs(table) == [(3, 6, 388800, "97200"), (7, 6, 777600, "194400"), (30, 6, 2592000, "648000")]
    assert (said(table.findings), table.exit_status) == ([], 0)
    assert costs(packages(tariff(*DEMO), gpu="H200", accepted_results=7)) == [(3, 1, 50001, "7143")]


def test_without_a_quantity_there_is_no_unit_cost() -> None:
    assert costs(packages(tariff(*DEMO), gpu="B200", lots=2)) == [
        (3, 4, 259200, None), (7, 4, 518400, None), (30, 4, 1728000, None),
    ]  # fmt: skip


def test_the_json_has_exactly_the_keys_of_the_contract() -> None:
    (package,) = packages(tariff(*DEMO), gpu="H200", lots=2, accepted_results=3).packages
    assert package.to_json() == {
        "provider": "demo-cloud", "gpu_model": "H200", "gpus_per_lot": 1, "duration_days": 3, "lots": 2, "gpus": 2,
        "total_usd_minor": 100002, "accepted_results": 3, "usd_minor_per_accepted_result": "33334",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("price", "accepted", "unit"),
    [
        (100, 3, "33.3333"),
        (200, 3, "66.6667"),
        (1, 8, "0.125"),
        (1, 20000, "0"),  # 0.00005 is half way, and 0 is even
        (3, 20000, "0.0002"),  # 0.00015 is half way, and 2 is even
        (10**30 + 1, 1, "1" + "0" * 29 + "1"),
        (10**30 + 1, 2, "5" + "0" * 29 + ".5"),
    ],
)
def test_unit_costs_are_rounded_half_even_to_four_places(price: int, accepted: int, unit: str) -> None:
    table = packages(tariff(priced(price_usd_minor_per_lot=str(price))), accepted_results=accepted)
    assert [package.usd_minor_per_accepted_result for package in table.packages] == [unit]


def test_nothing_accepted_gives_no_unit_cost_and_says_so() -> None:
    table = packages(tariff(*DEMO), gpu="H200", accepted_results=0)
    assert costs(table) == [(3, 1, 50001, None)]
    assert table.packages[0].to_json()["accepted_results"] == 0
    assert said(table.refusals) == [("tariff-nothing-accepted", None, None, None, "0")]
    assert table.exit_status == 0


def test_an_unknown_model_names_those_on_offer() -> None:
    table = packages(tariff(*DEMO), gpu="H300")
    assert (table.packages, table.exit_status) == ((), 1)
    assert said(table.findings) == [("tariff-gpu-unknown", None, None, "gpu_model", "H300")]
    assert "no row of H300 can be priced; on offer: B200, H200." in english(table.refusals[0])


@pytest.mark.parametrize("gpu", ["b200", "B200 ", "В200"])
def test_a_model_that_is_only_spelled_otherwise_is_never_priced_and_gets_a_hint(gpu: str) -> None:
    table = packages(tariff(*DEMO), gpu=gpu)
    assert table.packages == ()
    assert "where B200 differs only in its spelling" in english(table.refusals[0])


def test_an_unknown_duration_names_those_on_offer() -> None:
    table = packages(tariff(*DEMO), gpu="H200", days=30)
    assert (table.packages, table.exit_status) == ((), 1)
    assert "no package of 30 days can be priced here; on offer: 3 days." in english(table.refusals[0])


def test_a_tariff_without_any_price_says_why() -> None:
    table = packages(lines(HEADER), gpu="B200")
    assert [code for code, *_ in said(table.findings)] == ["tariff-no-rows", "tariff-gpu-unknown"]
    assert "nothing in it can be priced" in english(table.refusals[0])
    assert packages(lines(HEADER)).exit_status == 0


@pytest.mark.parametrize(("lots", "days", "accepted"), [(0, 3, None), (-1, 3, 1), (1, 5, None), (1, 3, -1)])
def test_impossible_questions_are_bad_usage(lots: int, days: int, accepted: int | None) -> None:
    with pytest.raises(ValueError, match=r"lots|days"):
        packages(tariff(*DEMO), lots=lots, days=days, accepted_results=accepted)


PRICES = st.integers(1, 10**15)
LOTS = st.integers(1, 10**6)
OFFERS = st.lists(
    st.tuples(st.sampled_from("ABC"), st.integers(1, 8), st.sampled_from([3, 7, 30]), PRICES),
    min_size=1, max_size=8, unique_by=lambda row: row[:3],
)  # fmt: skip


def typed(offers: list[tuple[str, int, int, int]]) -> list[dict[str, str]]:
    return [
        priced(gpu_model=model, gpus_per_lot=str(gpus), duration_days=str(days), price_usd_minor_per_lot=str(price))
        for model, gpus, days, price in offers
    ]


@given(OFFERS, LOTS, st.integers(1, 10**6), st.randoms(use_true_random=False))
def test_totals_are_exact_and_need_no_order(
    offers: list[tuple[str, int, int, int]], lots: int, accepted: int, chance: random.Random
) -> None:
    table = packages(tariff(*typed(offers)), lots=lots, accepted_results=accepted)
    assert [(p.total_usd_minor, p.gpus) for p in table.packages] == [(o[3] * lots, o[1] * lots) for o in offers]
    for package in table.packages:
        unit = Decimal(package.usd_minor_per_accepted_result or "")
        assert abs(Fraction(unit) * accepted - package.total_usd_minor) <= Fraction(accepted, 20000)
    shuffled = list(offers)
    chance.shuffle(shuffled)
    again = packages(tariff(*typed(shuffled)), lots=lots, accepted_results=accepted)
    as_text = [sorted(str(package.to_json()) for package in one.packages) for one in (table, again)]
    assert as_text[0] == as_text[1]


@given(OFFERS, LOTS)
def test_every_package_matches_the_offer_it_was_made_from(offers: list[tuple[str, int, int, int]], lots: int) -> None:
    read = tariff(*typed(offers))
    for package in packages(read, lots=lots).packages:
        offer, days = package.price.offer, package.price.duration_days
        assert offer in matching_offers(read, offer.gpu_model, days, lots, package.total_usd_minor)
        assert offer not in matching_offers(read, offer.gpu_model, days, lots, package.total_usd_minor + 1)


def test_a_total_for_one_lot_does_not_agree_with_two() -> None:
    read = tariff(*DEMO)
    assert matching_offers(read, "B200", 3, 2, 129600) == ()
    assert matching_offers(read, "B200", 3, 2, 259200) == (Offer("demo-cloud", "B200", 2),)
    assert matching_offers(read, "B200", 7, 1, 129600) == ()
    assert matching_offers(read, "B200", 3, 0, 0) == ()


def test_two_offers_at_one_price_both_match() -> None:
    read = tariff(priced(), priced(provider="other-cloud"), priced(gpus_per_lot="1"))
    assert matching_offers(read, "B200", 3, 1, 129600) == (
        Offer("demo-cloud", "B200", 2), Offer("other-cloud", "B200", 2), Offer("demo-cloud", "B200", 1),
    )  # fmt: skip


def of_price(cents: int, lots: int = 1) -> Package:
    return Package(tariff(priced(price_usd_minor_per_lot=str(cents))).offers[0], lots)


def test_the_dearer_package_needs_its_price_times_as_many_corpora() -> None:
    dear, cheap = of_price(129600, 2), of_price(48000)
    ratio = price_ratio(cheap, dear)
    assert (ratio.dearer, ratio.cheaper, ratio.decimal) == (dear, cheap, "5.4")
    # 5 corpora of the cheap package and 27 of the dear one both cost 9,600 cents.
    assert Fraction(dear.total_usd_minor, 27) == Fraction(cheap.total_usd_minor, 5) == 9600


@given(PRICES, PRICES)
def test_a_price_ratio_is_one_or_more_and_needs_no_order(one: int, other: int) -> None:
    first, second = price_ratio(of_price(one), of_price(other)), price_ratio(of_price(other), of_price(one))
    assert first.exact == second.exact == Fraction(max(one, other), min(one, other)) >= 1


def test_equal_prices_have_the_ratio_one() -> None:
    assert price_ratio(of_price(5), of_price(5)).decimal == "1"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_labels_can_be_filled(language: Language) -> None:
    to = translator(language)
    assert "5.4" in to.gettext(PRICES_ALONE).format(dearer="A", cheaper="B", ratio="5.4")
    assert to.gettext(SAME_QUANTITY)


# The example that ships


def test_the_example_is_complete_and_calls_itself_one() -> None:
    read = example_tariffs()
    assert said(read.findings) == []
    assert read.is_example
    assert {row.source for row in read.offers} == {EXAMPLE_SOURCE}
    for offer in {row.offer for row in read.offers}:
        assert {row.duration_days for row in read.offers if row.offer == offer} == {3, 7, 30}
    assert ("B200", 3, 129600) in prices(read)
    assert not tariff(*DEMO).is_example


def test_every_price_of_the_example_identifies_its_offer() -> None:
    read = example_tariffs()
    for row in read.offers:
        found = matching_offers(read, row.offer.gpu_model, row.duration_days, 1, row.price_usd_minor_per_lot)
        assert found == (row.offer,)
