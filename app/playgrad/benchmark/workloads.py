"""The workloads: networks, their weights and their floating-point operations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class WorkloadLayer:
    """One layer: ``dense`` (units), ``conv`` (units filters, size, padding), ``pool``, ``flatten``.

    Pools are 2 x 2, strides of convolutions 1. For sequences: ``embedding`` (units features, size
    tokens), ``positions`` (adds a vector for each of size positions), ``block`` (a block of GPT-2:
    units of its hidden layer, heads), ``norm`` (layer normalization), ``lstm`` (units; whole, if it
    gives the outputs of all steps).
    """

    kind: str
    units: int = 0
    size: int = 0
    padding: str = "valid"
    activation: str | None = None
    heads: int = 0
    whole: bool = False


def dense(units: int, activation: str | None = None) -> WorkloadLayer:
    return WorkloadLayer("dense", units, activation=activation)


def conv(units: int, size: int, padding: str = "valid") -> WorkloadLayer:
    return WorkloadLayer("conv", units, size, padding, "relu")


POOL = WorkloadLayer("pool")
FLATTEN = WorkloadLayer("flatten")
BLOCK = WorkloadLayer("block", 256, heads=4)


@dataclass(frozen=True)
class Workload:
    """A network, its loss (``mse`` or ``cross_entropy``), optimizer and batch size.

    ``decay`` is the weight decay of ``adamw``, for all weights as in Keras and PyTorch.
    """

    name: str
    title: str
    input_shape: tuple[int, ...]
    layers: tuple[WorkloadLayer, ...]
    loss: str
    optimizer: str
    learning_rate: float
    batch: int
    decay: float = 0.0


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
        Workload(
            "w4", "gpt", (32,),
            (
                WorkloadLayer("embedding", 64, size=65), WorkloadLayer("positions", size=32),
                BLOCK, BLOCK, WorkloadLayer("norm"), dense(65),
            ),
            "cross_entropy", "adamw", 0.001, 8, decay=0.01,
        ),
        Workload(
            "w5", "lstm", (28, 28),
            (WorkloadLayer("lstm", 128, whole=True), WorkloadLayer("lstm", 128), dense(10)),
            "cross_entropy", "adam", 0.001, 64,
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class WorkloadWeight:
    """One array of weights: its kind is ``kernel``, ``table``, ``gamma`` or ``bias``.

    ``uses`` is the number of positions of a sample that a kernel is multiplied with, ``flattened``
    the shape of the maps that a dense kernel gets flattened.
    """

    kind: str
    shape: tuple[int, ...]
    uses: int = 0
    flattened: tuple[int, ...] | None = None


def weights_of(workload: Workload) -> list[WorkloadWeight]:
    """Return the weights of ``workload``, in the order of its layers."""
    shape = workload.input_shape
    flattened: tuple[int, ...] | None = None
    result: list[WorkloadWeight] = []
    for layer in workload.layers:
        if layer.kind == "flatten":
            flattened, shape = shape, (int(np.prod(shape)),)
            continue
        if layer.kind == "pool":
            shape = (shape[0] // 2, shape[1] // 2, shape[2])
            continue
        result += _weights_of(layer, shape, flattened)
        flattened = None
        if layer.kind == "conv":
            cut = layer.size - 1 if layer.padding == "valid" else 0
            shape = (shape[0] - cut, shape[1] - cut, layer.units)
        elif layer.kind == "embedding":
            shape = (*shape, layer.units)
        elif layer.kind == "lstm":
            shape = (shape[0], layer.units) if layer.whole else (layer.units,)
        elif layer.kind == "dense":
            shape = (*shape[:-1], layer.units)
    return result


def _weights_of(
    layer: WorkloadLayer, shape: tuple[int, ...], flattened: tuple[int, ...] | None
) -> list[WorkloadWeight]:
    """Return the weights of a layer whose input has ``shape``; see ``weights_of``."""
    width, units, uses = shape[-1], layer.units, int(np.prod(shape[:-1]))

    def product(inputs: int, outputs: int) -> list[WorkloadWeight]:
        kernel = WorkloadWeight("kernel", (inputs, outputs), uses, flattened)
        return [kernel, WorkloadWeight("bias", (outputs,))]

    norm = [WorkloadWeight("gamma", (width,)), WorkloadWeight("bias", (width,))]
    if layer.kind == "embedding":
        return [WorkloadWeight("table", (layer.size, units))]
    if layer.kind == "positions":
        return [WorkloadWeight("table", (layer.size, width))]
    if layer.kind == "norm":
        return norm
    if layer.kind == "block":  # query, key, value, output, two normalizations, two products
        products = [weight for _ in range(4) for weight in product(width, width)]
        return [*products, *norm, *norm, *product(width, units), *product(units, width)]
    if layer.kind == "lstm":
        kernel, bias = product(width, 4 * units)
        return [kernel, WorkloadWeight("kernel", (units, 4 * units), uses), bias]
    if layer.kind == "conv":
        cut = layer.size - 1 if layer.padding == "valid" else 0
        uses = (shape[0] - cut) * (shape[1] - cut)
        kernel = WorkloadWeight("kernel", (layer.size, layer.size, width, units), uses)
        return [kernel, WorkloadWeight("bias", (units,))]
    return product(width, units)


def flops(workload: Workload) -> int:
    """Return the floating-point operations of a step's matrix products and convolutions.

    Each kernel computes a result and the gradient of its weights; all but one on the network's
    input also compute the gradient of their input. A block also has the products of queries with
    keys and of weights with values, for all pairs of positions.
    """
    total = 0
    for number, weight in enumerate(weights_of(workload)):
        if weight.kind == "kernel":
            forward = 2 * workload.batch * weight.uses * int(np.prod(weight.shape))
            total += forward * (2 if number == 0 else 3)
    for layer in workload.layers:
        if layer.kind == "block":
            positions, width = workload.input_shape[0], workload.layers[0].units
            total += 3 * 2 * 2 * workload.batch * positions**2 * width
    return total
