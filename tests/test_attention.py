"""What needs a reviewer first comes first, in a sentence with its figures."""

from gpucost.attention import needs_attention
from gpucost.language import translator
from gpucost.review import Source, review
from tests.rows import csv_of, failed, five, reviewed, row

EN = translator("en")


def test_rejections_come_before_failures_and_say_their_figures() -> None:
    found = reviewed(
        *five(),
        failed(variant_id="b64", batch="64"),
        row(variant_id="b32", batch="32", quality_value="0.871", corpus_accepted="false"),
        row(variant_id="b32", batch="32", quality_value="0.871", corpus_accepted="false", run_index="2"),
    )
    first, second, *_ = needs_attention(found, EN)
    assert first.sentence == ("2 corpora rejected in exp-1, b32: macro-f1 0.871 is below the threshold 0.9")
    assert first.rows.tolist() == [6, 7]
    assert second.sentence == "1 pass failed in exp-1, b64: no time was recorded: out of memory"


def test_a_file_that_could_not_be_read_comes_first() -> None:
    found = review([Source("good.csv", csv_of([failed()])), Source("bad.csv", b"\xff\xfe\x00")])
    first, second, *_ = needs_attention(found, EN)
    assert first.sentence.startswith("bad.csv: The file is not UTF-8")
    assert second.sentence.startswith("1 pass failed")


def test_nothing_wrong_needs_nobody() -> None:
    assert needs_attention(reviewed(*five(quality_tolerance="")), EN) == []
