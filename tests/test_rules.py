"""Every rule of the catalogue that reads rows: a failing case and its nearest passing one.

A rule without a pair here fails `test_every_rule_has_a_pair`.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence

import pytest

from gpucost.columns import HEADER
from gpucost.findings import Scope
from gpucost.folder import RunFolder
from gpucost.language import LANGUAGES, translator
from gpucost.offers import read_tariffs
from gpucost.report import findings_entries
from gpucost.review import Review, Source, review
from gpucost.rules.catalogue import RULES
from gpucost.rules.conversion import CONVERSION_RULES
from tests.rows import csv_of, failed, five, loading, row

Rows = Sequence[Mapping[str, str]]
TARIFF = (
    b"provider,gpu_model,gpus_per_lot,duration_days,price_usd_minor_per_lot,valid_from,source\n"
    b"demo,B200,2,3,129600,2031-01-01,test price\n"
)


def of_bytes(data: bytes) -> Review:
    return review([Source("results.csv", data)])


def of_rows(rows: Rows) -> Review:
    return of_bytes(csv_of(rows))


GOOD = five()
GOOD_BYTES = csv_of(GOOD)
GOOD_TEXT = GOOD_BYTES.decode()
FIRST_LINE = GOOD_TEXT.splitlines()[1]


def changed(**cells: str) -> list[dict[str, str]]:
    """The five passes, the second of which has some cells changed."""
    return [GOOD[0], {**GOOD[1], **cells}, *GOOD[2:]]


def in_column(name: str, bad: str, good: str) -> tuple[Rows, Rows]:
    return changed(**{name: bad}), changed(**{name: good})


def everywhere(**cells: str) -> list[dict[str, str]]:
    return [{**cells_before, **cells} for cells_before in GOOD]


def two_variants(**cells: str) -> list[dict[str, str]]:
    """Two variants of which the second has batch 16, and some cells changed."""
    return [*five(), *five(**{"variant_id": "b16", "batch": "16", **cells})]


BYTES: dict[str, tuple[bytes, bytes]] = {
    "file-empty": (b"", HEADER.encode()),
    "file-not-csv": (b"PK\x03\x04rest", GOOD_BYTES),
    "file-encoding": (GOOD_TEXT.replace("whole chain", "chaîne").encode("cp1252"), GOOD_TEXT.encode()),
    "file-delimiter": (GOOD_TEXT.replace(",", ";").encode(), GOOD_BYTES),
    "header-names": (GOOD_TEXT.replace("batch,context", "context,batch", 1).encode(), GOOD_BYTES),
    "file-unclosed-quote": ((GOOD_TEXT + FIRST_LINE + ',"open').encode(), (GOOD_TEXT + FIRST_LINE).encode()),
    "file-no-rows": (HEADER.encode() + b"\n", GOOD_BYTES),
    "file-bom": (b"\xef\xbb\xbf" + GOOD_BYTES, GOOD_BYTES),
    "file-lone-cr": (GOOD_BYTES.replace(b"\n", b"\r"), GOOD_BYTES.replace(b"\n", b"\r\n")),
    "file-blank-lines": (GOOD_BYTES + b"\n\n", GOOD_BYTES),
    "row-cell-count": ((GOOD_TEXT + FIRST_LINE + ",more\n").encode(), GOOD_BYTES),
    "row-header-again": ((GOOD_TEXT + HEADER + "\n").encode(), GOOD_BYTES),
    "row-quotes": (
        GOOD_TEXT.replace("whole chain; code rev 1f0c; nothing else on the GPU", '"whole" chain', 1).encode(),
        GOOD_TEXT.replace("whole chain; code rev 1f0c; nothing else on the GPU", '"""whole"" chain"', 1).encode(),
    ),
    "row-swallowed": (
        csv_of(changed(notes="open\n" + FIRST_LINE)),
        csv_of(changed(notes="first line\nsecond line, with a comma")),
    ),
    "cell-nul": (csv_of(changed(notes="half\0written")), csv_of(changed(notes="half written"))),
}
ROWS: dict[str, tuple[Rows, Rows]] = {
    "cell-not-boolean": in_column("ids_match", "VRAI", "true"),
    "cell-not-integer": in_column("batch", "８", "8"),
    "cell-not-decimal": in_column("elapsed_seconds", "12.5s", "12.5"),
    "cell-decimal-comma": in_column("elapsed_seconds", "12,5", "12.5"),
    "cell-grouped-digits": in_column("peak_reserved_bytes", "4 000", "4000"),
    "cell-digits-lost": in_column("elapsed_seconds", "1.2E+01", "12"),
    "cell-not-finite": in_column("elapsed_seconds", "inf", "12"),
    "cell-negative": in_column("seed", "-1", "0"),
    "cell-currency": in_column("package_total_usd_minor", "1296.00", "129600"),
    "cell-too-long": in_column("seed", "9" * 401, "9" * 40),
    "cell-respelled": in_column("elapsed_seconds", "6.7e-05", "0.000067"),
    "identifier-digits-lost": in_column("model_revision", "7.20415E+15", "61847e02"),
    "identifier-outer-space": in_column("variant_id", "b8 ", "b8"),
    "identifier-invisible": in_column("variant_id", "b\u200b8", "b8"),
    "identifier-look-alike": in_column("variant_id", "b8-\u0430", "b8-a"),
    "identifier-date": in_column("corpus_revision", "03/07/2031", "2031-07-03-r1"),
    "phase-spelling": in_column("phase", "Warm", "warm-up"),
    "identity-empty": in_column("variant_id", "", "b8"),
    "package-days": in_column("duration_days", "31", "30"),
    "time-not-positive": in_column("elapsed_seconds", "0.000", "0.001"),
    "accepted-without-time": (changed(elapsed_seconds=""), changed(elapsed_seconds="", corpus_accepted="false")),
    "load-accepted": ([loading(corpus_accepted="true")], [loading(corpus_accepted="false")]),
    "load-filled": ([loading(observed_ids="1000")], [loading()]),
    "ids-match-counts-differ": (
        changed(observed_ids="999", corpus_accepted="false"),
        changed(observed_ids="999", ids_match="false", corpus_accepted="false"),
    ),
    "accepted-ids": (changed(ids_match="false"), changed(ids_match="false", corpus_accepted="false")),
    "accepted-format": (changed(format_valid="false"), changed(format_valid="false", corpus_accepted="false")),
    "accepted-quality": (changed(quality_value="0.8999999999999999999"), changed(quality_value="0.90")),
    "quality-out-of-bounds": (changed(quality_value="91.2"), changed(quality_value="1")),
    "tolerance-negative": (
        everywhere(quality_metric="own-metric", quality_tolerance="-0.01"),
        everywhere(quality_metric="own-metric", quality_tolerance="0.01"),
    ),
    "condition-not-recorded": (changed(format_valid=""), changed(format_valid="true")),
    "metric-unknown": (everywhere(quality_metric="own-metric"), everywhere(quality_metric="Macro_F1")),
    "failure-unexplained": ([failed(notes="")], [failed()]),
    "refusal-unexplained": (
        changed(corpus_accepted="false", notes=""),
        changed(corpus_accepted="false", notes="", observed_ids="999", ids_match="false"),
    ),
    "memory-peak-below-baseline": (changed(peak_allocated_bytes="999"), changed(peak_allocated_bytes="1000")),
    "memory-allocated-above-reserved": (changed(peak_allocated_bytes="4001"), changed(peak_allocated_bytes="4000")),
    "memory-on-cpu": (
        everywhere(device="cpu"),
        everywhere(device="cpu", baseline_allocated_bytes="", baseline_reserved_bytes="", peak_allocated_bytes="",
                   peak_reserved_bytes=""),
    ),
    "warm-without-warm-up": (changed(warmup_iterations="0"), changed(warmup_iterations="1")),
    "cold-with-warm-up": (changed(phase="cold", warmup_iterations="1"), changed(phase="cold", warmup_iterations="0")),
    "time-longer-than-package": (changed(elapsed_seconds="259200.1"), changed(elapsed_seconds="259200")),
    "revision-mutable": (changed(model_revision="org/model@main"), changed(model_revision="maintenance-3f2a")),
    "provenance-empty": (changed(driver_version=""), everywhere(driver_version="", runtime_version="", gpu_model="",
                                                                device="cpu", gpu_count="0")),
    "notes-empty": (changed(notes=""), [*GOOD, failed(run_index="6", notes="")]),
    "tolerance-unchecked": (everywhere(quality_tolerance="0.01"), GOOD),
    "pass-repeated": (changed(run_index="1.0"), GOOD),
    "run-missing": ([GOOD[0], *GOOD[2:]], GOOD[:4]),
    "warm-passes-few": (GOOD[:4], [*GOOD[:4], failed(run_index="5")]),
    "package-differs": (changed(lots="2"), everywhere(lots="2")),
    "corpora-differ": (changed(accepted_unique_corpora="2"), changed(accepted_unique_corpora="")),
    "corpora-without-acceptance": (
        [failed(accepted_unique_corpora="1")], [failed(accepted_unique_corpora="0")],
    ),
    "corpora-per-repetition": (everywhere(accepted_unique_corpora="5"), everywhere(accepted_unique_corpora="4")),
    "work-differs": (two_variants(corpus_revision="sha256:c1"), two_variants()),
    "environment-differs": (two_variants(torch_version="2.14.0"), two_variants()),
    "several-configurations": (two_variants(context="256"), two_variants()),
    "configuration-inside-variant": (changed(batch="16"), two_variants()),
    "context-varies": (two_variants(batch="8", context="256"), two_variants()),
    "warm-ups-differ": (two_variants(warmup_iterations="3"), two_variants()),
    "nothing-varies": (two_variants(batch="8"), two_variants()),
}  # fmt: skip
PRICED: dict[str, tuple[Rows, Rows]] = {
    "package-against-tariff": (everywhere(lots="2"), everywhere(lots="2", package_total_usd_minor="259200")),
    "package-without-offer": (everywhere(gpu_model="H300"), GOOD),
    "gpus-more-than-billed": (everywhere(gpu_count="3"), GOOD),
    "gpus-fewer-than-billed": (everywhere(gpu_count="1"), GOOD),
}

IDS = [f"t-{number}" for number in range(4)]
LABELS = ["A", "B", "A", "B"]


def jsonl(labels: Sequence[str]) -> bytes:
    return "".join(
        f'{{"id": "{name}", "label": "{label}"}}\n' for name, label in zip(IDS, labels, strict=True)
    ).encode()


def folder(**pieces: bytes | None) -> Review:
    """A run's folder of one accepted pass over four texts, with some pieces replaced or taken away."""
    cells = row(expected_ids="4", observed_ids="4", quality_value="1")
    whole = {
        "results.csv": csv_of([cells]),
        "expected-ids.txt": "\n".join(IDS).encode(),
        "reference.jsonl": jsonl(LABELS),
        "outputs/b8-warm-1.jsonl": jsonl(LABELS),
    }
    whole |= {name.replace("__", "/").replace("_", "-"): data for name, data in pieces.items() if data is not None}
    for name, data in pieces.items():
        if data is None:
            del whole[name]
    return review([Source.of_folder(RunFolder("run", whole))])


PROTOCOL = b"""[quality]
metric = "macro-f1"
tolerance = 0.02
reference_value = 1.0
"""
PROTOCOL_SHA256 = hashlib.sha256(PROTOCOL).hexdigest()


def sealed(sha256: str) -> bytes:
    return f'{{"protocol_sha256": "{sha256}"}}'.encode()


def noted(sha256: str) -> Review:
    """A folder with a protocol, whose one row names the protocol of that hash."""
    cells = row(expected_ids="4", observed_ids="4", quality_value="1", notes=f"scope; protocol sha256 {sha256}, sealed")
    return folder(**{"results.csv": csv_of([cells]), "protocol.toml": PROTOCOL})


def since(*changed: str) -> Review:
    pieces = {"results.csv": csv_of([failed()])}
    return review([Source.of_folder(RunFolder("run", pieces, changed))])


def dropped(value: str) -> Review:
    """A folder without outputs: its row says accepted, with that value against a reference of 1 and 0.02 allowed."""
    cells = row(expected_ids="4", observed_ids="4", quality_value=value, quality_threshold="0.9")
    pieces = {"results.csv": csv_of([cells]), "protocol.toml": PROTOCOL}
    return review([Source.of_folder(RunFolder("run", pieces))])


FOLDERS: dict[str, tuple[Callable[[], Review], Callable[[], Review]]] = {
    "row-against-outputs": (lambda: folder(**{"outputs/b8-warm-1.jsonl": jsonl(["A", "A", "A", "B"])}), folder),
    "outputs-missing": (lambda: folder(**{"outputs/b8-warm-1.jsonl": None}), folder),
    "outputs-without-row": (lambda: folder(**{"outputs/b8-warm-2.jsonl": jsonl(LABELS)}), folder),
    "outputs-not-recomputed": (lambda: folder(**{"reference.jsonl": None}), folder),
    "protocol-changed": (
        lambda: folder(**{"protocol.toml": PROTOCOL, "seal.json": sealed("0" * 64)}),
        lambda: folder(**{"protocol.toml": PROTOCOL, "seal.json": sealed(PROTOCOL_SHA256)}),
    ),
    "rows-of-another-protocol": (lambda: noted("0" * 64), lambda: noted(PROTOCOL_SHA256)),
    "code-changed": (lambda: since("code.path"), since),
    "accepted-against-protocol": (lambda: dropped("0.9799"), lambda: dropped("0.98")),
    "input-order-differs": (
        lambda: ordered("one", "other"),
        lambda: ordered("one", "one"),
    ),
}


def ordered(first: str, second: str) -> Review:
    """Two variants whose controls name the order of their inputs."""
    cells = {"expected_ids": "4", "observed_ids": "4", "quality_value": "1"}
    rows = [row(**cells), row(**cells, variant_id="b16", batch="16")]
    pieces = {
        "results.csv": csv_of(rows),
        "expected-ids.txt": "\n".join(IDS).encode(),
        "reference.jsonl": jsonl(LABELS),
    }
    for variant, order in (("b8", first), ("b16", second)):
        pieces[f"outputs/{variant}-warm-1.jsonl"] = jsonl(LABELS)
        pieces[f"controls/{variant}-warm-1.json"] = f'{{"input_order_sha256": "{order}"}}'.encode()
    return review([Source.of_folder(RunFolder("run", pieces))])


def priced(rows: Rows) -> Review:
    return review([Source("results.csv", csv_of(rows))], read_tariffs("tariffs.csv", TARIFF))


CASES: dict[str, tuple[Callable[[], Review], Callable[[], Review]]] = {
    **{code: (lambda b=bad: of_bytes(b), lambda g=good: of_bytes(g)) for code, (bad, good) in BYTES.items()},
    **{code: (lambda b=bad: of_rows(b), lambda g=good: of_rows(g)) for code, (bad, good) in ROWS.items()},
    **{code: (lambda b=bad: priced(b), lambda g=good: priced(g)) for code, (bad, good) in PRICED.items()},
    **FOLDERS,
}


def found_codes(found: Review) -> set[str]:
    return {finding.rule.code for finding in found.findings}


@pytest.mark.parametrize("code", CASES)
def test_a_rule_speaks_and_is_silent_beside(code: str) -> None:
    failing, passing = CASES[code]
    assert code in found_codes(failing())
    assert code not in found_codes(passing())


def test_every_rule_has_a_pair() -> None:
    # A tariff and a conversion have readers of their own; their rules are paired in their own tests.
    read_elsewhere = {rule.code for rule in RULES if rule.scope is Scope.TARIFF}
    read_elsewhere |= {rule.code for rule in CONVERSION_RULES}
    assert set(CASES) == {rule.code for rule in RULES} - read_elsewhere


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", CASES)
def test_findings_name_the_place_the_value_and_the_remedy(code: str, language: str) -> None:
    found = CASES[code][0]()
    to = translator(language)  # type: ignore[arg-type]
    entries = [entry for entry in findings_entries(found, to) if entry["code"] == code]
    assert entries
    for entry in entries:
        assert "{" not in entry["message"] + entry["remedy"]
        assert entry["message"]
        assert entry["remedy"]
        assert entry["section"] in {"1", "2", "3", "4", "5"}


def test_codes_are_permanent_and_unique() -> None:
    names = [rule.code for rule in RULES]
    assert len(names) == len(set(names))
    assert all(name == name.lower() and " " not in name for name in names)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_rules_speak_both_languages(rule: object) -> None:
    french, english = translator("fr"), translator("en")
    for text in (rule.title, rule.message, rule.remedy):  # type: ignore[attr-defined]
        assert english.gettext(text) == text
        assert french.gettext(text) != text
