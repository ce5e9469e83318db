"""One timed pass: the order of calls that makes a duration and four memory figures mean something.

Synchronise, read both baselines, reset the peaks, run, synchronise, read both absolute peaks (protocol, section 3).
The clock is monotonic and counts nanoseconds. Garbage is collected before the clock starts, and not during the pass.
"""

import gc
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gpucost.measuring.devices import Device, Memory


@dataclass(frozen=True, slots=True)
class Timing:
    """A pass that ended well: nanoseconds of the wall clock and of this process, and bytes on the device."""

    elapsed_ns: int
    cpu_ns: int
    baseline: Memory
    peaks: Memory
    max_resident_bytes: int


class WorkFailedError(Exception):
    """The work raised. `baseline` and `peaks` are what could still be read; the cause is `error`."""

    def __init__(self, error: BaseException, baseline: Memory, peaks: Memory) -> None:
        super().__init__(str(error))
        self.error = error
        self.baseline = baseline
        self.peaks = peaks


def time_work(device: Device, work: Callable[[], object], before: Callable[[Memory], object] | None = None) -> Timing:
    """Time some work on a device. `before` is told the baseline once the device is quiet, ahead of the clock.

    Raises WorkFailedError where the work raises anything, KeyboardInterrupt and SystemExit included.
    """
    gc.collect()
    device.synchronize()
    baseline = device.baseline()
    if before is not None:
        before(baseline)
    device.reset_peaks()
    collecting = gc.isenabled()
    gc.disable()
    try:
        cpu_start = time.process_time_ns()
        start = time.perf_counter_ns()
        work()
        device.synchronize()
        end = time.perf_counter_ns()
        cpu_end = time.process_time_ns()
    except BaseException as error:
        raise WorkFailedError(error, baseline, _peaks_after_failure(device)) from error
    finally:
        if collecting:
            gc.enable()
    return Timing(end - start, cpu_end - cpu_start, baseline, device.peaks(), max_resident_bytes())


def _peaks_after_failure(device: Device) -> Memory:
    try:
        return device.peaks()
    except Exception:  # noqa: BLE001 - a device that failed may refuse every further call; nothing is recorded then
        return Memory()


def max_resident_bytes() -> int:
    """The highest resident memory of this process so far.

    On Linux `ru_maxrss` also remembers what the process that started this one held; `VmHWM` does not.
    """
    with suppress(OSError, IndexError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
