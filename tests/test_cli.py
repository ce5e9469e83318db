"""The command line as a person and a script meet it: real processes, exit statuses, one message where it cannot."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpucost.columns import HEADER
from tests.rows import csv_of, failed, five, row

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "gpucost" / "example"
TARIFF = (
    "provider,gpu_model,gpus_per_lot,duration_days,price_usd_minor_per_lot,valid_from,source\n"
    "demo,B200,2,3,129600,2031-01-01,test price\n"
)


def gpucost(*arguments: object, language: str = "en") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gpucost", *map(str, arguments), "--lang", language],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    path.write_bytes(csv_of([*five(), failed(variant_id="b64", batch="64")]))
    return path


def test_the_template_is_the_header_and_nothing_else(tmp_path: Path) -> None:
    assert gpucost("template").stdout == HEADER + "\n"
    target = tmp_path / "new.csv"
    assert gpucost("template", "-o", target).returncode == 0
    assert target.read_text() == HEADER + "\n"
    again = gpucost("template", "-o", target)
    assert (again.returncode, again.stdout) == (2, "")
    assert "exists already" in again.stderr


def test_check_prints_a_review_for_people(results: Path) -> None:
    done = gpucost("check", results)
    assert done.returncode == 1
    assert "12.481 s (median of 5 accepted of 5, 12.481–12.481)" in done.stdout
    assert "no time was recorded: out of memory" in done.stdout
    assert "comparable: only `batch` varies (8, 64)" in done.stdout
    assert "\x1b" not in done.stdout


def test_check_of_several_files_and_folders_is_one_review(results: Path) -> None:
    done = gpucost("check", results, EXAMPLE / "massive-fr-batch-cpu", "--json")
    report = json.loads(done.stdout)
    assert [file["name"] for file in report["files"]] == ["results.csv", "massive-fr-batch-cpu/results.csv"]
    assert report["counts"] == {"accepted": 5, "rejected": 18, "failed": 7, "invalid": 0, "setup": 9}
    assert {p["evidence"] for p in report["passes"] if p["file"] == "results.csv"} == {"row"}
    assert {p["evidence"] for p in report["passes"] if p["status"] == "rejected"} == {"outputs"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "missing.csv"], "missing.csv"),
        (["check", "tests"], "results.csv"),
        (["check"], "FILE"),
        (["chekc"], "chekc"),
        (["convert", "missing.csv", "-o", "out.csv"], "missing.csv"),
        (["packages", "--tariffs", "missing.csv"], "missing.csv"),
        (["packages", "--tariffs", "gpucost/example/tariffs.csv", "--lots", "1.5"], "1.5"),
        (["audit", "--expected", "README.md", "--outputs", "missing.jsonl"], "missing.jsonl"),
        (["audit", "--expected", "README.md", "--outputs", "README.md", "--metric", "wer", "--threshold", "1"], "wer"),
        (["audit", "--expected", "README.md", "--outputs", "README.md", "--threshold", "high"], "high"),
    ],
)
def test_what_cannot_be_done_is_one_message_and_exit_2(arguments: list[str], says: str) -> None:
    done = gpucost(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_convert_writes_the_canonical_file_and_never_its_input(tmp_path: Path) -> None:
    source = tmp_path / "export.csv"
    source.write_bytes(csv_of(five(notes="whole chain")).replace(b",", b";").replace(b"12.481", b"12,481"))
    before = source.read_bytes()
    assert gpucost("convert", source, "-o", source).returncode == 2
    refused = tmp_path / "refused.csv"
    mixed = gpucost("convert", source, "-o", refused)  # 0.9 beside 12,481
    assert (mixed.returncode, refused.exists()) == (1, False)
    source.write_bytes(before.replace(b"0.9", b"0,9"))
    target = tmp_path / "results.csv"
    done = gpucost("convert", source, "-o", target, "--json")
    changes = json.loads(done.stdout)["changes"]
    assert changes[0] == {"row": 1, "line": 2, "column": "quality_threshold", "before": "0,9", "after": "0.9"}
    assert gpucost("check", target).returncode == 0


def test_packages_with_a_tariff_and_a_typed_quantity(tmp_path: Path) -> None:
    path = tmp_path / "tariffs.csv"
    path.write_text(TARIFF)
    done = gpucost("packages", "--tariffs", path, "--gpu", "B200", "--lots", 3, "--accepted-results", 7, "--json")
    (package,) = json.loads(done.stdout)["packages"]
    assert (package["total_usd_minor"], package["gpus"]) == (388800, 6)
    assert package["usd_minor_per_accepted_result"] == "55542.8571"
    people = gpucost("packages", "--tariffs", path, "--accepted-results", 7)
    assert "same typed quantity" in people.stdout
    assert "nothing is cut into hours" in people.stdout


def test_check_against_a_tariff_names_both_sums(tmp_path: Path) -> None:
    tariff, results = tmp_path / "tariffs.csv", tmp_path / "results.csv"
    tariff.write_text(TARIFF)
    results.write_bytes(csv_of(five(lots="2")))
    report = json.loads(gpucost("check", results, "--tariffs", tariff, "--json").stdout)
    (finding,) = [f for f in report["findings"] if f["code"] == "package-against-tariff" and f["row"] == 1]
    assert "259200" in finding["message"]
    assert finding["value"] == "129600"


def test_audit_says_why_for_people_and_machines(tmp_path: Path) -> None:
    expected, outputs = tmp_path / "ids.txt", tmp_path / "out.jsonl"
    expected.write_text("a\nb\nc\n")
    outputs.write_text('{"id": "a", "label": "X"}\n{"id": "a", "label": "X"}\n{"id": "z", "label": "X"}\n')
    report = json.loads(gpucost("audit", "--expected", expected, "--outputs", outputs, "--json").stdout)
    assert report["missing"] == {"count": 2, "ids": ["b", "c"]}
    assert report["duplicate"] == {"count": 1, "ids": ["a"]}
    assert report["extra"] == {"count": 1, "ids": ["z"]}
    people = gpucost("audit", "--expected", expected, "--outputs", outputs)
    assert people.returncode == 1
    assert "b, c" in people.stdout


def test_the_corpus_refuses_outputs_that_leak_from_training(tmp_path: Path) -> None:
    folder = EXAMPLE / "massive-en-batch-cpu"
    split = tmp_path / "train.jsonl"
    split.write_bytes(b"".join(line + b"\n" for line in (folder / "reference.jsonl").read_bytes().splitlines()[:2]))
    done = gpucost(
        "audit", "--expected", folder / "expected-ids.txt", "--outputs", folder / "outputs" / "batch-1-cold-1.jsonl",
        "--reference", folder / "reference.jsonl", "--metric", "macro-f1", "--threshold", "0.85", "--not-in", split,
        "--json",
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert report["accepted"] is False
    assert report["leaks"]["ids"]["count"] == 2
    assert report["leaks"]["texts"]["count"] == 2


def test_rules_and_env_answer_people_and_machines() -> None:
    rules = json.loads(gpucost("rules", "--json").stdout)["rules"]
    assert {"code", "severity", "scope", "section", "title", "message", "remedy"} <= set(rules[0])
    assert rules[0]["code"] in gpucost("rules").stdout
    observed = json.loads(gpucost("env", "--json").stdout)
    assert observed["python_version"] == ".".join(map(str, sys.version_info[:3]))
    assert observed["cpu_count"] >= 1


def test_french_is_spoken_where_it_is_asked_for(results: Path) -> None:
    assert (
        "réussite" in gpucost("check", results, language="fr").stdout
        or "accepté" in gpucost("check", results, language="fr").stdout
    )
    assert "requis" in gpucost("check", language="fr").stderr


def test_a_terminal_of_another_alphabet_still_shows_every_row(results: Path) -> None:
    command = [sys.executable, "-m", "gpucost", "check", str(results), "--lang", "fr"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"12.481" in done.stdout


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(csv_of([row(run_index=str(run)) for run in range(3000)]))
    command = f"{sys.executable} -m gpucost check --json {path} | head -c 10"
    done = subprocess.run(["/bin/bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.stdout == '{"files":['
