"""The audit of a corpus: whole reports, each kind of fault beside its nearest passing case, and laws."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from gpucost.audit import AuditReport, AuditUsageError, Corpus, Document, audit, control_json
from gpucost.cells import visible
from gpucost.language import translator
from gpucost.metrics import measure_quality
from gpucost.records import PIECE_BYTES

ENGLISH = translator("en")
LABELS = {"t-1": "A", "t-2": "A", "t-3": "B", "t-4": "B"}


def ids(*names: str) -> Document:
    return Document("expected.txt", "".join(f"{name}\n" for name in names).encode())


def lines(*rows: str, name: str = "outputs.jsonl") -> Document:
    return Document(name, "".join(f"{row}\n" for row in rows).encode())


def row(name: object, label: object = "A", **more: object) -> str:
    return json.dumps({"id": name, "label": label, **more}, ensure_ascii=False)


def labelled(labels: Mapping[str, str] | Iterable[tuple[str, str]], name: str = "outputs.jsonl") -> Document:
    pairs = labels.items() if isinstance(labels, Mapping) else labels
    return lines(*(row(*pair) for pair in pairs), name=name)


def report(
    outputs: Document | None = None,
    expected: Document | None = None,
    *,
    reference: Document | None = None,
    **options: Any,
) -> AuditReport:
    """An accepted audit by default, and whatever a test changes in it."""
    rule: dict[str, Any] = {"classes": ("A", "B"), "metric": "macro-f1", "threshold": Decimal("0.9")}
    return audit(
        expected or ids(*LABELS),
        outputs or labelled(LABELS),
        reference=reference or labelled(LABELS, "reference.jsonl"),
        **{**rule, **options},
    )


def bare(expected: Document, outputs: Document, **options: Any) -> AuditReport:
    """An audit without a reference and without classes."""
    return audit(expected, outputs, **options)


def said(found: AuditReport) -> list[str]:
    return [phrase.render(ENGLISH) for phrase in found.reasons()]


def warned(found: AuditReport) -> list[str]:
    return [phrase.render(ENGLISH) for phrase in found.warnings]


def invalid(found: AuditReport) -> list[tuple[int, str, str]]:
    return [(bad.line, bad.value, bad.reason.render(ENGLISH)) for bad in found.invalid_rows]


def test_an_accepted_corpus_is_reported_whole() -> None:
    none = {"count": 0, "ids": []}
    assert report().to_json(ENGLISH) == {
        "expected": 4, "observed": 4, "missing": none, "duplicate": none, "extra": none,
        "invalid_format": {"count": 0, "rows": []}, "ids_match": True, "format_valid": True,
        "quality_metric": "macro-f1", "quality_value": 1.0, "classes_averaged": ["A", "B"], "warnings": [],
        "accepted": True,
    }  # fmt: skip
    assert report().exit_status == 0
    assert said(report()) == []


def test_a_corpus_with_every_fault_is_reported_whole() -> None:
    found = report(lines(row("t-1"), row("t-1", "B"), row("t-2", "a"), row("t-9"), "{", row(None)))
    assert found.to_json(ENGLISH) == {
        "expected": 4, "observed": 6, "missing": {"count": 2, "ids": ["t-3", "t-4"]},
        "duplicate": {"count": 1, "ids": ["t-1"]}, "extra": {"count": 1, "ids": ["t-9"]},
        "invalid_format": {
            "count": 3,
            "rows": [
                {"row": 3, "line": 3, "value": "a", "reason": "its label is outside the classes"},
                {"row": 5, "line": 5, "value": "{", "reason": "it is not valid JSON"},
                {"row": 6, "line": 6, "value": '{"id": null, "label": "A"}',
                 "reason": "its `id` is neither a text nor a whole number"},
            ],
        },
        "ids_match": False, "format_valid": False, "quality_metric": "macro-f1", "quality_value": None,
        "classes_averaged": [], "warnings": [], "accepted": False,
    }  # fmt: skip
    assert found.exit_status == 1
    assert said(found) == [
        "2 expected IDs are missing: t-3, t-4",
        "1 ID stands more than once: t-1",
        "1 ID was not expected: t-9",
        "3 output rows are not valid",
    ]


def test_the_control_is_what_the_command_prints() -> None:
    assert orjson.loads(control_json(report())) == report().to_json(ENGLISH)


def test_long_lists_are_cut_and_counted_exactly() -> None:
    found = bare(ids(*(f"t-{number}" for number in range(250))), lines())
    assert (found.missing.count, len(found.missing.ids), found.missing.ids[-1]) == (250, 100, "t-99")


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        (row(7.0), row(7.0), "its `id` is neither a text nor a whole number"),
        (row(True), row(True), "its `id` is neither a text nor a whole number"),
        (row(["t-1"]), row(["t-1"]), "its `id` is neither a text nor a whole number"),
        (row(""), row(""), "its `id` is empty"),
        ('{"label": "A"}', '{"label": "A"}', "it has no `id`"),
        ('["t-2", "A"]', '["t-2", "A"]', "it is not a JSON object"),
        ('{"id": "t-2", "id": "t-1", "label": "A"}', '{"id": "t-2", "id": "t-1", "label": "A"}',
         "one of its keys stands twice"),
        ('{"id": 1, "\\u0069d": 2, "label": "A"}', '{"id": 1, "\\u0069d": 2, "label": "A"}',
         "one of its keys stands twice"),
        ('{"id": "\\ud800", "label": "A"}', '{"id": "\\ud800", "label": "A"}',
         "it holds what JSON does not allow: NaN, Infinity or half a character; write null or the text"),
        ("[" * 100_000, "[" * 200 + "… (+99800)", "it is not valid JSON"),
        ('{"id": "a"} {"id": "b"}', '{"id": "a"} {"id": "b"}', "it is not valid JSON"),
    ],
)  # fmt: skip
def test_a_row_without_a_usable_id_is_invalid(text: str, value: str, reason: str) -> None:
    found = bare(ids("t-1", "z"), lines(row("t-1"), text, row("z")))
    assert invalid(found) == [(2, value, reason)]
    assert (found.observed, found.ids_match, found.format_valid, found.accepted) == (3, True, False, None)
    assert found.exit_status == 1


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ('{"id": "t-1"}', '{"id": "t-1"}', "it has no `label`"),
        (row("t-1", None), "null", "its `label` is neither a text nor a whole number"),
        (row("t-1", 0.5), "0.5", "its `label` is neither a text nor a whole number"),
        (row("t-1", ""), "", "its `label` is empty"),
        (row("t-1", "A "), visible("A "), "its label is outside the classes"),
        (row("t-1", "a"), "a", "its label is outside the classes"),
        ('{"id": "t-1", "label": "A", "score": NaN}', '{"id": "t-1", "label": "A", "score": NaN}',
         "it holds what JSON does not allow: NaN, Infinity or half a character; write null or the text"),
    ],
)  # fmt: skip
def test_a_bad_label_still_counts_its_id(text: str, value: str, reason: str) -> None:
    found = bare(ids("t-1"), lines(text), classes=("A", "B"))
    assert invalid(found) == [(1, value, reason)]
    assert (found.ids_match, found.format_valid) == (True, False)


def test_whole_numbers_are_compared_as_their_digits() -> None:
    large = 2**80 + 1
    found = bare(ids("7", "-3", str(2**53 + 1), str(large)), lines(*(row(n, 0) for n in (7, -3, 2**53 + 1, large))))
    assert (found.ids_match, found.format_valid) == (True, True)


def test_a_file_cut_in_its_last_line() -> None:
    whole = labelled(LABELS).data
    for end in (len(whole) - 3, len(whole) - 10):
        found = bare(ids(*LABELS), Document("outputs.jsonl", whole[:end]))
        assert (found.missing.ids, found.invalid_count, found.observed) == (("t-4",), 1, 4)
        assert "the file looks cut" in invalid(found)[0][2]
    assert bare(ids(*LABELS), Document("outputs.jsonl", whole[:-1])).ids_match


def test_a_file_cut_inside_a_character() -> None:
    data = (row("t-1") + "\n" + row("é")).encode()
    found = bare(ids("t-1", "é"), Document("outputs.jsonl", data[: data.index("é".encode()) + 1]))
    assert (found.missing.ids, found.invalid_count, found.faults) == (("é",), 1, ())


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("o.csv", b"id;label\nt-1;A\n", "o.csv separates its columns by `;` where a comma is due; save it with commas"),
        ("o.csv", b'"id"\t"label"\nt-1\tA\n',
         "o.csv separates its columns by `⟨U+0009⟩` where a comma is due; save it with commas"),
        ("o.csv", b"ID,label\nt-1,A\n", "o.csv has no `id` column; its header is: ID,label"),
        ("o.csv", b"id,class\nt-1,A\n", "o.csv has no `label` column; its header is: id,class"),
        ("o.csv", b"id,label,id\nt-1,A,t-2\n", "o.csv has two columns of one name; its header is: id,label,id"),
        ("o.csv", "id,label\nt-é,A\n".encode("cp1252"), "o.csv is not UTF-8 but looks like CP1252; save it as UTF-8"),
        ("o.csv", "id,label\nt-1,A\n".encode("utf-16"),
         "o.csv is not UTF-8 but looks like UTF-16-LE; save it as UTF-8"),
        ("o.csv", b"PK\x03\x04" + bytes(64),
         "o.csv is not text: its first bytes are those of a XLSX file; save it as CSV UTF-8 or JSON Lines"),
        ("o.json", b'[{"id": "t-1", "label": "A"}]',
         "o.json is one JSON array; write one object a line (JSON Lines)"),
        ("o.json", b'{\n  "id": "t-1",\n  "label": "A"\n}\n',
         "o.json is one JSON object over several lines; write one object a line (JSON Lines)"),
    ],
)  # fmt: skip
def test_outputs_that_cannot_be_read_say_one_thing(name: str, data: bytes, fault: str) -> None:
    found = report(Document(name, data))
    assert said(found) == [fault]
    assert (found.observed, found.missing.count, found.ids_match, found.format_valid) == (0, 4, False, False)
    assert (found.accepted, found.exit_status, found.quality_value) == (False, 1, None)
    assert found.to_json(ENGLISH)["warnings"] == [fault]


@pytest.mark.parametrize("name", ["outputs.jsonl", "outputs.csv", "outputs"])
def test_the_content_decides_what_a_file_is(name: str) -> None:
    csv_text = "id,label\n" + "".join(f"{key},{label}\n" for key, label in LABELS.items())
    for data in (labelled(LABELS).data, csv_text.encode(), b"\xef\xbb\xbf" + csv_text.replace("\n", "\r\n").encode()):
        assert report(Document(name, data)).accepted


def test_expected_ids_as_csv_jsonl_and_a_list_from_windows() -> None:
    for data in (
        b"label,id\nA,001\nB,002\n", b'{"id": "001"}\r\n{"id": "002"}\r\n', b"\xef\xbb\xbf001\r\n002\r\n\r\n",
        b"001\r002", b"id\n001\n002\n",
    ):  # fmt: skip
        found = bare(Document("expected.txt", data), lines(row("002"), row("001")))
        assert (found.expected, found.ids_match) == (2, True)


def test_only_line_ends_end_an_id() -> None:
    names = ("a\u2028b", "c\x0bd", " e", "f,g")
    assert bare(ids(*names), lines(*map(row, names))).ids_match


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b"id,label\n"])
def test_outputs_without_a_row(data: bytes) -> None:
    found = report(Document("outputs.csv", data))
    assert (found.observed, found.missing.count, found.accepted) == (0, 4, False)
    assert said(found) == ["4 expected IDs are missing: t-1, t-2, t-3, t-4"]


def test_rows_of_a_csv_that_cannot_be_separated() -> None:
    data = b'id,label\nt-1,A\nt-2,A,B\nt-3\n"t-4"x,A\nt-5,A\n"t-6,A\nt-7,A\n'
    found = bare(ids(*(f"t-{n}" for n in range(1, 8))), Document("outputs.csv", data))
    assert invalid(found) == [
        (3, "t-2,A,B", "it has 3 cells for 2 columns"),
        (4, "t-3", "it has 1 cells for 2 columns"),
        (5, "", "its quotation marks do not fit"),
        (7, "", "a quotation mark is never closed: nothing from here on could be separated"),
    ]
    assert found.missing.ids == ("t-2", "t-3", "t-4", "t-6", "t-7")


def test_an_expected_list_that_repeats_an_id_blames_no_output() -> None:
    found = report(expected=ids("t-1", "t-2", "t-3", "t-3", "t-4"))
    assert said(found) == ["the expected list repeats 1 ID: t-3; make it stand once"]
    assert (found.expected, found.duplicate.count, found.missing.count) == (5, 0, 0)
    assert (found.ids_match, found.format_valid, found.accepted, found.exit_status) == (False, True, False, 1)


def test_an_expected_list_that_holds_nothing_to_compare() -> None:
    for document in (Document("e.txt", b"\n"), Document("e.csv", b"name,label\nt-1,A\n")):
        found = report(expected=document)
        assert (found.expected, found.extra.count, found.ids_match, found.accepted) == (0, 0, False, False)
        assert len(said(found)) == 1


def test_a_reference_that_does_not_fit() -> None:
    short = report(reference=labelled(list(LABELS.items())[:3]))
    assert said(short) == ["the reference lacks 1 expected ID: t-4"]
    assert (short.ids_match, short.format_valid, short.accepted, short.quality_value) == (True, True, False, None)
    twice = report(reference=labelled([*LABELS.items(), ("t-1", "A")]))
    assert said(twice) == ["the reference repeats 1 ID: t-1"]
    foreign = report(reference=labelled({**LABELS, "t-1": "C"}))
    assert said(foreign) == ["the reference holds labels outside the classes: C"]
    longer = report(reference=labelled({**LABELS, "t-5": "A"}))
    assert (longer.accepted, longer.exit_status) == (True, 0)
    assert warned(longer) == ["the reference holds 1 ID that is not expected: t-5"]


def test_without_classes_the_reference_gives_them() -> None:
    outputs = labelled({**LABELS, "t-1": "C"})
    found = report(outputs, classes=None)
    assert [text for _, _, text in invalid(found)] == [
        "its label is none of the reference's, and no classes were declared"
    ]
    assert bare(ids(*LABELS), outputs).format_valid


def test_no_verdict_without_a_reference_or_a_rule() -> None:
    assert bare(ids(*LABELS), labelled(LABELS), metric="accuracy", threshold=Decimal("0.9")).accepted is None
    assert report(metric=None, threshold=None).accepted is None
    value = report(threshold=None)
    assert (value.quality_value, value.accepted, value.exit_status) == (Decimal("1.0"), None, 0)


def test_an_extra_id_leaves_the_quality_computed() -> None:
    found = report(labelled({**LABELS, "t-9": "A"}))
    assert (found.quality_value, found.accepted) == (Decimal("1.0"), False)
    twice = report(labelled([*LABELS.items(), ("t-9", "A"), ("t-9", "A")]))
    assert (twice.duplicate.ids, twice.extra.count, twice.quality_value) == (("t-9",), 1, Decimal("1.0"))


# Quality

WRONG_ONCE = {"t-1": "A", "t-2": "B", "t-3": "B", "t-4": "B"}
"""Against LABELS: A has precision 1, recall 1/2, F1 2/3; B has precision 2/3, recall 1, F1 4/5."""


@pytest.mark.parametrize(
    ("metric", "value", "averaged"),
    [
        ("macro-f1", str(float(11 / 15)), ["A", "B"]),  # (2/3 + 4/5) / 2
        ("Micro F1", "0.75", ["A", "B"]),
        ("accuracy", "0.75", ["A", "B"]),
        ("balanced_accuracy", "0.75", ["A", "B"]),  # (1/2 + 1) / 2
        ("cohen-kappa", "0.5", ["A", "B"]),  # (3/4 - 1/2) / (1 - 1/2)
        ("mcc", "0.5773502691896258", ["A", "B"]),  # (1 * 2 - 1 * 0) / sqrt(1 * 3 * 2 * 2)
    ],
)
def test_metrics_by_hand(metric: str, value: str, averaged: list[str]) -> None:
    found = report(labelled(WRONG_ONCE), metric=metric, threshold=Decimal("0.1"))
    assert found.to_json(ENGLISH)["classes_averaged"] == averaged
    assert found.quality_value is not None
    assert abs(found.quality_value - Decimal(value)) < Decimal("1e-15")
    assert found.quality is not None
    assert found.quality.confusion == ((1, 1), (0, 2))
    assert [(c.name, c.precision, c.recall, c.support, c.predicted) for c in found.quality.per_class] == [
        ("A", 1.0, 0.5, 2, 1),
        ("B", 2 / 3, 1.0, 2, 3),
    ]


def test_a_label_outside_the_classes_is_a_wrong_answer_and_no_class() -> None:
    found = report(labelled({**LABELS, "t-1": "maybe"}), threshold=Decimal("0.1"))
    assert found.quality_value is not None
    assert abs(found.quality_value - Decimal(5) / Decimal(6)) < Decimal("1e-15")  # A: 2/3, B: 1
    assert (found.to_json(ENGLISH)["classes_averaged"], found.format_valid, found.accepted) == (
        ["A", "B"],
        False,
        False,
    )


def test_a_class_that_never_occurs_is_not_averaged() -> None:
    found = report(classes=("A", "B", "C"))
    assert (found.quality_value, found.accepted, found.exit_status) == (Decimal("1.0"), True, 0)
    assert warned(found) == ["declared classes that occur in neither reference nor outputs are not averaged: C"]
    predicted_once = report(labelled({**LABELS, "t-1": "C"}), classes=("A", "B", "C"), threshold=Decimal("0.1"))
    assert predicted_once.quality_value is not None
    assert abs(predicted_once.quality_value - Decimal(5) / Decimal(9)) < Decimal("1e-15")  # (2/3 + 1 + 0) / 3


def test_a_value_is_rounded_once_so_that_the_threshold_is_reached() -> None:
    # Three classes with F1 7/10 each: their mean in binary fractions is 0.6999999999999998.
    due, given_ = [], []
    for here, there in (("A", "B"), ("B", "C"), ("C", "A")):
        due += [here] * 10
        given_ += [here] * 7 + [there] * 3
    assert measure_quality("macro-f1", due, given_, None).value == Decimal("0.7")


def test_a_metric_that_is_undefined_accepts_nothing() -> None:
    same = dict.fromkeys(LABELS, "A")
    found = report(
        labelled(same), reference=labelled(same), metric="cohen-kappa", threshold=Decimal(-1), classes=("A",)
    )
    assert (found.quality_value, found.accepted) == (None, False)
    assert said(found) == ["cohen-kappa is undefined on these labels"]


@pytest.mark.parametrize(("threshold", "accepted"), [("0.75", True), ("0.750000000000000000001", False)])
def test_the_threshold_is_compared_as_decimals(threshold: str, accepted: bool) -> None:
    found = report(labelled(WRONG_ONCE), metric="accuracy", threshold=Decimal(threshold))
    assert found.accepted is accepted
    if not accepted:
        assert said(found) == [f"accuracy 0.75 does not reach the threshold {threshold}"]


@pytest.mark.parametrize(("tolerance", "accepted"), [("0.05", True), ("0.049", False)])
@pytest.mark.parametrize("threshold", [Decimal("0.7"), None])
def test_the_tolerance_is_one_more_condition(tolerance: str, accepted: bool, threshold: Decimal | None) -> None:
    found = report(
        labelled(WRONG_ONCE), metric="accuracy", threshold=threshold,
        tolerance=Decimal(tolerance), reference_value=Decimal("0.8"),
    )  # fmt: skip
    assert (found.accepted, found.exit_status) == (accepted, 0 if accepted else 1)
    if not accepted:
        assert said(found) == ["accuracy 0.75 drops by 0.05 from the reference 0.8; 0.049 is allowed"]


def test_the_tolerance_never_softens_the_threshold() -> None:
    found = report(
        labelled(WRONG_ONCE), metric="accuracy", threshold=Decimal("0.76"),
        tolerance=Decimal("0.5"), reference_value=Decimal("0.8"),
    )  # fmt: skip
    assert (found.accepted, said(found)) == (False, ["accuracy 0.75 does not reach the threshold 0.76"])


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "roc-auc"},
        {"metric": "beauty"},
        {"metric": None},
        {"threshold": Decimal(90)},
        {"threshold": Decimal("nan")},
        {"tolerance": Decimal("0.1")},
        {"reference_value": Decimal("0.9")},
        {"tolerance": Decimal("-0.1"), "reference_value": Decimal("0.9")},
        {"classes": ("A", " B")},
        {"classes": ("A", "")},
        {"classes": ("A", "B", "A")},
        {"not_in": Document("split.xlsx", b"PK\x03\x04" + bytes(64))},
    ],
)
def test_bad_usage_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(AuditUsageError):
        report(**options)


# Leaks

TEXTS = {"t-1": "one", "t-2": "two", "t-3": "three", "t-4": "four"}


def with_texts() -> Document:
    return lines(*(row(name, LABELS[name], text=text) for name, text in TEXTS.items()), name="reference.jsonl")


@pytest.mark.parametrize(
    ("split", "shared"),
    [
        (lines(row("t-4", text="x"), row("n-1", text="two")), {"ids": ["t-4"], "texts": ["t-2"]}),
        (ids("t-4", "n-1"), {"ids": ["t-4"], "texts": None}),
        (Document("s.csv", b"text,label\ntwo,A\n"), {"ids": None, "texts": ["t-2"]}),
        (lines(row("n-1", text="Two")), {"ids": [], "texts": []}),
    ],
)
def test_what_another_split_shares_refuses_the_corpus(split: Document, shared: dict[str, Any]) -> None:
    found = report(reference=with_texts(), not_in=split)
    leaks = {kind: None if names is None else {"count": len(names), "ids": names} for kind, names in shared.items()}
    assert found.to_json(ENGLISH)["leaks"] == leaks
    clean = not any(shared.values())
    assert (found.accepted, found.exit_status) == (clean, 0 if clean else 1)
    assert bool(said(found)) is not clean


@pytest.mark.parametrize("split", [lines(), lines(row("n-1"), "{"), lines('{"label": "A"}')])
def test_a_split_that_cannot_be_compared_accepts_nothing(split: Document) -> None:
    found = report(not_in=split)
    assert (found.accepted, found.ids_match, len(said(found))) == (False, True, 1)


# Look-alikes


@pytest.mark.parametrize(
    ("expected", "observed", "hint"),
    [
        ("caf\u00e9-1", "cafe\u0301-1", "Unicode normal form"),
        ("t-1", "t-1 ", "look alike"),
        ("t-1", "t\u20111", "look alike"),
        ("e-1", "\u0435-1", "look alike"),
        ("t-1", "T-1", "capital letters"),
        ("03-07-2031", "03/07/2031", "a spreadsheet may have rewritten"),
        ("03-07-2031", "2031-07-03", "a spreadsheet may have rewritten"),
        ("3-7", "3-Jul", "a spreadsheet may have rewritten"),
        ("MARCH1", "1-Mar", "a spreadsheet may have rewritten"),
        ("007", "7", "a spreadsheet may have rewritten"),
        ("7", "7.0", "a spreadsheet may have rewritten"),
        ("9007199254740993", "9.0072E+15", "a spreadsheet may have rewritten"),
        ("9007199254740993", "9.01E+15", "a spreadsheet may have rewritten"),
        ("9007199254740993", "9007199254740990", "a spreadsheet may have rewritten"),
    ],
)
def test_ids_that_look_alike_are_told_apart_and_reported(expected: str, observed: str, hint: str) -> None:
    found = bare(ids(expected, "z"), lines(row(observed), row("z")))
    assert (found.missing.ids, found.extra.ids, found.ids_match) == ((expected,), (observed,), False)
    assert [hint in text for text in warned(found)] == [True]


@pytest.mark.parametrize(
    ("expected", "observed"), [("t-1", "t-2"), ("9007199254740993", "9007199254740555"), ("3-7", "3-8")]
)
def test_ids_that_only_differ_give_no_hint(expected: str, observed: str) -> None:
    assert warned(bare(ids(expected), lines(row(observed)))) == []


def test_code_points_are_shown() -> None:
    found = bare(ids("caf\u00e9-1"), lines(row("cafe\u0301-1")))
    assert "U+0301" in warned(found)[0]
    assert "U+00E9" in warned(found)[0]


def test_two_expected_ids_of_one_normal_form_are_both_due() -> None:
    names = ("caf\u00e9", "cafe\u0301")
    found = bare(ids(*names), lines(*map(row, names)))
    assert (found.ids_match, found.exit_status, len(found.warnings)) == (True, 0, 1)
    assert bare(ids("caf\u00e9", "cafe"), lines(row("caf\u00e9"), row("cafe"))).warnings == ()


def test_a_list_that_looks_like_a_table_is_named() -> None:
    found = bare(ids("name,label", "t-1,A"), lines(row("t-1")))
    assert warned(found) == [
        "expected.txt is read as one ID a line, and the first is name,label; a CSV needs an `id` column"
    ]


# Laws

NAMES = st.sampled_from([*LABELS, "t-9", "t-é", "x"])
ROWS = st.lists(st.tuples(NAMES, st.sampled_from(["A", "B", "C"])), max_size=12)


@given(ROWS, st.randoms())
def test_the_order_of_the_outputs_changes_nothing(pairs: list[tuple[str, str]], draw: Any) -> None:
    shuffled = draw.sample(pairs, len(pairs))
    one, other = (report(labelled(rows)).to_json(ENGLISH) for rows in (pairs, shuffled))
    for answer in (one, other):
        for kind in ("duplicate", "extra"):
            answer[kind]["ids"].sort()
        answer["invalid_format"]["rows"] = Counter(bad["value"] for bad in answer["invalid_format"]["rows"])
        answer["warnings"].sort()
    assert one == other


@given(ROWS, st.integers(0, 3))
def test_every_row_is_accounted_for(pairs: list[tuple[str, str]], broken: int) -> None:
    found = bare(ids(*LABELS), lines(*(row(*pair) for pair in pairs), *["{"] * broken))
    counts = Counter(name for name, _ in pairs)
    assert found.observed == counts.total() + broken
    assert found.missing.ids == tuple(name for name in LABELS if name not in counts)
    assert set(found.extra.ids) == set(counts) - set(LABELS)
    assert set(found.duplicate.ids) == {name for name, count in counts.items() if count > 1}
    assert found.invalid_count == broken


@given(ROWS)
def test_batches_and_single_rows_agree(pairs: list[tuple[str, str]]) -> None:
    """A `[` in a row keeps it out of the batches, and a CSV has none; all are read alike."""
    batched = report(labelled(pairs))
    single = report(lines(*(row(name, label, score=[1]) for name, label in pairs)))
    table = report(Document("o.csv", ("id,label\n" + "".join(f"{n},{label}\n" for n, label in pairs)).encode()))
    assert batched.to_json(ENGLISH) == single.to_json(ENGLISH)
    for answer in (single.to_json(ENGLISH), table.to_json(ENGLISH)):
        for bad in answer["invalid_format"]["rows"]:
            del bad["line"]
        assert answer["missing"] == batched.to_json(ENGLISH)["missing"]
        assert answer["invalid_format"]["count"] == batched.invalid_count
        assert answer["quality_value"] == batched.to_json(ENGLISH)["quality_value"]


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("ABCD")), min_size=1, max_size=30))
def test_the_exact_headlines_are_those_of_the_library(pairs: list[tuple[str, str]]) -> None:
    due, given_ = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    library = {
        "macro-f1": sk.f1_score(due, given_, average="macro", zero_division=0),
        "micro-f1": sk.f1_score(due, given_, average="micro", zero_division=0),
        "accuracy": sk.accuracy_score(due, given_),
        "balanced-accuracy": sk.recall_score(due, given_, labels=sorted(set(due)), average="macro", zero_division=0),
    }
    if len({*due, *given_}) > 1:
        library["mcc"] = sk.matthews_corrcoef(due, given_)
        library["cohen-kappa"] = sk.cohen_kappa_score(due, given_)
    for metric, value in library.items():
        ours = measure_quality(metric, due, given_, None).value
        assert ours is not None
        assert abs(float(ours) - float(value)) < 1e-12, metric


def test_a_long_file_is_counted_over_its_pieces() -> None:
    names = [f"t-{number:05d}" for number in range(3 * PIECE_BYTES // 30)]
    texts = [row(name) for name in names]
    texts[len(texts) // 2] = row(names[0])
    texts[-2] = "{"
    found = bare(ids(*names), lines(*texts))
    assert found.missing.ids == (names[len(names) // 2], names[-2])
    assert found.duplicate.ids == (names[0],)
    assert [(bad.row, bad.line) for bad in found.invalid_rows] == [(len(names) - 1, len(names) - 1)]


def test_two_lines_never_make_one_row() -> None:
    """What would be valid if lines were only joined: an object over two lines beside two objects on one."""
    texts = ('{"id": "a", "label": "A"}, {"id": "b", "label": "A"}', '{"id": "c"', '"label": "A"}')
    found = bare(ids("a", "b", "c"), lines(*texts))
    assert (found.observed, found.invalid_count, found.missing.count) == (3, 3, 3)


def test_a_prepared_corpus_audits_many_outputs() -> None:
    corpus = Corpus.prepare(ids(*LABELS), labelled(LABELS), ("A", "B"))
    rule: dict[str, Any] = {"metric": "macro-f1", "threshold": Decimal("0.9")}
    assert corpus.audit(labelled({"t-1": "A"}), **rule).missing.count == 3
    assert corpus.audit(labelled(LABELS), **rule) == report()
