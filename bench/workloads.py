"""The workloads: networks and data. Every peer gets the same bytes.

For each workload, ``write`` creates a file of arrays (``w1.bin``) and a description (``w1.json``):
the layers, and the offsets of the data and the initial weights. Weights are stored in three
conventions, because libraries disagree about their layout.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
SEED = 20261121
BATCHES = 8
"""Batches of the data set; training cycles through them in order."""


@dataclass(frozen=True)
class Layer:
    """One layer: ``dense`` (units), ``conv`` (units filters, size, padding), ``pool``, ``flatten``.

    Pools are 2 x 2, strides of convolutions 1.
    """

    kind: str
    units: int = 0
    size: int = 0
    padding: str = "valid"
    activation: str | None = None


def dense(units: int, activation: str | None = None) -> Layer:
    return Layer("dense", units, activation=activation)


def conv(units: int, size: int, padding: str = "valid") -> Layer:
    return Layer("conv", units, size, padding, "relu")


POOL = Layer("pool")
FLATTEN = Layer("flatten")


@dataclass(frozen=True)
class Workload:
    """A network, its loss (``mse`` or ``cross_entropy``), optimizer and batch size."""

    name: str
    title: str
    input_shape: tuple[int, ...]
    layers: tuple[Layer, ...]
    loss: str
    optimizer: str
    learning_rate: float
    batch: int


_IMAGE = (28, 28, 1)
WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            "w0", "tiny", (2,), (dense(8, "tanh"), dense(8, "tanh"), dense(1)),
            "mse", "sgd", 0.1, 32,
        ),
        Workload(
            "w1", "mlp", (784,), (dense(128, "relu"), dense(10)),
            "cross_entropy", "adam", 0.001, 64,
        ),
        Workload(
            "w1b", "wide", (784,), (dense(512, "relu"), dense(512, "relu"), dense(10)),
            "cross_entropy", "adam", 0.001, 128,
        ),
        Workload(
            "w2", "lenet", _IMAGE,
            (
                conv(6, 5, "same"), POOL, conv(16, 5), POOL, FLATTEN,
                dense(120, "relu"), dense(84, "relu"), dense(10),
            ),
            "cross_entropy", "adam", 0.001, 64,
        ),
        Workload(
            "w3", "convnet", _IMAGE,
            (conv(32, 3), conv(64, 3), POOL, FLATTEN, dense(128, "relu"), dense(10)),
            "cross_entropy", "adam", 0.001, 32,
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Weighted:
    """A layer with weights: its input shape, and the map positions that it computes (1: dense)."""

    layer: Layer
    inputs: tuple[int, ...]
    positions: int

    @property
    def kernel_shape(self) -> tuple[int, ...]:
        if self.layer.kind == "dense":
            return (self.inputs[0], self.layer.units)
        return (self.layer.size, self.layer.size, self.inputs[-1], self.layer.units)


def weighted_layers(workload: Workload) -> list[tuple[Weighted, tuple[int, ...] | None]]:
    """Return the layers with weights, and for a dense one after ``flatten`` the flattened shape."""
    shape = workload.input_shape
    flattened: tuple[int, ...] | None = None
    result: list[tuple[Weighted, tuple[int, ...] | None]] = []
    for layer in workload.layers:
        if layer.kind == "flatten":
            flattened, shape = shape, (int(np.prod(shape)),)
        elif layer.kind == "pool":
            shape = (shape[0] // 2, shape[1] // 2, shape[2])
        elif layer.kind == "conv":
            cut = layer.size - 1 if layer.padding == "valid" else 0
            out = (shape[0] - cut, shape[1] - cut, layer.units)
            result.append((Weighted(layer, shape, out[0] * out[1]), None))
            shape = out
        else:
            result.append((Weighted(layer, shape, 1), flattened))
            shape, flattened = (layer.units,), None
    return result


def flops(workload: Workload) -> int:
    """Return the floating-point operations of a step's matrix products and convolutions.

    Each layer computes its result and the gradient of its weights; all but the first also compute
    the gradient of their input.
    """
    total = 0
    for number, (each, _) in enumerate(weighted_layers(workload)):
        forward = 2 * workload.batch * each.positions * int(np.prod(each.kernel_shape))
        total += forward * (2 if number == 0 else 3)
    return total


def data(workload: Workload) -> tuple[Array, Array]:
    """Return inputs (float32) and targets: float32 values for ``mse``, otherwise int32 classes."""
    random = np.random.default_rng(SEED)
    count = BATCHES * workload.batch
    if workload.loss == "mse":
        x = random.uniform(-1, 1, (count, *workload.input_shape)).astype(np.float32)
        y = np.sin(3 * x[:, :1]) * x[:, 1:]
        return x, y.astype(np.float32)
    # Ten blurred blots with noise: as sparse as digits, and easy to learn.
    blots = random.random((10, 7, 7)) ** 3
    labels = random.integers(0, 10, count).astype(np.int32)
    images = np.kron(blots[labels], np.ones((4, 4))) * 0.7 + random.random((count, 28, 28)) * 0.3
    return images.reshape(count, *workload.input_shape).astype(np.float32), labels


def weights(workload: Workload, convention: str) -> list[Array]:
    """Return kernel and bias of each layer, the same numbers in every convention.

    ``tensorflow``: (height, width, in, out), (in, out), maps flattened with channels last;
    ``jax``: (out, in, height, width), (in, out), maps flattened with channels first;
    ``torch``: as ``jax``, with dense kernels (out, in).
    """
    random = np.random.default_rng(SEED + 1)
    result: list[Array] = []
    for each, flattened in weighted_layers(workload):
        shape = each.kernel_shape
        limit = np.sqrt(6 / int(np.prod(shape[:-1])))
        kernel = random.uniform(-limit, limit, shape).astype(np.float32)
        bias = random.uniform(-0.05, 0.05, shape[-1]).astype(np.float32)
        if convention != "tensorflow":
            if flattened is not None:
                kernel = kernel.reshape(*flattened, -1).transpose(2, 0, 1, 3).reshape(shape)
            if len(shape) == 4:
                kernel = kernel.transpose(3, 2, 0, 1)
            elif convention == "torch":
                kernel = kernel.T
        result += [np.ascontiguousarray(kernel), bias]
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
