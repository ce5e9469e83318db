"""The protocol file: what keeps one from being sealed, said with its key, its line, its value and the remedy, in both
languages."""

import hashlib
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from gpucost.language import LANGUAGES, translator
from gpucost.measuring.preparation import RefusedError, load_protocol, prepare
from gpucost.protocol import Problem, read_protocol
from tests.measuring.runs import PROTOCOL, Desk, write_protocol

TEMPLATES = Path(__file__).parent.parent.parent / "gpucost" / "templates"
UNFILLED = [
    "corpus.source", "corpus.licence", "corpus.verified_by", "corpus.training", "corpus.tuning",
    "quality.threshold", "quality.tolerance", "quality.reference_value", "quality.tolerance_meaning",
]  # fmt: skip


def problems_of(text: str) -> tuple[Problem, ...]:
    read = read_protocol("protocol.toml", text.encode())
    assert read.sealable == (not read.problems)
    return read.problems


def changed(before: str, after: str) -> str:
    assert PROTOCOL.count(before) == 1, before
    return PROTOCOL.replace(before, after)


def line_of(text: str, start: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.startswith(start))


def assert_said_in_both_languages(problem: Problem) -> None:
    english, french = (problem.to_json(translator(language)) for language in ("en", "fr"))
    for part in ("message", "remedy"):
        assert english[part]
        assert english[part] != french[part]
        assert not re.search(r"[{}]", english[part] + french[part])
    assert english["key"] == french["key"] == problem.key


def test_the_protocol_of_the_tests_is_sound() -> None:
    assert problems_of(PROTOCOL) == ()
    assert problems_of("\ufeff" + PROTOCOL) == ()
    assert problems_of(PROTOCOL.replace("\n", "\r\n")) == ()
    read = read_protocol("protocol.toml", PROTOCOL.encode())
    assert read.sha256 == hashlib.sha256(PROTOCOL.encode()).hexdigest()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_protocol_lacks_exactly_what_has_no_universal_value(language: str, desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "protocol.toml"
    made = desk.run("protocol", "new", "-o", target, "--lang", language)
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    text = target.read_text(encoding="utf-8")
    assert text == desk.run("protocol", "new", "--lang", language).stdout
    found = problems_of(text)
    assert [problem.key for problem in found] == UNFILLED
    assert {problem.value for problem in found} == {None}
    headers = {"corpus": line_of(text, "[corpus]"), "quality": line_of(text, "[quality]")}
    assert [problem.line for problem in found] == [headers[name.partition(".")[0]] for name in UNFILLED]
    again = desk.run("protocol", "new", "-o", target, "--lang", language)
    assert again.returncode == 2
    assert target.read_text(encoding="utf-8") == text


def uncommented(text: str) -> str:
    """A template with every commented key made a key."""
    return re.sub(r"^# (\[?[a-z_]+(?:\]| = ))", r"\1", text, flags=re.MULTILINE)


def test_the_two_templates_hold_the_same_keys_and_values() -> None:
    read = [(TEMPLATES / f"protocol.{language}.toml").read_text(encoding="utf-8") for language in ("en", "fr")]
    english, french = (tomllib.loads(uncommented(text)) for text in read)
    told = {"useful_unit", "question"}
    for table in english:
        if table != "version":
            assert list(english[table]) == list(french[table])
            for key, value in english[table].items():
                assert (french[table][key] == value) == (key not in told), key
    assert list(english) == list(french)
    assert {"code", "package"} <= set(english)
    assert {"direction", "isolation", "memory_limit_bytes", "allow_download", "head"} <= {
        key for table in english.values() if isinstance(table, dict) for key in table
    }


def test_a_filled_template_is_sound() -> None:
    text = uncommented((TEMPLATES / "protocol.en.toml").read_text(encoding="utf-8"))
    for key in ("source", "licence", "verified_by", "tolerance_meaning", "revision"):
        text = text.replace(f'{key} = ""', f'{key} = "said"')
    assert problems_of(text) == ()


NUMBER = "a decimal number is due"
WHOLE = "a whole number is due"
TEXT = "a text is due, not empty and without a space around it"
FAULTS = [
    # before, after, key, start of its line, value, part of the message
    ("seed = 7", "sede = 7", "configuration.sede", "sede", "7", "is not a key of the protocol"),
    ("[variable]", "[variables]\nx = 1\n[variable]", "variables", "[variables]", "{'x': 1}", "is not a key"),
    ("threshold = 0.9\n", "", "quality.threshold", "[quality]", None, "is not filled"),
    ("tolerance = 0.02\n", "", "quality.tolerance", "[quality]", None, "is not filled"),
    ("context = 64\n", "", "configuration.context", None, None, "is not filled"),
    ("threshold = 0.9", 'threshold = "0.9"', "quality.threshold", "threshold", '"0.9"', NUMBER),
    ("threshold = 0.9", "threshold = true", "quality.threshold", "threshold", "True", NUMBER),
    ("threshold = 0.9", "threshold = 90", "quality.threshold", "threshold", "90", "percent or fraction?"),
    ("threshold = 0.9", "threshold = nan", "quality.threshold", "threshold", "NaN", NUMBER),
    ("threshold = 0.9", "threshold = inf", "quality.threshold", "threshold", "Infinity", NUMBER),
    ("tolerance = 0.02", "tolerance = nan", "quality.tolerance", "tolerance ", "NaN", NUMBER),
    ("tolerance = 0.02", "tolerance = -0.02", "quality.tolerance", "tolerance ", "-0.02", "it is below 0"),
    ("reference_value = 1.0", "reference_value = 95.5", "quality.reference_value", "reference_value", "95.5", "percent"),
    ("seed = 7", "seed = -7", "configuration.seed", "seed", "-7", "it is below 0"),
    ("seed = 7", 'seed = "7"', "configuration.seed", "seed", '"7"', WHOLE),
    ("seed = 7", "seed = 7\nbatch = 4", "configuration.batch", "batch", "4", "is the announced variable"),
    ("warm = 2", "warm = 0", "passes.warm", "warm ", "0", "it is below 1"),
    ("warm = 2", "warm = 2.5", "passes.warm", "warm ", "2.5", WHOLE),
    ("values = [1, 4]", "values = [1, 1]", "variable.values", "values", None, "stands twice"),
    ("values = [1, 4]", "values = []", "variable.values", "values", "[]", "it holds 0 values where 1 are due"),
    ("values = [1, 4]", "values = [1, 0]", "variable.values", "values", "0", "0 is not a value of `batch`"),
    ("values = [1, 4]", "values = [4, true]", "variable.values.1", "values", "True", WHOLE),
    ("values = [1, 4]", 'values = [1, "four"]', "variable.values", "values", "four", "four is not a value of `batch`"),
    ('name = "batch"', 'name = "gpu"', "variable.name", "name", "gpu", "not one of 'batch', 'precision', 'context', 's"),
    ('scope = "processing"', 'scope = "all"', "passes.scope", "scope", "all", "it is not one of 'processing', 'whole-"),
    ('device = "cpu"', 'device = "gpu"', "configuration.device", "device", "gpu", "not one of cpu, cuda:0, cuda:1, xpu"),
    ('id = "letters-batch"', 'id = ""', "experiment.id", "id", "", TEXT),
    ('id = "letters-batch"', 'id = " x"', "experiment.id", "id", "␣x", TEXT),
    ('id = "letters-batch"', "id = 7", "experiment.id", "id", "7", TEXT),
    ('training = ["train.jsonl"]', 'training = "train.jsonl"', "corpus.training", "training", "train.jsonl", "a list"),
    ('fault = "none"', "fault = [1]", "model.options.fault", "fault", "[1]", TEXT),
    ('"delivery", "refund"', '"delivery", "billing"', "output.classes", "classes", "billing", "billing stands twice"),
    (', "delivery", "refund"', "", "output.classes", "classes", "['billing']", "it holds 1 values where 2 are due"),
    ('"macro-f1"', '"our-score"', "quality.direction", None, None, "our-score is not a known metric"),
    ('"macro-f1"', '"accuracy"\ndirection = "less"', "quality.direction", "direction", "less", "is the other one"),
    ('"faulty"', '"memory"', "model.workload", "workload", "memory", "the synthetic MLP teaches how to read memory"),
    ('"faulty"', '"faulty"\npath = "m"\npackage = "p"', "model.package", "package", "p", "both name a model"),
    ('name = "batch"', 'name = "seed"', "configuration.batch", None, None, "is not filled"),
    ("version = 1", "version = 2", "version", "version", "2", "it is not one of 1"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "key", "start", "value", "message"), FAULTS, ids=lambda v: str(v)[:24])
def test_a_fault_is_said_with_its_key_its_line_its_value_and_the_remedy(
    before: str, after: str, key: str, start: str | None, value: str | None, message: str
) -> None:
    text = changed(before, after)
    found = [problem for problem in problems_of(text) if problem.key == key]
    assert len(found) == 1
    problem = found[0]
    assert problem.line == (None if start is None else line_of(text, start))
    assert problem.value == value
    assert message in problem.message.render(translator("en"))
    assert_said_in_both_languages(problem)


def test_every_fault_is_said_at_once() -> None:
    text = (
        PROTOCOL.replace("threshold = 0.9", "threshold = nan").replace("seed = 7", "sede = 7").replace("warm = 2", "")
    )
    assert [problem.key for problem in problems_of(text)] == ["quality.threshold", "configuration.sede"]
    text = PROTOCOL.replace("threshold = 0.9", "threshold = 90").replace("[1, 4]", "[1, 1]")
    assert [problem.key for problem in problems_of(text)] == ["variable.values", "quality.threshold"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (changed("warm = 2", 'warm = 2\nisolation = "one-process"').replace('name = "batch"', 'name = "seed"')
         .replace("seed = 7", "batch = 4"), "passes.isolation"),
        (changed("warm = 2", "warm = 2\nmemory_limit_bytes = 9").replace('"cpu"', '"cuda:0"'),
         "passes.memory_limit_bytes"),
        (changed("values = [1, 4]", 'values = ["fp32", "int8"]').replace('name = "batch"', 'name = "precision"')
         .replace('precision = "fp32"', "batch = 4"), "variable.values"),
    ],
)  # fmt: skip
def test_what_each_key_allows_and_the_whole_does_not(text: str, key: str) -> None:
    found = problems_of(text)
    assert [problem.key for problem in found] == [key]
    assert found[0].line == line_of(text, key.rpartition(".")[2])
    assert_said_in_both_languages(found[0])


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"\xff\xfev\x00", None, "the file is not UTF-8 (byte 1)"),
        ("# caf\u00e9\n".encode("latin-1"), None, "the file is not UTF-8 (byte 6)"),
        (changed("[variable]", "[variable").encode(), 40, "the file is not valid TOML"),
        (
            changed("seed = 7", "seed = 7\nseed = 8").encode(),
            38,
            "the file is not valid TOML: Cannot overwrite a value",
        ),
        (changed('licence = "CC0-1.0"', "licence = CC0").encode(), 12, "the file is not valid TOML"),
    ],
)
def test_a_file_that_is_no_toml_is_said_so_with_its_line(data: bytes, line: int | None, message: str) -> None:
    read = read_protocol("protocol.toml", data)
    assert read.protocol is None
    assert len(read.problems) == 1
    assert (read.problems[0].key, read.problems[0].line) == ("", line)
    assert message in read.problems[0].message.render(translator("en"))
    assert_said_in_both_languages(read.problems[0])


# What the protocol names.

Edit = Callable[[str], str]


def without_first(text: str) -> str:
    return text.partition("\n")[2]


def first_again(text: str) -> str:
    return text + text.partition("\n")[0] + "\n"


def leaked(name: str, text: str) -> Edit:
    return lambda before: before + json.dumps({"id": name, "text": text, "label": "refund"}) + "\n"


FILES = [
    # file, edit, key, value, message
    ("train.jsonl", leaked("t003", "other"), "corpus.training", "train.jsonl", "shares 1 IDs with the evaluation: t003"),
    ("train.jsonl", leaked("a9", "letter 3 about billing"), "corpus.training", "train.jsonl",
     "shares 1 texts with the evaluation, those of: t003"),
    ("train.jsonl", lambda _: "", "corpus.training", "train.jsonl", "holds no ID and no text to compare"),
    ("reference.jsonl", without_first, "corpus.reference", "reference.jsonl", "the reference lacks 1 expected ID: t000"),
    ("reference.jsonl", first_again, "corpus.reference", "reference.jsonl", "the reference repeats 1 ID: t000"),
    ("reference.jsonl", lambda text: text.replace("billing", "marketing", 1), "corpus.reference", "reference.jsonl",
     "the reference holds labels outside the classes: marketing"),
    ("ids.txt", first_again, "corpus.expected_ids", "ids.txt", "the expected list repeats 1 ID: t000"),
    ("texts.jsonl", without_first, "corpus.texts", "texts.jsonl", "expected IDs have no text: t000"),
    ("texts.jsonl", lambda text: text + '{"id": "zz", "text": "x"}\n', "corpus.texts", "texts.jsonl",
     "texts are not expected: zz"),
    ("texts.jsonl", first_again, "corpus.texts", "t000", "texts.jsonl, line 13: the ID t000 stands again"),
    ("texts.jsonl", lambda text: text.replace('"text"', '"texte"', 1), "corpus.texts", "t000",
     "texts.jsonl, line 1: it has no `text`"),
]  # fmt: skip


def refused(protocol: Path) -> tuple[Problem, ...]:
    with pytest.raises(RefusedError) as caught:
        prepare(*load_protocol(protocol), protocol.parent)
    return caught.value.problems


@pytest.fixture
def here(registered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workloads of the tests, registered in this process."""
    monkeypatch.syspath_prepend(str(registered))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "edit", "key", "value", "message"), FILES)
def test_a_corpus_that_would_make_a_run_worthless_is_refused_before_it(
    name: str, edit: Edit, key: str, value: str, message: str, tmp_path: Path
) -> None:
    protocol = write_protocol(tmp_path)
    path = tmp_path / name
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    found = [problem for problem in refused(protocol) if problem.key == key]
    assert message in found[0].message.render(translator("en"))
    assert (found[0].line, found[0].value) == (line_of(PROTOCOL, key.partition(".")[2]), value)
    assert_said_in_both_languages(found[0])


@pytest.mark.usefixtures("here")
def test_a_leak_from_the_tuning_split_is_the_tuning_split_s(tmp_path: Path) -> None:
    protocol = write_protocol(tmp_path, ("tuning = []", 'tuning = ["tune.jsonl"]'))
    (tmp_path / "tune.jsonl").write_text(leaked("t003", "other")(""), encoding="utf-8")
    assert [(problem.key, problem.value) for problem in refused(protocol)] == [("corpus.tuning", "tune.jsonl")]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["texts.jsonl", "ids.txt", "reference.jsonl", "train.jsonl"])
def test_a_file_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    protocol = write_protocol(tmp_path)
    (tmp_path / name).unlink()
    found = refused(protocol)
    assert [problem.value for problem in found] == [name]
    assert f"{tmp_path / name} cannot be read" in found[0].message.render(translator("en"))
    assert found[0].line == next(n for n, line in enumerate(PROTOCOL.splitlines(), 1) if f'"{name}"' in line)


NAMED = [
    ('"faulty"', '"unheard-of"', "model.workload", "no workload named unheard-of is registered; these are: text-class"),
    ('"faulty"', '"text-classification"', "model.path", "the workload text-classification needs a model folder or a"),
    ('"faulty"', '"text-classification"\npath = "nowhere"', "model.path", "nowhere is not a folder"),
    ('"faulty"', '"text-classification"\npath = "org/model"\nallow_download = true', "model.revision",
     "org/model is fetched from a hub, which needs a fixed revision"),
    ('"faulty"', '"embedding-head"\npackage = "no_such_package"', "model.package", "no_such_package is not installed"),
    ('"faulty"', '"embedding-head"\npath = "."\nhead = "head.json"', "model.head", "head.json is not a file"),
    ('"faulty"', '"embedding-head"\npath = "."\ntokenizer = "tok"', "model.tokenizer", "tok does not exist"),
    ("[passes]", '[code]\npath = "nowhere"\n\n[passes]', "code.path", "nowhere is not a folder"),
    ('"macro-f1"', '"our-score"\ndirection = "more"', "quality.metric", "the metric our-score cannot be computed here"),
]  # fmt: skip


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("before", "after", "key", "message"), NAMED)
def test_a_model_or_a_code_that_is_not_there_is_refused(
    before: str, after: str, key: str, message: str, tmp_path: Path
) -> None:
    protocol = write_protocol(tmp_path, (before, after))
    found = refused(protocol)
    assert [problem.key for problem in found] == [key]
    assert message in found[0].message.render(translator("en"))


# The command.


def test_protocol_check_says_what_would_run(desk: Desk, tmp_path: Path) -> None:
    protocol = write_protocol(tmp_path)
    done = desk.run("protocol", "check", protocol, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert set(told) == {
        "file", "sha256", "sealable", "problems", "passes", "corpus_revision", "model_revision", "tokenizer_revision",
    }  # fmt: skip
    assert (told["file"], told["sealable"], told["problems"]) == ("protocol.toml", True, [])
    assert told["sha256"] == hashlib.sha256(protocol.read_bytes()).hexdigest()
    assert told["corpus_revision"].startswith("sha256:")
    assert told["model_revision"].startswith("faulty-workload-0.0.1-sha256:")
    assert [f"{one['variant_id']} {one['phase']} {one['run_index']}" for one in told["passes"]] == [
        "batch-1 cold 1", "batch-4 cold 1", "batch-1 warm 1", "batch-4 warm 1", "batch-1 warm 2", "batch-4 warm 2",
    ]  # fmt: skip
    people = desk.run("protocol", "check", protocol)
    assert people.returncode == 0
    assert told["sha256"] in people.stdout
    assert "batch-4 warm 2" in people.stdout


@pytest.mark.parametrize("language", LANGUAGES)
def test_protocol_check_lists_every_problem(language: str, desk: Desk, tmp_path: Path) -> None:
    protocol = write_protocol(tmp_path, ("threshold = 0.9", "threshold = 90"), ("[1, 4]", "[4, 4]"))
    done = desk.run("protocol", "check", protocol, "--json", "--lang", language)
    assert (done.returncode, done.stderr) == (1, "")
    told = json.loads(done.stdout)
    assert (told["sealable"], told["passes"], told["model_revision"]) == (False, [], None)
    assert [(one["key"], one["line"], one["value"]) for one in told["problems"]] == [
        ("variable.values", 42, None), ("quality.threshold", 22, "90"),
    ]  # fmt: skip
    assert set(told["problems"][0]) == {"key", "line", "value", "message", "remedy"}
    people = desk.run("protocol", "check", protocol, "--lang", language)
    assert people.returncode == 1
    assert "quality.threshold" in people.stdout
    refusal = desk.run("measure", protocol, "--out", tmp_path / "run", "--lang", language)
    assert (refusal.returncode, refusal.stdout) == (2, "")
    assert "quality.threshold" in refusal.stderr
    assert not (tmp_path / "run").exists()


def test_protocol_check_of_a_leak_finds_it_and_of_no_file_cannot(desk: Desk, tmp_path: Path) -> None:
    protocol = write_protocol(tmp_path)
    with (tmp_path / "train.jsonl").open("a", encoding="utf-8") as file:
        file.write(leaked("t003", "other")(""))
    leak = desk.run("protocol", "check", protocol, "--json")
    assert leak.returncode == 1
    assert [one["key"] for one in json.loads(leak.stdout)["problems"]] == ["corpus.training"]
    absent = desk.run("protocol", "check", tmp_path / "nowhere.toml", "--json")
    assert (absent.returncode, absent.stdout) == (2, "")
    assert absent.stderr == f"gpucost: cannot read {tmp_path / 'nowhere.toml'}: no such file\n"
