"""What else uses the machine: processor seconds of others, and the processes that NVML shows (a fake one here)."""

from types import SimpleNamespace
from typing import Any

import pytest

from gpucost.measuring.concurrency import Busyness, gpu_processes, look, told


class FakeNvml:
    """NVML as `nvidia-ml-py` offers it: which device was asked for, and its processes."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def nvmlInit(self) -> None:
        self.asked.append("init")

    def nvmlDeviceGetHandleByIndex(self, index: int) -> str:
        self.asked.append(index)
        return "handle"

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:
        self.asked.append(uuid)
        return "handle"

    def nvmlDeviceGetComputeRunningProcesses(self, _handle: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=11), SimpleNamespace(pid=12)]

    def nvmlDeviceGetGraphicsRunningProcesses(self, _handle: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=12), SimpleNamespace(pid=13)]


def test_the_right_gpu_is_asked_by_its_uuid_where_it_is_known() -> None:
    nvml = FakeNvml()
    assert gpu_processes("1234-ab", "cuda:1", nvml) == ((11, 12, 13), "NVML")
    assert gpu_processes(None, "cuda:1", nvml) == ((11, 12, 13), "NVML")
    assert nvml.asked == ["init", "GPU-1234-ab", "init", 1]


def test_an_nvml_that_is_absent_or_refuses_is_said() -> None:
    assert gpu_processes(None, "cuda:0", None) == (None, "NVML is not installed")
    found, said = gpu_processes(None, "cuda:0", object())
    assert found is None
    assert said.startswith("NVML does not answer")


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (2.0, "concurrency: other processes used 3.50 CPU seconds during the pass on 2 cores"),
        (9.0, "concurrency: other processes used 0.00 CPU seconds during the pass on 2 cores"),
        (None, "concurrency on the processor: not told apart from the failed pass's own work"),
    ],
)
def test_what_others_used_of_the_processor_is_said(own: float | None, words: str) -> None:
    assert told(Busyness(100.0, None, ""), Busyness(105.5, None, ""), own, 2) == words


def test_other_processes_on_the_gpu_are_named_and_their_absence_too() -> None:
    before, after = Busyness(0.0, (41,), "NVML"), Busyness(0.0, (42,), "NVML")
    assert told(before, after, 0.0, 2).endswith("on the GPU before or after the pass (NVML): 41, 42")
    none = Busyness(0.0, (), "NVML")
    assert told(none, none, 0.0, 2).endswith("(NVML): none")
    unseen = Busyness(0.0, None, "NVML is not installed")
    assert told(unseen, unseen, 0.0, 2).endswith("other processes on the GPU not seen: NVML is not installed")


def test_the_processor_seconds_of_a_machine_grow() -> None:
    first = look("cpu", None, [])
    sum(range(2_000_000))
    assert look("cpu", None, []).busy_seconds >= first.busy_seconds > 0
