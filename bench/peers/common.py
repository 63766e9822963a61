"""Shared by the desktop's programs: arguments, workload files and output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.measure import measure
from bench.paths import DATA

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Loaded:
    """A workload in PyTorch's convention: images (batch, channels, height, width)."""

    spec: dict[str, Any]
    batches: list[tuple[Array, Array]]
    weights: list[Array]


def load(workload: str) -> Loaded:
    spec = json.loads((DATA / f"{workload}.json").read_text(encoding="utf-8"))
    blob = (DATA / f"{workload}.bin").read_bytes()

    def array(entry: dict[str, Any]) -> Array:
        count = int(np.prod(entry["shape"]))
        flat = np.frombuffer(blob, entry["dtype"], count, entry["offset"])
        return flat.reshape(entry["shape"]).copy()

    x, y = array(spec["x"]), array(spec["y"])
    if x.ndim == 4:
        x = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    size = spec["batch"]
    batches = [(x[i : i + size], y[i : i + size]) for i in range(0, len(x), size)]
    return Loaded(spec, batches, [array(entry) for entry in spec["weights"]["torch"]])


def main(open_trainer: Callable[[str, str], Any]) -> None:
    """Measure according to the command line: device, workload, settings as JSON."""
    device, workload, settings = sys.argv[1:]
    trainer = open_trainer(workload, device)
    result = measure(trainer, json.loads(settings))
    result["backend"] = trainer.backend
    for name in ("dispatches", "device_bytes", "least_bytes", "phases"):
        result[name] = getattr(trainer, name, None)
    print("RESULT" + json.dumps(result))
