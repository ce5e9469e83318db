"""What is observed of this machine. Nothing is copied from an offer or a promise. Protocol, section 2.

A heavy library is asked about in a child process, so that the caller imports none of them, and a library that is
broken costs one empty entry instead of the command.
"""

import json
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gpucost import __version__

_TORCH_PROBE = """
import json, torch
found = {"torch_version": torch.__version__, "cuda": torch.version.cuda, "hip": getattr(torch.version, "hip", None),
         "threads": torch.get_num_threads(), "devices": []}
for index in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
    properties = torch.cuda.get_device_properties(index)
    found["devices"].append({"device": f"cuda:{index}", "gpu_model": properties.name,
                             "total_memory_bytes": properties.total_memory})
print(json.dumps(found))
"""
PROBE_LIMIT_SECONDS = 60
PACKAGES = ("streamlit", "pandas", "altair", "torch", "pydantic", "numpy", "orjson", "scikit-learn", "babel", "rich",
            "filelock", "psutil", "transformers", "tokenizers", "safetensors")  # fmt: skip


def observe(torch: dict[str, Any] | None = None) -> dict[str, Any]:
    """What stands on this machine now: versions, processor, GPUs. A value that cannot be observed is null.

    `torch` is what a process that has imported PyTorch said of it; without it a child process is asked.
    """
    torch = _ask(_TORCH_PROBE) if torch is None else torch
    return {
        "gpucost_version": __version__,
        "python_version": platform.python_version(),
        "python_implementation": platform.python_implementation(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "cpu_model": _cpu_model(),
        "cpu_count": os.cpu_count(),
        "cpu_governor": _line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "memory_bytes": _memory_bytes(),
        "torch_version": torch.get("torch_version"),
        "runtime_version": torch.get("runtime_version") or _runtime(torch),
        "torch_threads": torch.get("threads"),
        "driver_version": _driver_version(),
        "devices": torch.get("devices", []),
        "packages": {name: _installed(name) for name in PACKAGES},
    }


def _ask(probe: str) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [sys.executable, "-c", probe], capture_output=True, timeout=PROBE_LIMIT_SECONDS, check=False, text=True
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    if done.returncode != 0:
        return {}
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _runtime(torch: dict[str, Any]) -> str | None:
    for name, label in (("hip", "ROCm"), ("cuda", "CUDA")):
        if torch.get(name):
            return f"{label} {torch[name]}"
    return None


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str | None:
    return _after("/proc/cpuinfo", "model name") or platform.processor() or None


def _memory_bytes() -> int | None:
    kibibytes = (_after("/proc/meminfo", "MemTotal") or "").removesuffix("kB").strip()
    return int(kibibytes) * 1024 if kibibytes.isdigit() else None


def _driver_version() -> str | None:
    return _line("/sys/module/nvidia/version") or _line("/sys/module/amdgpu/version")


def _after(path: str, label: str) -> str | None:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(label)), None)


def _line(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8").strip() or None
    except OSError:
        return None
