"""The least time that a device could take for operations: the roofline of Williams, Waterman and
Patterson 2009, with rates that are measured on the device itself.

A kernel must move its inputs and results at least once, and do its arithmetic. The rates are those
of the library's own fastest kernels here: an elementwise operation on a large tensor, and a product
of large matrices. A time below the limit is possible where a tensor fits a cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.compiler.compile import run_passes
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.compiler.work_estimates import operations
from playgrad.devices.kinds import FIRST_GPU
from playgrad.devices.webgpu import WebGpuDevice
from playgrad.dtypes import dtype
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.ops.elementwise.activations import relu
from playgrad.ops.products.matmul import matmul
from playgrad.ops.state import placeholder

SIDE = 512
"""Rows and columns of the matrices; a side takes 1 MiB."""
ELEMENTS = 1 << 21
REPEATS = 3


@dataclass(frozen=True)
class Rates:
    """Measured rates of a device: bytes and floating-point operations per second."""

    bandwidth: float
    arithmetic: float


@dataclass(frozen=True)
class PhysicalLimit:
    """The least seconds for some operations.

    Attributes:
        seconds: the larger of the two times.
        moved: bytes of inputs and results.
        operations: multiplications and additions.
        rates: of the device.
    """

    seconds: float
    moved: int
    operations: int
    rates: Rates


_measured: dict[str, Rates] = {}
"""By the name of the adapter."""


def physical_limit(device: WebGpuDevice, nodes: Iterable[Node]) -> PhysicalLimit:
    """Return the limit of ``nodes``, which have static shapes and are computed together."""
    adapter = device.host.info.name
    if adapter not in _measured:
        _measured[adapter] = _rates(device)
    rates = _measured[adapter]
    nodes = list(nodes)
    inside = {tensor for node in nodes for tensor in node.outputs}
    read = {tensor for node in nodes for tensor in node.inputs}
    moved = sum(
        dtype(tensor.dtype).device_bytes(tensor.spec.size)
        for tensor in {*read, *inside}
        if tensor not in read or tensor not in inside
    )
    arithmetic = sum(operations(node) for node in nodes)
    seconds = max(moved / rates.bandwidth, arithmetic / rates.arithmetic)
    return PhysicalLimit(seconds, moved, arithmetic, rates)


def _rates(device: WebGpuDevice) -> Rates:
    rows = np.random.default_rng(0).normal(size=(SIDE, SIDE)).astype(np.float32)
    product = _seconds(device, matmul, [rows, rows])
    flat = np.zeros(ELEMENTS, np.float32)
    return Rates(
        bandwidth=2 * flat.nbytes / _seconds(device, relu, [flat]),
        arithmetic=2 * SIDE**3 / product,
    )


def _seconds(device: WebGpuDevice, operation: Any, arrays: list[np.ndarray[Any, Any]]) -> float:
    """Return the least seconds of a run of an operation."""
    with Graph().as_default() as graph:
        inputs = [placeholder("float32", array.shape) for array in arrays]
        result = operation(*inputs)
    feeds = {tensor.node.name: tensor for tensor in inputs}
    values = {tensor.node.name: array for tensor, array in zip(inputs, arrays, strict=True)}
    program = Program(graph, [result], [], feeds)
    shapes = {name: array.shape for name, array in values.items()}
    compiled = run_passes(program, shapes, Policy(FIRST_GPU, [FIRST_GPU]))
    plan = device.load(compiled.plan(FIRST_GPU, device.target, {}), {})
    try:
        plan.run(0, values, [])
        once = plan.run(0, {}, []).seconds
        runs = max(1, min(64, int(0.05 / once)))
        return min(plan.run(0, {}, [], runs).seconds / runs for _ in range(REPEATS))
    finally:
        plan.unload()
