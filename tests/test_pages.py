"""Every page in both languages, over what may lie on the desk; run by Streamlit's own test runner."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from gpucost.columns import HEADER
from gpucost.dashboard import desk
from gpucost.review import Source
from tests.rows import csv_of, failed, five, row

FRAME = str(Path(__file__).parent.parent / "pages" / "frame.py")
PAGES = ("overview.py", "review.py", "variants.py", "packages.py", "audit.py", "measure.py", "protocol.py")
HEADINGS = {
    "en": ("Overview", "Review", "Variants", "Packages", "Audit", "Measure", "Protocol"),
    "fr": ("Vue d’ensemble", "Revue", "Variantes", "Forfaits", "Audit", "Mesurer", "Protocole"),
}
REJECTED = row(quality_value="0.871", corpus_accepted="false")
DESKS: Mapping[str, list[Source]] = {
    "one variant": [Source("results.csv", csv_of(five()))],
    "all rejected": [Source("results.csv", csv_of([REJECTED, {**REJECTED, "run_index": "2"}, failed(run_index="3")]))],
    "not comparable": [Source("r.csv", csv_of([*five(), *five(variant_id="b16", batch="16", context="256")]))],
    "no rows": [Source("headers.csv", HEADER.encode())],
    "empty file": [Source("empty.csv", b"")],
    "utf-16": [Source("unicode.csv", csv_of(five()).decode().encode("utf-16"))],
    "a workbook": [Source("results.xlsx", b"PK\x03\x04...")],
    "semicolons": [Source("french.csv", csv_of(five()).replace(b",", b";"))],
    "unreadable row": [Source("results.csv", csv_of(five()) + b"too,short\n")],
    "two files": [Source("a.csv", csv_of(five())), Source("b.csv", csv_of(five()))],
}


def page(name: str, sources: list[Source] | None = None, language: str = "en") -> AppTest:
    """A page of a fresh session, with some uploads on the desk (default: the example)."""
    test = AppTest.from_file(FRAME, default_timeout=60)
    test.session_state["lang"] = language
    if sources is not None:
        test.session_state["desk_uploads"] = tuple(desk.Paper(source) for source in sources)
        test.session_state["desk_origin"] = "upload"
    test.run()
    return test.switch_page(name).run() if name != "overview.py" else test


def errors(test: AppTest) -> list[str]:
    return [element.value for element in test.exception]


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("name", PAGES)
def test_every_page_shows_its_heading_over_the_example(name: str, language: str) -> None:
    test = page(name, language=language)
    assert errors(test) == []
    assert test.title[0].value == HEADINGS[language][PAGES.index(name)]


@pytest.mark.parametrize("lying", DESKS)
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_a_page_whatever_lies_on_the_desk(name: str, lying: str) -> None:
    test = page(name, DESKS[lying])
    assert errors(test) == []
    assert test.title[0].value == HEADINGS["en"][PAGES.index(name)]


HOSTILE = (
    "![x](https://example.org/a.png)",
    "[click](javascript:alert(1))",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "`code` **bold** # heading",
    ":red-badge[accepted]",
    "$$\\int_0^1$$",
    "=HYPERLINK(1)",
    "``` `` `",
    ":material/home:",
)


@pytest.mark.parametrize("payload", HOSTILE)
def test_no_value_is_ever_markup(payload: str) -> None:
    """Each payload in every text column: no page shows it as anything but text."""
    columns = (
        "experiment_id",
        "variant_id",
        "corpus_revision",
        "phase",
        "gpu_model",
        "device",
        "quality_metric",
        "notes",
    )
    hostile = row(**dict.fromkeys(columns, payload))
    for name in PAGES[:5]:
        test = page(name, [Source(f"{payload.replace('/', '-')}.csv", csv_of([hostile, failed(notes=payload)]))])
        assert errors(test) == []
        for element in test.markdown:
            outside = element.value
            # Whatever stands in a code span is inert; nothing of the payload may stand outside of one.
            assert "https://example.org" not in _outside_code(outside)
            assert "-badge[" not in _outside_code(outside)
            assert "<script" not in _outside_code(outside)


def _outside_code(text: str) -> str:
    """A markdown text without its code spans, fenced by one backtick or more."""
    kept, position = [], 0
    while (start := text.find("`", position)) >= 0:
        kept.append(text[position:start])
        fence = 0
        while start + fence < len(text) and text[start + fence] == "`":
            fence += 1
        end = text.find("`" * fence, start + fence)
        if end < 0:
            break
        position = end + fence
    kept.append(text[position:])
    return "".join(kept)


def test_a_filter_chooses_and_a_link_opens_the_pass() -> None:
    test = page("review.py", DESKS["all rejected"])
    test.query_params["row"] = "1-2"
    test.run()
    assert errors(test) == []
    assert any("3" in element.value for element in test.text)


def test_filters_in_a_link_open_the_same_rows_in_the_other_language() -> None:
    test = page("review.py", DESKS["all rejected"])
    test.pills(key="status_filter").set_value(["failed"]).run()
    assert test.query_params["status"] == "failed"
    other = AppTest.from_file(FRAME, default_timeout=60)
    other.session_state["lang"] = "fr"
    other.session_state["desk_uploads"] = test.session_state["desk_uploads"]
    other.session_state["desk_origin"] = "upload"
    other.run()
    other.switch_page("review.py")
    other.query_params["status"] = "failed"
    other.run()
    assert errors(other) == []
    assert "1 ligne sur 3" in [element.value for element in other.text]


def test_a_link_to_files_that_are_not_here_names_them_and_shows_nothing_else() -> None:
    test = AppTest.from_file(FRAME, default_timeout=60)
    test.session_state["lang"] = "en"
    test.query_params["sha"] = "0123456789ab"
    test.query_params["files"] = "results.csv:0123456789ab"
    test.run()
    assert "results.csv:0123456789ab" in test.warning[0].value
    assert len(test.title) == 0


def test_a_spreadsheets_export_is_converted_on_a_click_and_its_original_is_kept() -> None:
    french = (
        csv_of(five(notes="whole chain"))
        .decode()
        .replace(",", ";")
        .replace("12.481", "12,481")
        .replace("0.9", "0,9")
        .encode()
    )
    test = page("overview.py", [Source("export.csv", french)])
    button = next(button for button in test.button if button.key == "convert-0")
    button.click().run()
    assert errors(test) == []
    (paper,) = test.session_state["desk_uploads"]
    assert paper.source.name == "export-canonical.csv"
    assert paper.converted.data == french
    shown = " ".join(caption.value for caption in test.run().caption)
    assert "export-canonical.csv" in shown
    assert f"export.csv (SHA-256 {paper.converted.sha256[:12]}" in shown


def test_an_upload_stays_the_same_after_every_rerun() -> None:
    test = page("review.py", DESKS["one variant"])
    before = [caption.value for caption in test.caption]
    for severity in ("error", "warning", "notice"):
        test.multiselect(key="severity_filter").set_value([severity]).run()
    assert [caption.value for caption in test.caption][: len(before)] == before
    assert errors(test) == []


def test_two_sessions_with_one_file_name_see_their_own_rows() -> None:
    first = page("overview.py", [Source("results.csv", csv_of(five(experiment_id="exp-user-a")))])
    second = page("overview.py", [Source("results.csv", csv_of(five(experiment_id="exp-user-b")))])
    first.run()
    for test, own, other in ((first, "exp-user-a", "exp-user-b"), (second, "exp-user-b", "exp-user-a")):
        texts = " ".join(element.value for element in test.markdown)
        assert own in texts
        assert other not in texts


@pytest.mark.parametrize("name", PAGES)
def test_no_file_at_all_is_a_page_that_says_what_to_do(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        monkeypatch.setenv("GPUCOST_RESULTS", str(folder))
        test = page(name)
        assert errors(test) == []
        assert test.title[0].value == HEADINGS["en"][PAGES.index(name)]
        if name in ("overview.py", "review.py", "variants.py"):
            assert "No pass yet" in test.info[0].value
