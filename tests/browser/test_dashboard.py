"""The dashboard in a real browser: the review of a team, from the first address to a package price."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpucost.dashboard.security import HEADERS
from gpucost.folder import RunFolder
from tests.rows import csv_of, failed, five, row

pytestmark = pytest.mark.browser

PAGES = {
    "": "Overview",
    "review": "Review",
    "variants": "Variants",
    "packages": "Packages",
    "audit": "Audit",
    "measure": "Measure",
    "protocol": "Protocol",
}
WAIT_MS = 45_000


def open_page(browser: Any, address: str, **context: Any) -> Any:
    page = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 800}, **context).new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(address)
    page.wait_for_selector("h1")
    return page


def settled(page: Any) -> None:
    """Wait until the script has run to its end."""
    page.wait_for_function('!document.querySelector(\'[data-testid="stApp"][data-test-script-state="running"]\')')


@pytest.mark.parametrize("path", PAGES)
def test_each_page_by_its_own_address_is_the_first_request_of_a_fresh_server(
    browser: Any, fresh_server: Callable[..., str], path: str
) -> None:
    page = open_page(browser, f"{fresh_server()}/{path}")
    assert page.inner_text("h1") == PAGES[path]
    assert page.get_by_role("link", name="Variants").count() >= 1  # the frame is around it
    assert page.locator("[data-testid=stException]").count() == 0


def test_nothing_leaves_the_machine_and_nothing_is_said_in_the_console(browser: Any, server: str) -> None:
    context = browser.new_context(locale="fr-FR")
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    elsewhere: list[str] = []
    said: list[str] = []
    page.on("request", lambda r: elsewhere.append(r.url) if not r.url.startswith((server, "data:", "blob:")) else None)
    page.on("console", lambda m: said.append(m.text) if m.type == "error" and "404" not in m.text else None)
    page.goto(server)
    page.wait_for_selector("h1")
    for path in list(PAGES)[1:]:
        page.goto(f"{server}/{path}")
        page.wait_for_selector("h1")
        settled(page)
    assert elsewhere == []
    assert said == []


def test_the_headers_refuse_what_is_not_ours(server: str) -> None:
    with urllib.request.urlopen(server) as answer:
        policy = answer.headers["content-security-policy"]
    assert policy == HEADERS["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy  # no foreign address is ever allowed


def test_an_upload_without_the_cookie_of_the_protection_is_refused(server: str) -> None:
    request = urllib.request.Request(f"{server}/_stcore/upload_file/session/file", data=b"x", method="PUT")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code == 403


def rejected_csv() -> bytes:
    rows = [
        *five(accepted_unique_corpora="7"),
        row(
            variant_id="b32",
            batch="32",
            observed_ids="998",
            ids_match="false",
            corpus_accepted="false",
            accepted_unique_corpora="",
        ),
        failed(variant_id="b128", batch="128"),
    ]
    return csv_of(rows)


def upload(page: Any, path: Path) -> None:
    page.get_by_role("button", name="Upload files").click()
    page.locator("[data-testid=stFileUploaderDropzoneInput]").first.set_input_files(str(path))
    page.get_by_role("button", name="Put on the desk").click()
    page.get_by_text("Uploaded in this browser session").wait_for()


def test_a_team_uploads_a_csv_finds_the_rejected_pass_and_reads_a_package_price(
    browser: Any, fresh_server: Callable[..., str], tmp_path: Path
) -> None:
    tariff = tmp_path / "tariffs.csv"
    tariff.write_text(
        "provider,gpu_model,gpus_per_lot,duration_days,price_usd_minor_per_lot,valid_from,source\n"
        "north,B200,2,3,129600,2026-01-01,a list of the team\n"
    )
    address = fresh_server(GPUCOST_TARIFFS=str(tariff))
    results = tmp_path / "results.csv"
    results.write_bytes(rejected_csv())
    page = open_page(browser, address)
    upload(page, results)
    page.get_by_role("link", name="1 corpus rejected").click()
    page.wait_for_selector("h1:has-text('Review')")
    page.get_by_text("results.csv, row 6, line 7").wait_for()
    page.get_by_text("observed 998 of 1000 IDs").first.wait_for()
    settled(page)
    shared = page.url
    # The upload is kept over every page of the session, and the package is priced from its own rows.
    page.get_by_role("link", name="Packages").click()
    page.get_by_text("The whole price of each package").wait_for()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the computation").click()
    computation = json.loads(Path(download.value.path()).read_text())
    (package,) = computation["packages"]
    assert package["total_usd_minor"] == 129600
    assert package["usd_minor_per_accepted_corpus"] == "18514.2857"
    # A colleague without the file is told which one it is, and is shown no other.
    other = browser.new_context(locale="en-US").new_page()
    other.set_default_timeout(WAIT_MS)
    other.goto(shared)
    other.get_by_text("This link shows files that are not on this server").wait_for()
    assert "results.csv:" in other.inner_text("body")
    assert other.locator("h1").count() == 0


def test_a_run_folder_is_uploaded_whole_and_gives_the_evidence_of_its_outputs(
    browser: Any, server: str, tmp_path: Path
) -> None:
    labels = '{"id": "a", "label": "X"}\n{"id": "b", "label": "Y"}\n'
    folder = tmp_path / "run"
    (folder / "outputs").mkdir(parents=True)
    cells = row(expected_ids="2", observed_ids="2", quality_value="1", experiment_id="exp-of-a-folder")
    (folder / "results.csv").write_bytes(csv_of([cells]))
    (folder / "expected-ids.txt").write_text("a\nb\n")
    (folder / "reference.jsonl").write_text(labels)
    (folder / "outputs" / "b8-warm-1.jsonl").write_text(labels)
    page = open_page(browser, server)
    page.get_by_role("button", name="Upload files").click()
    page.locator("input[webkitdirectory]").set_input_files(str(folder))
    page.get_by_role("button", name="Put on the desk").click()
    page.get_by_text("Uploaded in this browser session").wait_for()
    page.get_by_text("accepted: b8 (recomputed from the individual outputs)").wait_for()
    page.get_by_text("run/results.csv").first.wait_for()


def test_a_shared_link_opens_the_same_pass_for_a_colleague(browser: Any, server: str) -> None:
    page = open_page(browser, server)
    page.get_by_role("link", name="6 passes failed in massive-fr-batch-cpu").click()
    page.get_by_text("row 8, line 9").wait_for()
    other = open_page(browser, page.url)
    other.get_by_text("row 8, line 9").wait_for()


def test_a_folder_of_the_server_is_shown_first(browser: Any, fresh_server: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_bytes(csv_of(five(experiment_id="exp-of-the-team")))
    page = open_page(browser, fresh_server(GPUCOST_RESULTS=str(tmp_path)))
    page.get_by_text("exp-of-the-team").first.wait_for()
    page.get_by_text("Folder of this server").first.wait_for()


def test_the_language_is_the_browsers_and_is_switched_in_place(browser: Any, server: str) -> None:
    page = browser.new_context(locale="fr-CA").new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(f"{server}/review")
    page.wait_for_selector("h1:has-text('Revue')")
    page.get_by_role("radio", name="English").or_(page.get_by_role("button", name="English")).first.click()
    page.wait_for_selector("h1:has-text('Review')")


def test_the_original_is_downloaded_byte_for_byte(browser: Any, server: str, tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + csv_of(five(notes="=SUM(1)")).replace(b"\n", b"\r\n")
    path = tmp_path / "results.csv"
    path.write_bytes(data)
    page = open_page(browser, server)
    upload(page, path)
    page.get_by_role("link", name="Review", exact=True).first.click()
    page.wait_for_selector("h1:has-text('Review')")
    page.get_by_role("button", name="Original files").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="results.csv").click()
    assert Path(download.value.path()).read_bytes() == data


def test_a_file_over_the_limit_is_refused_with_the_limit(browser: Any, server: str, tmp_path: Path) -> None:
    page = open_page(browser, server)
    page.get_by_role("button", name="Upload files").click()
    page.get_by_text("At most 200 MiB a file").wait_for()
    big = tmp_path / "big.csv"
    with big.open("wb") as file:
        file.truncate(201 * 2**20)
    page.locator("[data-testid=stFileUploaderDropzoneInput]").first.set_input_files(str(big))
    page.get_by_text("200").nth(1).wait_for()
    assert page.get_by_role("button", name="Put on the desk").count() == 0


def test_the_example_is_whole() -> None:
    example = Path(__file__).parent.parent.parent / "gpucost" / "example"
    names = [path for path in example.iterdir() if (path / "results.csv").is_file()]
    assert {RunFolder.on_disk(path).name for path in names} == {"massive-en-batch-cpu", "massive-fr-batch-cpu"}
