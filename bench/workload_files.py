"""Files of the workloads: data and initial weights. Every peer gets the same bytes.

For each workload, ``write`` creates a file of arrays (``w1.bin``) and a description (``w1.json``):
the layers, and the offsets of the data and the initial weights. Weights are stored in three
conventions, because libraries disagree about their layout.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.benchmark.workload_data import BATCHES, data, initial_weights
from playgrad.benchmark.workloads import WORKLOADS, Workload, flops, weights_of

Array = np.ndarray[Any, Any]


def weights(workload: Workload, convention: str) -> list[Array]:
    """Return the initial weights, the same numbers in every convention.

    ``tensorflow``: (height, width, in, out), (in, out), maps flattened with channels last;
    ``jax``: (out, in, height, width), (in, out), maps flattened with channels first;
    ``torch``: as ``jax``, with kernels of products (out, in).
    """
    result: list[Array] = []
    for weight, array in zip(weights_of(workload), initial_weights(workload), strict=True):
        if weight.kind == "kernel" and convention != "tensorflow":
            shape = weight.shape
            if weight.flattened is not None:
                array = array.reshape(*weight.flattened, -1).transpose(2, 0, 1, 3).reshape(shape)
            if len(shape) == 4:
                array = array.transpose(3, 2, 0, 1)
            elif convention == "torch":
                array = array.T
        result.append(np.ascontiguousarray(array))
    return result


CONVENTIONS = ("tensorflow", "jax", "torch")


def write(folder: Path) -> None:
    """Write the files of every workload to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for workload in WORKLOADS.values():
        blob = bytearray()

        def put(array: Array, blob: bytearray = blob) -> dict[str, Any]:
            entry = {"shape": array.shape, "dtype": array.dtype.name, "offset": len(blob)}
            blob.extend(np.ascontiguousarray(array).tobytes())
            return entry

        x, y = data(workload)
        description = asdict(workload) | {
            "batches": BATCHES,
            "flops": flops(workload),
            "x": put(x),
            "y": put(y),
            "weights": {name: [put(a) for a in weights(workload, name)] for name in CONVENTIONS},
        }
        (folder / f"{workload.name}.bin").write_bytes(blob)
        (folder / f"{workload.name}.json").write_text(json.dumps(description), encoding="utf-8")
