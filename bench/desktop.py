"""Runs the desktop's programs, each measurement in a separate process."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from typing import Any

from bench.paths import DAWN, PYTHON, ROOT

_MODULES = {
    "playgrad": "playgrad_desktop",
    "numpy": "numpy_desktop",
    "torch": "torch_cpu",
    "tinygrad": "tinygrad_jit",
}


def measure(
    peer: str, backend: str, workload: str, settings: dict[str, Any], seconds: float
) -> dict[str, Any]:
    """Return the outcome of one measurement, or a dict with ``error``."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "app"), str(PYTHON)]),
    }
    if peer == "tinygrad":
        environment["DEV"] = backend.upper()
        machine = platform.machine()
        environment["WEBGPU_PATH"] = str(DAWN.with_stem(f"{DAWN.stem}_{machine}"))
    module = f"bench.peers.{_MODULES[peer]}"
    command = [sys.executable, "-m", module, backend, workload, json.dumps(settings)]
    try:
        ran = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return {"error": f"no result after {seconds:.0f} s"}
    if ran.returncode != 0:
        return {"error": (ran.stderr.strip().splitlines() or ["failed without a message"])[-1]}
    outcome: dict[str, Any] = json.loads(ran.stdout.rpartition("RESULT")[2])
    return outcome
