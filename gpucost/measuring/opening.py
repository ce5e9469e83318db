"""The first pieces of a run's folder: who runs it, the sealed protocol and corpus, the environment as observed.

Protocol, sections 1 and 2; contract, section 4.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from gpucost.environment import observe
from gpucost.folder import EXPECTED_IDS, PROTOCOL, REFERENCE, SEAL
from gpucost.language import N_
from gpucost.measuring.crew import worker_environment
from gpucost.measuring.ledger import ENVIRONMENT, LAUNCH, Ledger, now, read_object
from gpucost.measuring.preparation import Prepared, RefusedError, id_list, reference_lines
from gpucost.measuring.seal import PACKAGE, Seal, file_sha256, what_changed
from gpucost.phrases import Phrase
from gpucost.protocol import Protocol

SHOWN_VARIABLES = ("OMP_", "MKL_", "OPENBLAS_", "CUDA_", "HIP_", "PYTORCH_", "TORCH_")
"""Beginnings of the environment variables that change how a workload computes."""


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def write_launch(ledger: Ledger, path: Path, protocol: Protocol) -> None:
    """What finds this process and its protocol again on this machine. It is no evidence."""
    code = protocol.code
    launch = {
        **read_object(ledger.folder, LAUNCH),
        "protocol": str(path),
        "code": None if code is None else str((path.parent / code.path).resolve()),
        "pid": os.getpid(),
        "create_time": psutil.Process().create_time(),
        "started_at": now(),
        "argv": sys.argv,
    }
    ledger.place(LAUNCH, _json(launch))


def write_sealed_pieces(ledger: Ledger, prepared: Prepared) -> None:
    """The protocol byte for byte, the expected IDs, the reference, and the seal over them."""
    ledger.place(PROTOCOL, prepared.file.data)
    ledger.place(EXPECTED_IDS, id_list(prepared.corpus))
    ledger.place(REFERENCE, reference_lines(prepared.corpus))
    ledger.place(SEAL, _json(prepared.seal.to_json()))


def run_environment(protocol: Protocol) -> dict[str, str]:
    """The environment variables of a worker of this protocol."""
    return worker_environment(protocol.configuration.threads, PACKAGE.parent)


def write_environment(ledger: Ledger, protocol: Protocol, ready: dict[str, Any], *, resumed: bool) -> dict[str, Any]:
    """What is observed of the machine and of the first worker, written down and given back.

    What a resumed run finds stands beside what the first found: neither replaces the other.
    """
    device = {key: ready[key] for key in ("gpu_model", "uuid", "total_memory_bytes") if key in ready}
    torch: dict[str, Any] = {
        "torch_version": ready.get("torch_version"),
        "threads": ready.get("torch_threads"),
        "runtime_version": ready.get("runtime_version"),
        "devices": [{"device": protocol.configuration.device, **device}] if device else [],
    }
    observed: dict[str, Any] = {
        **observe(torch),
        "device": protocol.configuration.device,
        "threads_announced": protocol.configuration.threads,
        "tf32_matmul": ready.get("tf32_matmul"),
        "load_average": os.getloadavg(),
        "environment_variables": {
            name: value for name, value in run_environment(protocol).items() if name.startswith(SHOWN_VARIABLES)
        },
    }
    before = len(list(ledger.folder.glob("environment*.json")))
    ledger.place(f"environment-resumed-{before}.json" if resumed else ENVIRONMENT, _json(observed))
    return observed


def read_seal(folder: Path) -> Seal:
    """The seal of a run's folder. Raises RefusedError where it cannot be read."""
    try:
        return Seal.from_json(read_object(folder, SEAL))
    except (KeyError, TypeError, ValueError):
        raise RefusedError(Phrase(N_("{piece} of the run cannot be read"), {"piece": SEAL})) from None


def refuse_changed(ledger: Ledger, sealed: Seal, current: Seal) -> None:
    """Raise RefusedError where anything is no longer as it was sealed: such a run is not gone on with."""
    changed = what_changed(sealed, current)
    if file_sha256(ledger.folder / PROTOCOL) != sealed.protocol_sha256:
        changed = ["protocol_sha256", *changed]
    if not changed:
        return
    with suppress(OSError):
        ledger.event("resume-refused", changed=changed)
    details = {"changed": ", ".join(dict.fromkeys(changed))}
    raise RefusedError(
        Phrase(N_("the run was sealed with another state of: {changed}; measure it in a new folder"), details)
    )
