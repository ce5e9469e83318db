"""The memory lesson: the order of its readings, the command, what it never says, and how its figures are drawn."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from gpucost.columns import BY_NAME, MEMORY
from gpucost.dashboard import charts
from gpucost.dashboard.memory_parts import memory_chart, offered_devices
from gpucost.language import LANGUAGES, Language, translator
from gpucost.measuring.devices import DeviceMissingError, Memory
from gpucost.measuring.memory_lesson import MEANINGS, REASONS, WIDTHS, Lesson, LessonFailedError, Mlp, lesson
from gpucost.terminal_measuring import BAR_WIDTH, print_memory

ROOT = Path(__file__).parent.parent.parent
BASELINE = Memory(22_102_048, 23_068_672)
PEAKS = Memory(60_000_000, 88_080_384)


@dataclass
class Recorder:
    """A device that writes down what it is asked, and whose allocator says given figures."""

    asked: list[str] = field(default_factory=list)
    name: str = "cpu"
    held: Memory = BASELINE
    highest: Memory = PEAKS

    def synchronize(self) -> None:
        self.asked.append("synchronize")

    def baseline(self) -> Memory:
        self.asked.append("baseline")
        return self.held

    def reset_peaks(self) -> None:
        self.asked.append("reset peaks")

    def peaks(self) -> Memory:
        self.asked.append("peaks")
        return self.highest


class FullDevice(Recorder):
    """A device whose driver refuses to wait."""

    def synchronize(self) -> None:
        raise RuntimeError("CUDA error: out of memory\nCompile with TORCH_USE_CUDA_DSA")


def learnt(baseline: Memory = BASELINE, peaks: Memory = PEAKS, device: str = "cuda:0") -> Lesson:
    return Lesson(
        device, "2.7.0", Mlp(WIDTHS, 5_263_368, 512), baseline.allocated_bytes, baseline.reserved_bytes,
        peaks.allocated_bytes, peaks.reserved_bytes,
    )  # fmt: skip


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gpucost", "memory", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def keys(value: object) -> set[str]:
    """Every key of a JSON value, however deep."""
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in keys(inner)}
    return {key for inner in value for key in keys(inner)} if isinstance(value, list) else set()


def unfolded(text: str) -> str:
    """A text without the folds of a terminal; its no-break spaces stay."""
    return re.sub(r"[ \n]+", " ", text)


def shown(capsys: pytest.CaptureFixture[str], of: Lesson, language: Language = "en") -> str:
    """What the terminal shows, each run of spaces and line ends as one space."""
    print_memory(of, translator(language))
    return unfolded(capsys.readouterr().out)


def bar_lengths(capsys: pytest.CaptureFixture[str], of: Lesson) -> dict[str, int]:
    """The length of each drawn bar, by the title before it."""
    print_memory(of, translator("en"))
    lines = capsys.readouterr().out.partition("On one axis")[2].partition("How to read them together")[0].splitlines()
    titles = [BY_NAME[name].title for name in MEMORY]
    return {
        title: sum(line.count(ink) for ink in "█▒#=") for line in lines for title in titles if line.startswith(title)
    }


def test_the_device_is_asked_in_the_order_of_the_protocol() -> None:
    device = Recorder()

    def watch(_layer: object, _inputs: object, output: torch.Tensor) -> None:
        device.asked.append("forward")
        output.register_hook(lambda _gradient: device.asked.append("backward"))

    hook = torch.nn.modules.module.register_module_forward_hook(watch)
    try:
        found = lesson("cpu", device)
    finally:
        hook.remove()
    asked = [one for place, one in enumerate(device.asked) if place == 0 or device.asked[place - 1] != one]
    assert asked == [
        "synchronize", "baseline", "reset peaks", "forward", "backward", "synchronize", "peaks",
    ]  # fmt: skip
    assert found.figures == {
        "baseline_allocated_bytes": 22_102_048,
        "baseline_reserved_bytes": 23_068_672,
        "peak_allocated_bytes": 60_000_000,
        "peak_reserved_bytes": 88_080_384,
    }


def test_zero_bytes_are_recorded_and_are_not_an_absence() -> None:
    found = lesson("cpu", Recorder(held=Memory(0, 0), highest=Memory(0, None)))
    assert list(found.figures.values()) == [0, 0, 0, None]


def test_the_model_is_described_as_it_ran() -> None:
    found = lesson("cpu")
    assert found.model.parameters == sum((before + 1) * after for before, after in pairwise(WIDTHS))
    assert (found.model.layers, found.model.batch) == (3, 512)


def test_a_lesson_is_read_back_from_its_json() -> None:
    for one in (learnt(), learnt(Memory(), Memory(), "cpu")):
        assert Lesson.of_json(json.loads(json.dumps(one.to_json()))) == one


def test_the_json_of_the_command_has_the_four_names_and_no_duration() -> None:
    done = command("--json", "--device", "cpu")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert list(told) == ["device", "torch_version", "model", *MEMORY]
    assert [told[name] for name in MEMORY] == [None, None, None, None]
    assert (told["device"], told["torch_version"]) == ("cpu", torch.__version__)
    assert told["model"] == {
        "layers": 3, "widths": list(WIDTHS), "parameters": 5_263_368, "batch": 512, "precision": "fp32",
    }  # fmt: skip
    timed = ("second", "time", "duration", "elapsed", "_ns", "_ms", "accepted")
    assert not [key for key in keys(told) for word in timed if word in key]


def test_what_the_command_prints_is_no_result_that_can_be_accepted(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(command("--json").stdout, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "gpucost", "check", str(path), "--json"], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert json.loads(done.stdout)["counts"]["accepted"] == 0


@pytest.mark.parametrize(
    ("language", "title", "unrecorded"),
    [("en", "Baseline allocated", "not recorded"), ("fr", "Baseline allouée", "non relevé")],
)
def test_the_command_on_a_processor_says_each_meaning_in_both_languages(
    language: Language, title: str, unrecorded: str
) -> None:
    done = command("--lang", language)
    assert (done.returncode, done.stderr) == (0, "")
    text = unfolded(done.stdout)
    to = translator(language)
    assert f"{title} {unrecorded}" in text
    for said in [lesson("cpu").unrecorded or "", *(one for reason in REASONS for one in reason)]:
        assert to.gettext(said) in text
    for meaning in MEANINGS.values():  # a cell is folded, so its words stand apart in the table
        assert " ".join(to.gettext(meaning).split()[:5]) in text
    assert not [ink for ink in "█▒" if ink in text]


@pytest.mark.parametrize("name", ["cuda:99", "xpu:99", "tpu", "cuda", "cuda:", "cuda:-1", "cuda:01", "CPU", ""])
def test_a_name_without_a_device_is_refused(name: str) -> None:
    with pytest.raises(DeviceMissingError):
        lesson(name)


@pytest.mark.parametrize(("name", "language"), [("cuda:99", "fr"), ("tpu", "en")])
def test_an_absent_device_ends_with_2_and_one_message(name: str, language: Language) -> None:
    done = command("--device", name, "--json", "--lang", language)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert name in done.stderr


def test_a_device_that_is_full_ends_with_one_line_that_says_so() -> None:
    with pytest.raises(LessonFailedError) as raised:
        lesson("cpu", FullDevice())
    assert str(raised.value) == "cpu: the memory lesson could not run: CUDA error: out of memory"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_on_a_gpu_allocated_is_inside_reserved_and_the_baseline_inside_the_peak() -> None:
    done = command("--json", "--device", "cuda:0")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert 0 < told["baseline_allocated_bytes"] <= told["baseline_reserved_bytes"] <= told["peak_reserved_bytes"]
    assert told["baseline_allocated_bytes"] < told["peak_allocated_bytes"] <= told["peak_reserved_bytes"]


def test_the_bars_share_one_axis_from_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert bar_lengths(capsys, learnt(Memory(250, 500), Memory(750, 1000))) == {
        "Baseline allocated": BAR_WIDTH // 4,
        "Baseline reserved": BAR_WIDTH // 2,
        "Peak allocated": BAR_WIDTH * 3 // 4,
        "Peak reserved": BAR_WIDTH,
    }


def test_a_bar_is_empty_for_zero_only_and_absent_where_nothing_was_recorded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert bar_lengths(capsys, learnt(Memory(0, 1), Memory(10**15, None))) == {
        "Baseline allocated": 0, "Baseline reserved": 1, "Peak allocated": BAR_WIDTH,
    }  # fmt: skip
    assert bar_lengths(capsys, learnt(Memory(0, 0), Memory(0, 0))) == dict.fromkeys(
        (BY_NAME[name].title for name in MEMORY), 0
    )
    assert bar_lengths(capsys, learnt(Memory(), Memory(), "cpu")) == {}


def test_the_terminal_shows_every_digit_and_no_sum_or_difference(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, learnt())
    figures = [22_102_048, 23_068_672, 60_000_000, 88_080_384]
    for name, figure in zip(MEMORY, figures, strict=True):
        assert f"{BY_NAME[name].title} {figure} " in text
    for one in figures:
        for other in figures:
            assert str(one + other) not in text
            assert one == other or str(abs(one - other)) not in text
    assert "not recorded" not in text


def test_a_figure_that_mps_lacks_is_said_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, learnt(Memory(5_000_000, None), Memory(), "mps"), "fr")
    assert "Baseline allouée 5000000 " in text
    assert text.count("non relevé") >= 3
    assert translator("fr").gettext(learnt(Memory(1, None), Memory(), "mps").unrecorded or "?") in text


INK = charts.Ink("#000", "#555", {"allocated": "#1059DB", "reserved": "#BB4C04"})
WORDS = {name: BY_NAME[name].title for name in MEMORY}


def test_the_chart_is_points_on_one_axis_and_stacks_nothing() -> None:
    chart = memory_chart(learnt().figures, WORDS, ("bytes", "figure"), INK, description="four figures").to_dict()
    assert chart["mark"]["type"] == "point"
    assert "stack" not in json.dumps(chart)
    assert "aggregate" not in json.dumps(chart)
    assert chart["encoding"]["x"]["scale"] == {"zero": True}
    assert chart["encoding"]["y"]["sort"] == list(WORDS.values())
    assert chart["description"] == "four figures"
    (drawn,) = chart["datasets"].values()
    assert [(point["word"], point["bytes"], point["exact"]) for point in drawn] == [
        (WORDS[name], figure, str(figure)) for name, figure in learnt().figures.items()
    ]


def test_the_chart_leaves_out_what_was_not_recorded_and_keeps_zero() -> None:
    partial = learnt(Memory(0, None), Memory(7, None))
    chart = memory_chart(partial.figures, WORDS, ("bytes", "figure"), INK, description="two").to_dict()
    (drawn,) = chart["datasets"].values()
    assert [(point["word"], point["bytes"]) for point in drawn] == [("Baseline allocated", 0), ("Peak allocated", 7)]


def test_the_page_offers_the_processor_and_the_gpus_that_have_a_node(tmp_path: Path) -> None:
    assert offered_devices(tmp_path) == ("cpu",)
    for name in ("nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm", "nvidia0x"):
        (tmp_path / name).touch()
    assert offered_devices(tmp_path) == ("cpu", "cuda:0", "cuda:1")


def page() -> None:
    from gpucost.dashboard.memory_parts import memory_lesson

    memory_lesson()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_runs_the_lesson_and_shows_what_was_not_recorded(
    language: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUCOST_LOCKS", str(tmp_path))
    to = translator(language)
    test = AppTest.from_function(page, default_timeout=180)
    test.session_state["lang"] = language
    test.run()
    assert not test.exception
    assert list(test.table[0].value.iloc[:, 1]) == [to.gettext("not run yet")] * 4
    test.button(key="memory_run").click().run()
    assert not test.exception
    assert not test.warning
    assert list(test.table[0].value.iloc[:, 1]) == [to.gettext("not recorded")] * 4
    assert list(test.table[0].value.iloc[:, 0]) == [to.gettext(word) for word in WORDS.values()]
    assert to.gettext(lesson("cpu").unrecorded or "") in [element.value for element in test.text]
    assert not test.get("vega_lite_chart")


def test_without_pytorch_the_lesson_and_the_page_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="needs PyTorch"):
        lesson("cpu")
    test = AppTest.from_function(page, default_timeout=60)
    test.session_state["lang"] = "en"
    test.run()
    test.button(key="memory_run").click().run()
    assert not test.exception
    assert "PyTorch is not installed" in test.warning[0].value


def test_the_page_draws_what_was_recorded() -> None:
    test = AppTest.from_function(page, default_timeout=60)
    test.session_state["lang"] = "en"
    test.session_state["memory_lesson"] = learnt()
    test.run()
    assert not test.exception
    assert list(test.table[0].value.iloc[:, 1]) == [str(figure) for figure in learnt().figures.values()]
    (chart,) = test.get("vega_lite_chart")
    assert "Peak reserved 88080384" in json.loads(chart.proto.spec)["description"]


def page_that_may_not_launch() -> None:
    from gpucost.dashboard.memory_parts import memory_lesson

    memory_lesson(allowed=False)


def test_a_page_that_may_start_nothing_names_the_command() -> None:
    test = AppTest.from_function(page_that_may_not_launch, default_timeout=60)
    test.session_state["lang"] = "en"
    test.run()
    assert not test.exception
    assert not test.button
    assert test.code[0].value == "gpucost memory"
