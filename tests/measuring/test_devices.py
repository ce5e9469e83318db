"""What a measurement asks of a device: which calls, in which order, and always of the announced one.

The fake PyTorch keeps memory figures as CUDA's allocator does. The tests marked `gpu` ask a real one.
"""

import gc
import importlib.util
import inspect
import json
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gpucost.measuring import stopwatch
from gpucost.measuring.concurrency import gpu_processes
from gpucost.measuring.devices import (
    Accelerator,
    Cpu,
    DeviceMissingError,
    Memory,
    Metal,
    describe_device,
    is_memory_overflow,
    open_device,
)
from gpucost.measuring.locks import physical_name
from gpucost.measuring.stopwatch import WorkFailedError, time_work
from gpucost.measuring.worker import _told, _Work
from tests.measuring.runs import TESTS, Desk, events_of, passes_of, rows_of, wait_until, write_protocol

FAKE = TESTS / "measuring" / "fake_torch"
MIB = 1 << 20
MEMORY = ("baseline_allocated_bytes", "baseline_reserved_bytes", "peak_allocated_bytes", "peak_reserved_bytes")
ON_GPU = (("warm = 2", "warm = 1"), ('device = "cpu"', 'device = "cuda:1"'))


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The fake PyTorch, with devices as they are when a process begins."""
    found = importlib.util.spec_from_file_location("torch", FAKE / "torch.py")
    assert found is not None
    assert found.loader is not None
    made = importlib.util.module_from_spec(found)
    monkeypatch.setitem(sys.modules, "torch", made)
    found.loader.exec_module(made)
    return made


@pytest.fixture
def device(torch: Any) -> Accelerator:
    found = open_device("cuda:1")
    assert isinstance(found, Accelerator)
    return found


class Clock:
    """Clock readings among the calls of a device."""

    def __init__(self, calls: list[Any]) -> None:
        self._calls = calls

    def perf_counter_ns(self) -> int:
        self._calls.append("clock")
        return time.perf_counter_ns()

    def process_time_ns(self) -> int:
        return time.process_time_ns()


def test_the_order_of_the_calls_and_their_device(
    device: Accelerator, torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    calls = torch.cuda.calls
    monkeypatch.setattr(stopwatch, "time", Clock(calls))
    time_work(device, lambda: calls.append("work"), lambda _baseline: calls.append("told"))
    assert calls == [
        ("synchronize", "cuda:1"),
        ("memory_allocated", "cuda:1"),
        ("memory_reserved", "cuda:1"),
        "told",
        ("reset_peak_memory_stats", "cuda:1"),
        "clock",
        "work",
        ("synchronize", "cuda:1"),
        "clock",
        ("max_memory_allocated", "cuda:1"),
        ("max_memory_reserved", "cuda:1"),
    ]


def test_the_figures_are_those_of_the_announced_device_alone(device: Accelerator, torch: Any) -> None:
    other = torch.empty(700 * MIB, dtype=torch.uint8, device="cuda:0")
    timing = time_work(device, lambda: torch.empty(5 * MIB, dtype=torch.uint8, device="cuda:1"))
    assert timing.baseline == Memory(MIB, 2 * MIB)
    assert timing.peaks == Memory(6 * MIB, 6 * MIB)
    del other


def test_the_peaks_are_not_those_of_the_pass_before(device: Accelerator, torch: Any) -> None:
    """Case 64."""
    first = time_work(device, lambda: torch.empty(1000 * MIB, dtype=torch.uint8, device="cuda:1"))
    assert first.peaks.allocated_bytes == 1001 * MIB
    second = time_work(device, lambda: torch.empty(256 * MIB, dtype=torch.uint8, device="cuda:1"))
    assert second.baseline.allocated_bytes == MIB
    assert second.peaks.allocated_bytes == 257 * MIB
    assert second.peaks.reserved_bytes == second.baseline.reserved_bytes == 1001 * MIB


def test_garbage_is_collected_before_the_clock_and_never_during_the_work() -> None:
    class Ring:
        def __init__(self) -> None:
            self.itself = self

    ring = weakref.ref(Ring())
    seen = []
    time_work(Cpu(), lambda: seen.append((ring(), gc.isenabled())))
    assert seen == [(None, False)]
    assert gc.isenabled()
    with pytest.raises(WorkFailedError):
        time_work(Cpu(), lambda: 1 / 0)
    assert gc.isenabled()
    gc.disable()
    try:
        time_work(Cpu(), lambda: None)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_overflow_keeps_the_baseline_and_the_peaks(device: Accelerator, torch: Any) -> None:
    def work() -> None:
        held = torch.empty(600 * MIB, dtype=torch.uint8, device="cuda:1")
        torch.empty(600 * MIB, dtype=torch.uint8, device="cuda:1")
        del held

    with pytest.raises(WorkFailedError) as caught:
        time_work(device, work)
    assert is_memory_overflow(caught.value.error)
    assert caught.value.baseline == Memory(MIB, 2 * MIB)
    assert caught.value.peaks == Memory(601 * MIB, 601 * MIB)
    assert [device for _name, device in torch.cuda.calls] == ["cuda:1"] * len(torch.cuda.calls)


def test_a_device_that_answers_no_more_leaves_the_peaks_empty(device: Accelerator, torch: Any) -> None:
    def broken(device: str) -> int:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    torch.cuda.max_memory_allocated = broken
    with pytest.raises(WorkFailedError) as caught:
        time_work(device, lambda: 1 / 0)
    assert isinstance(caught.value.error, ZeroDivisionError)
    assert caught.value.peaks == Memory()


class Variants:
    """Case 65 as a workload: each batch takes some memory in the frames of its call, and one takes too much."""

    def __init__(self, torch: Any, device: str) -> None:
        self._torch, self._device = torch, device
        self.held: list[weakref.ref[Any]] = []

    def load(self, settings: Any) -> None:
        pass

    def classify(self, batch: Any) -> list[str]:
        def take() -> Any:
            return self._torch.empty(step, dtype=self._torch.uint8, device=self._device)

        total = self._torch.cuda.get_device_properties(int(self._device.partition(":")[2])).total_memory
        step, kept = total // 10, []
        for _ in range({1: 3, 2: 14, 3: 8}[len(batch)]):
            kept.append(take())
            self.held.append(weakref.ref(kept[-1]))
        return ["billing"] * len(batch)

    def describe(self) -> dict[str, Any]:
        return {}


def three_variants(device: Any, torch: Any, folder: Path) -> tuple[list[dict[str, Any]], Variants]:
    """What a worker says of three passes in one process, of which the second overflows."""
    said: list[dict[str, Any]] = []
    (folder / "texts.jsonl").write_text('{"id": "a", "text": "x"}\n' * 6, encoding="utf-8")
    order = {"texts": str(folder / "texts.jsonl"), "batch": 1, "seed": 0, "scope": "whole-chain"}
    workload = Variants(torch, device.name)
    work = _Work(workload, device, order, said.append)
    for batch in (1, 2, 3):
        work.run_pass({"batch": batch, "outputs": str(folder / f"{batch}.jsonl")})
        assert [ref for ref in workload.held if ref() is not None] == []
    return said, workload


def test_the_memory_of_an_overflow_is_free_before_the_next_variant(
    device: Accelerator, torch: Any, tmp_path: Path
) -> None:  # fmt: skip
    """Case 65: the frames of the exception held the tensors, and the next, smaller attempt failed too."""
    said, workload = three_variants(device, torch, tmp_path)
    assert [one["said"] for one in said] == ["baseline", "done", "baseline", "failed", "baseline", "done"]
    baselines = [one["baseline"][0] for one in said if one["said"] == "baseline"]
    assert baselines == [MIB, MIB, MIB]
    assert said[3]["kind"] == "memory-overflow"
    assert said[3]["message"].startswith("OutOfMemoryError: CUDA out of memory")
    assert said[3]["peaks"][0] > 9 * (torch.TOTAL_BYTES // 10)
    assert len(workload.held) == 6 * 3 + 9 + 2 * 8


def test_an_exception_in_words_lets_its_frames_go() -> None:
    class Held:
        pass

    def fail() -> None:
        held = Held()
        refs.append(weakref.ref(held))
        raise ValueError("half way\nand a second line")

    refs: list[weakref.ref[Held]] = []
    try:
        fail()
    except ValueError as error:
        kept = error
    assert refs[0]() is not None
    told = _told(kept)
    assert refs[0]() is None
    assert (told["kind"], told["message"]) == ("exception", "ValueError: half way")
    assert "second line" in told["traceback"]


@pytest.mark.parametrize(
    ("error", "overflow"),
    [
        (MemoryError(), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("HIP out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:119] DefaultCPUAllocator: can't allocate memory"), True),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes."), True),
        (RuntimeError("CUDA error: device-side assert triggered"), False),
        (ValueError("the text speaks of out of memory"), False),
    ],
)
def test_what_counts_as_a_memory_overflow(error: Exception, overflow: bool) -> None:
    assert is_memory_overflow(error) is overflow


def test_xpu_is_asked_as_cuda_is_by_its_own_name(torch: Any) -> None:
    device = open_device("xpu:0")
    timing = time_work(device, lambda: torch.empty(MIB, dtype=torch.uint8, device="xpu:0"))
    assert timing.peaks == Memory(2 * MIB, 2 * MIB)
    assert {device for _name, device in torch.xpu.calls} == {"xpu:0"}
    assert torch.cuda.calls == []
    assert describe_device("xpu:0")["runtime_version"] == "XPU 20250101"


def test_mps_records_what_it_offers_and_leaves_the_rest_empty(torch: Any) -> None:
    torch.backends.mps.is_available = lambda: True
    device = open_device("mps")
    assert isinstance(device, Metal)
    timing = time_work(device, lambda: torch.mps.calls.append("work"))
    assert torch.mps.calls == ["synchronize", "current_allocated_memory", "work", "synchronize"]
    assert (timing.baseline, timing.peaks) == (Memory(4096, None), Memory(None, None))
    assert describe_device("mps")["gpu_model"] == "Apple MPS"


def test_a_cpu_has_no_figures() -> None:
    timing = time_work(open_device("cpu"), lambda: None)
    assert (timing.baseline, timing.peaks) == (Memory(), Memory())
    assert describe_device("cpu") == {}


@pytest.mark.parametrize(("hip", "runtime"), [(None, "CUDA 12.8"), ("6.4.1", "ROCm 6.4.1")])
def test_rocm_reports_through_the_same_interface_and_names_its_runtime(
    hip: str | None, runtime: str, torch: Any
) -> None:  # fmt: skip
    torch.version.hip = hip
    found = describe_device("cuda:1")
    assert (found["gpu_model"], found["uuid"], found["runtime_version"]) == ("Fake GPU 1", "0000-1", runtime)


@pytest.mark.parametrize("name", ["cuda:2", "xpu:1", "mps"])
def test_a_device_that_is_not_there_is_said_so(name: str, torch: Any) -> None:
    with pytest.raises(DeviceMissingError, match=f"{name} does not exist here: PyTorch sees [0-2] devices of its kind"):
        open_device(name)


def test_a_device_without_pytorch_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(DeviceMissingError, match="cuda:0: PyTorch cannot be imported"):
        open_device("cuda:0")


@pytest.mark.parametrize(
    ("device", "environment", "name"),
    [
        ("cuda:0", {}, "cuda-0"),
        ("cuda:0", {"CUDA_VISIBLE_DEVICES": "3,1"}, "cuda-3"),
        ("cuda:1", {"HIP_VISIBLE_DEVICES": "3, 1"}, "cuda-1"),
        ("cuda:0", {"CUDA_VISIBLE_DEVICES": "GPU-8a7"}, "cuda-GPU-8a7"),
        ("xpu:0", {"ZE_AFFINITY_MASK": "1"}, "xpu-1"),
        ("cpu", {"CUDA_VISIBLE_DEVICES": "3"}, "cpu"),
    ],
)
def test_the_lock_is_that_of_the_physical_device(device: str, environment: dict[str, str], name: str) -> None:
    assert physical_name(device, environment) == name


class Nvml:
    """NVML's few calls, with two processes on the GPU."""

    def __init__(self, failing: str = "") -> None:
        self._failing, self.asked = failing, []

    def nvmlInit(self) -> None:
        if self._failing:
            raise RuntimeError(self._failing)

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:
        self.asked.append(uuid)
        return uuid

    def nvmlDeviceGetComputeRunningProcesses(self, handle: str) -> list[Any]:
        return [type("Process", (), {"pid": 11}), type("Process", (), {"pid": 12})]

    def nvmlDeviceGetGraphicsRunningProcesses(self, handle: str) -> list[Any]:
        return [type("Process", (), {"pid": 12})]


def test_nvml_is_asked_for_the_very_gpu_and_its_absence_is_said() -> None:
    nvml = Nvml()
    assert gpu_processes("8a7f", "cuda:0", nvml) == ((11, 12), "NVML")
    assert nvml.asked == ["GPU-8a7f"]
    assert gpu_processes("8a7f", "cuda:0", None) == (None, "NVML is not installed")
    assert gpu_processes("8a7f", "cuda:0", Nvml("Driver Not Loaded")) == (
        None, "NVML does not answer (Driver Not Loaded)"
    )  # fmt: skip


# Real runs on the fake devices.


@pytest.fixture
def gpu_desk(desk: Desk) -> Desk:
    """A desk whose workers import the fake PyTorch."""
    desk.env["PYTHONPATH"] = f"{FAKE}:{desk.env['PYTHONPATH']}"
    return desk


@pytest.mark.parametrize(("env", "runtime"), [({}, "CUDA 12.8"), ({"FAKE_TORCH_HIP": "6.4.1"}, "ROCm 6.4.1")])
def test_a_run_on_an_accelerator_fills_its_cells(
    env: dict[str, str], runtime: str, gpu_desk: Desk, tmp_path: Path
) -> None:
    options = {"fault": "takes-device-memory", "bytes": 3 * MIB, "at_batch": 4}
    protocol = write_protocol(tmp_path, *ON_GPU, options=options)
    done = gpu_desk.run("measure", protocol, "--out", tmp_path / "run", env=env)
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "run")
    assert passes_of(rows) == [
        "batch-1 load 1", "batch-1 cold 1", "batch-4 load 1", "batch-4 cold 1",
        "batch-1 load 2", "batch-1 warm 1", "batch-4 load 2", "batch-4 warm 1",
    ]  # fmt: skip
    due = {"device": "cuda:1", "gpu_model": "Fake GPU 1", "gpu_count": "1", "torch_version": "2.9.0+fake",
           "runtime_version": runtime}  # fmt: skip
    for row in rows:
        assert {name: row[name] for name in due} == due
        assert "; isolation: process-per-pass; " in row["notes"]
        assert "; other processes on the GPU" in row["notes"]
    figures = {name: [row[name] for row in rows] for name in MEMORY}
    high = [str(4 * MIB) if name.startswith("batch-4") and "load" not in name else "" for name in passes_of(rows)]
    assert figures["peak_allocated_bytes"] == [one or str(MIB) for one in high]
    assert figures["peak_reserved_bytes"] == [one or str(2 * MIB) for one in high]
    # The warm-up of batch-4 left its memory reserved: the warm pass begins with it, and no other variant's does.
    assert figures["baseline_allocated_bytes"] == [str(MIB)] * 8
    assert figures["baseline_reserved_bytes"] == [str(2 * MIB)] * 7 + [str(4 * MIB)]
    checked = gpu_desk.check(tmp_path / "run")
    assert checked["exit"] == 0
    assert [one["code"] for one in checked["findings"] if one["column"] in MEMORY] == []
    environment = json.loads((tmp_path / "run" / "environment.json").read_text())
    assert environment["devices"][0]["gpu_model"] == "Fake GPU 1"
    assert environment["torch_threads"] == 1


def test_an_overflow_on_an_accelerator_is_a_row_with_its_peaks(gpu_desk: Desk, tmp_path: Path) -> None:
    options = {"fault": "takes-device-memory", "bytes": 2 << 30, "at_batch": 4}
    protocol = write_protocol(tmp_path, *ON_GPU, options=options)
    assert gpu_desk.run("measure", protocol, "--out", tmp_path / "run").returncode == 1
    failed = rows_of(tmp_path / "run")[3]
    assert (failed["elapsed_seconds"], failed["corpus_accepted"]) == ("", "false")
    assert [failed[name] for name in MEMORY] == [str(MIB), str(2 * MIB)] * 2
    assert "; incident: memory overflow: OutOfMemoryError: CUDA out of memory." in failed["notes"]
    checked = gpu_desk.check(tmp_path / "run")
    assert checked["counts"] == {"accepted": 2, "rejected": 0, "failed": 2, "invalid": 0, "setup": 4}


def test_one_gpu_under_two_names_is_measured_once_at_a_time(gpu_desk: Desk, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    options = {"fault": "waits-for-file", "at_batch": 4, "file": str(gate)}
    first = write_protocol(tmp_path / "1", *ON_GPU, options=options)
    second = write_protocol(tmp_path / "2", ('device = "cpu"', 'device = "cuda:0"'))
    same = {"FAKE_TORCH_UUID": "8a7f"}
    started = gpu_desk.start("measure", first, "--out", tmp_path / "first", env=same)
    wait_until(lambda: gate.with_name("gate.reached").exists() or started.ended, "the workload waits")
    refused = gpu_desk.run("measure", second, "--out", tmp_path / "second", env=same)
    assert refused.returncode == 2
    assert f"cuda:1 is measuring already: run first, process {started.pid}, since " in refused.stderr
    assert not (tmp_path / "second").exists()
    gate.touch()
    assert started.wait().returncode == 0


def test_an_absent_device_is_one_message_before_any_row(desk: Desk, tmp_path: Path) -> None:
    """Case 67, with the real PyTorch."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    protocol = write_protocol(tmp_path, ('device = "cpu"', 'device = "cuda:99"'))
    done = desk.run("measure", protocol, "--out", tmp_path / "run")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the announced device: cuda:99 does not exist here: PyTorch sees " in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


# The real PyTorch, with and without a GPU.

CALLS = ("synchronize", "memory_allocated", "memory_reserved", "reset_peak_memory_stats", "max_memory_allocated",
         "max_memory_reserved")  # fmt: skip


@pytest.fixture
def real_torch() -> ModuleType:
    found: ModuleType = pytest.importorskip("torch", reason="PyTorch is not installed")
    return found


@pytest.mark.parametrize("kind", ["cuda", "xpu"])
def test_the_real_pytorch_has_every_call_and_each_takes_the_device(
    kind: str, real_torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 67: a recorder in the place of PyTorch's own functions, whose signatures it keeps."""
    module, calls = getattr(real_torch, kind), []

    def recorder(name: str, signature: inspect.Signature) -> Callable[..., int]:
        def record(*values: Any, **named: Any) -> int:
            bound = signature.bind(*values, **named)
            calls.append((name, bound.arguments.get("device")))
            return 0

        return record

    for name in CALLS:
        monkeypatch.setattr(module, name, recorder(name, inspect.signature(getattr(module, name))))
    time_work(Accelerator(f"{kind}:1", module), lambda: None)
    assert [name for name, _ in calls] == [*CALLS[:4], "synchronize", *CALLS[4:]]
    assert {device for _, device in calls} == {f"{kind}:1"}


def test_the_real_pytorch_has_the_calls_of_mps(real_torch: Any) -> None:
    assert callable(real_torch.mps.synchronize)
    assert callable(real_torch.mps.current_allocated_memory)


@pytest.fixture
def gpu(real_torch: Any) -> Iterator[Accelerator]:
    if not real_torch.cuda.is_available():
        pytest.skip("PyTorch sees no CUDA or ROCm GPU here")
    found = open_device("cuda:0")
    assert isinstance(found, Accelerator)
    yield found
    gc.collect()
    real_torch.cuda.empty_cache()


@pytest.mark.gpu
def test_a_real_gpu_is_timed_to_the_end_of_its_work(
    gpu: Accelerator, real_torch: Any, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    """Case 62: many kernels are launched long before they have run."""
    size = 8192
    one = real_torch.randn(size, size, device=gpu.name, dtype=real_torch.bfloat16)

    def work() -> Any:
        found = one
        for _ in range(40):
            found = one @ found
        return found

    work()
    synchronised, launched, timed = [], [], []
    for _ in range(5):
        gpu.synchronize()
        start = time.perf_counter()
        work()
        launched.append(time.perf_counter() - start)
        gpu.synchronize()
        synchronised.append(time.perf_counter() - start)
        timed.append(time_work(gpu, work).elapsed_ns / 1e9)
    full, launch, elapsed = (sorted(values)[2] for values in (synchronised, launched, timed))
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{describe_device(gpu.name)['gpu_model']}: launch only {launch:.6f} s, synchronised {full:.6f} s, "
            f"time_work {elapsed:.6f} s"
        )
    assert abs(elapsed - full) <= 0.2 * full
    assert launch < 0.8 * full


@pytest.mark.gpu
def test_a_real_gpu_gives_the_peaks_of_the_pass_alone(
    gpu: Accelerator, real_torch: Any, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    """Case 64."""

    def work(mebibytes: int) -> None:
        taken = real_torch.empty(mebibytes * MIB, dtype=real_torch.uint8, device=gpu.name)
        taken.fill_(1)
        del taken

    first, second = time_work(gpu, lambda: work(1024)), time_work(gpu, lambda: work(256))
    with capsys.disabled():
        print(f"\npass 1: {first}\npass 2: {second}")  # noqa: T201
    for timing, due in ((first, 1024 * MIB), (second, 256 * MIB)):
        assert timing.peaks.allocated_bytes is not None
        assert timing.baseline.allocated_bytes is not None
        assert abs(timing.peaks.allocated_bytes - timing.baseline.allocated_bytes - due) <= 2 * MIB
    assert second.peaks.reserved_bytes is not None
    assert second.peaks.reserved_bytes >= 1024 * MIB


@pytest.mark.gpu
def test_a_real_gpu_is_free_again_after_an_overflow(
    gpu: Accelerator, real_torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    """Case 65."""
    said, _ = three_variants(gpu, real_torch, tmp_path)
    with capsys.disabled():
        print("\n" + "\n".join(str({**one, "traceback": ""}) for one in said))  # noqa: T201
    assert [one["said"] for one in said] == ["baseline", "done", "baseline", "failed", "baseline", "done"]
    assert said[3]["kind"] == "memory-overflow"
    baselines = [one["baseline"][0] for one in said if one["said"] == "baseline"]
    assert max(baselines) - min(baselines) <= 2 * MIB


@pytest.mark.gpu
def test_a_real_run_on_a_gpu(
    gpu: Accelerator, desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    options = {"fault": "takes-device-memory", "bytes": 256 * MIB, "at_batch": 4}
    change = ('device = "cpu"', 'device = "cuda:0"')
    protocol = write_protocol(tmp_path, ("warm = 2", "warm = 1"), change, options=options)
    done = desk.run("measure", protocol, "--out", tmp_path / "run", seconds=300)
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "run")
    with capsys.disabled():
        for row in rows:
            shown = {name: row[name] for name in ("gpu_model", "driver_version", "runtime_version", *MEMORY)}
            print(row["variant_id"], row["phase"], row["elapsed_seconds"], shown)  # noqa: T201
    assert len(rows) == 8
    assert {row["gpu_count"] for row in rows} == {"1"}
    assert all(row["gpu_model"] and row["runtime_version"] and row["torch_version"] for row in rows)
    for row in rows:
        taken = row["variant_id"] == "batch-4" and row["phase"] != "load"
        rise = int(row["peak_allocated_bytes"]) - int(row["baseline_allocated_bytes"])
        assert abs(rise - 256 * MIB * taken) <= 2 * MIB
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=False
    )  # fmt: skip
    if driver.returncode == 0:
        assert {row["driver_version"] for row in rows} <= {*driver.stdout.split(), ""}
    assert events_of(tmp_path / "run")[-1]["event"] == "finished"
