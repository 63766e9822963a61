"""Single operations in wasmtime: a module with one function for a node, on arrays in its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.graph.opdef import OpDef
from playgrad.graph.spec import TensorSpec
from playgrad.ops.compiled.node import emit_node
from playgrad.wasm.kernel import KernelCode, Operand
from playgrad.wasm.module import Module
from playgrad.wasm.values import StackValue, integer
from tests.wasm.wasmtime_host import WasmtimeHost

Array = np.ndarray[Any, Any]

GUARD = 32
"""Bytes before and after each array, which must not change."""


class Places:
    """Hands out addresses, with guards between the arrays."""

    def __init__(self) -> None:
        self.end = 4 * GUARD
        self.kept: list[tuple[int, int]] = []

    def reserve(self, size: int) -> int:
        place = self.end
        self.kept.append((place, place + size))
        self.end = (place + size + GUARD + 15) // 16 * 16
        return place

    def scratch(self, size: int) -> StackValue:
        return integer(self.reserve(size))


def run_node(op: OpDef, inputs: Sequence[Array], attrs: Mapping[str, Any]) -> list[Array]:
    """Return the outputs of the kernel of a node; check that nothing else was written.

    Raises:
        NotCompiledError: there is no kernel.
    """
    places = Places()
    specs = [TensorSpec(x.shape, x.dtype.name) for x in inputs]
    expected = op.reference(list(inputs), attrs)
    results = [TensorSpec(x.shape, x.dtype.name) for x in expected]
    starts = [places.reserve(_bytes(spec)) for spec in specs]
    ends = [places.reserve(_bytes(spec)) for spec in results]
    module = Module()
    f = module.procedure([], "run")
    code = KernelCode(module, f, places.scratch, {})
    operands = [
        [
            Operand(integer(place), spec.static_shape, spec.dtype)
            for place, spec in zip(addresses, kinds, strict=True)
        ]
        for addresses, kinds in ((starts, specs), (ends, results))
    ]
    emit_node(code, op, operands[0], operands[1], attrs)
    host = WasmtimeHost(module.encode(), places.end)
    host.memory[:] = 0xAB
    for place, x in zip(starts, inputs, strict=True):
        host.view(place, x.shape, x.dtype)[...] = x
    before = host.memory.copy()
    host.function("run")()
    for place, x in zip(starts, inputs, strict=True):
        if not op.writes:
            np.testing.assert_array_equal(host.view(place, x.shape, x.dtype), x)
    changed = np.flatnonzero(host.memory != before)
    inside = np.zeros(len(host.memory), bool)
    for start, end in places.kept:
        inside[start:end] = True
    assert inside[changed].all(), f"{op.name} wrote outside of its arrays"
    return [
        host.view(place, spec.static_shape, spec.dtype).copy()
        for place, spec in zip(ends, results, strict=True)
    ]


def _bytes(spec: TensorSpec) -> int:
    return int(np.prod(spec.static_shape)) * np.dtype(spec.dtype).itemsize
