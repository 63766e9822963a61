"""One node, compiled by its emitter, run in wasmtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.graph.graph import Graph
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Node
from playgrad.ops.emitted import emitter_of
from playgrad.ops.emitters import Operand
from playgrad.ops.state import placeholder
from playgrad.wasm.step import CONTROL, FAILURE, FIRST_POINTER, MODULE, STEPS_DONE, StepCode
from playgrad.wasm.threads import ALONE, CONTROL_BYTES, DONE, LIMIT, MOST_CHUNKS
from tests.wasm.wasmtime_host import WasmtimeHost

Array = np.ndarray[Any, Any]
GUARD = 64
"""Bytes between arrays, which nothing may write to."""
_FILLED = 0xAB


class FailedError(Exception):
    """The code found inputs that the operation cannot take."""


def node_of(op: OpDef, arrays: Sequence[Array], attrs: Mapping[str, Any]) -> Node:
    """Return a node of ``op`` in a graph of its own, with inputs of the shapes of ``arrays``."""
    graph = Graph()
    with graph.as_default():
        inputs = [placeholder(array.dtype, array.shape) for array in arrays]
    return graph.add(op, inputs, dict(attrs))


def run_emitted(
    node: Node,
    arrays: Sequence[Array],
    overlaps: Mapping[int, int] | None = None,
    threads: int = 1,
    alone: bool = False,
) -> list[Array] | None:
    """Return what the compiled code of ``node`` computes; None if there is no emitter for it.

    Args:
        overlaps: the number of the input that an output overwrites, by the number of the output.
        threads: how many threads the code is written for; one does all chunks.
        alone: whether the code is told that it has no other threads.

    Raises:
        FailedError: the code refused the inputs.
    """
    emitter = emitter_of(node)
    if emitter is None:
        return None
    assert overlaps is None or emitter.in_place
    step = StepCode(False, threads=threads)
    step.begin_run()
    offset, places = 0, []
    specs = [tensor.spec for tensor in (*node.inputs, *node.outputs)]
    for spec in specs:
        places.append(offset)
        size = spec.size * np.dtype(spec.dtype).itemsize
        offset += GUARD + size + -(GUARD + size) % 16
    for output, number in (overlaps or {}).items():
        places[len(node.inputs) + output] = places[number]
    operands = [
        Operand(spec, step.in_block(place), place)
        for spec, place in zip(specs, places, strict=True)
    ]
    count = len(node.inputs)
    step.begin_operation(7)
    emitter.emit(step, node, operands[:count], operands[count:])
    step.end_if_failed()
    table = offset
    constants = table + 64
    control = constants + len(step.constants) + -len(step.constants) % 16 + GUARD
    scratch = control + CONTROL_BYTES
    host = WasmtimeHost(step.encode(), scratch + step.scratch_bytes + GUARD)
    host.memory[:] = _FILLED
    host.memory[table:constants] = 0
    host.memory[control:scratch] = 0
    host.view(table, (FIRST_POINTER,), np.int32)[CONTROL : MODULE + 1] = control, 1
    host.view(control + ALONE, (1,), np.int32)[0] = alone
    host.memory[constants : constants + len(step.constants)] = list(step.constants)
    for array, place in zip(arrays, places, strict=False):
        host.view(place, array.shape, array.dtype)[...] = array
    host.function("run0")(scratch, 0, constants, table, 1)
    words = host.view(table, (3,), np.int32)
    if step.jobs:
        done, limit = (host.view(control + word, (1,), np.uint32)[0] for word in (DONE, LIMIT))
        assert done == limit & MOST_CHUNKS and (done > 1) != alone
    if words[FAILURE]:
        assert words[STEPS_DONE] == 0
        raise FailedError
    assert words[STEPS_DONE] == 1
    _check_guards(host, specs, places, offset)
    for number, array in enumerate(arrays):
        if number not in (overlaps or {}).values():
            left = host.view(places[number], array.shape, array.dtype)
            assert np.array_equal(left, array, equal_nan=array.dtype.kind == "f")
    end = host.memory[scratch + step.scratch_bytes :]
    assert (end[:GUARD] == _FILLED).all(), "the code wrote beyond its scratch memory"
    return [
        host.view(place, spec.static_shape, spec.dtype).copy()
        for spec, place in zip(specs[count:], places[count:], strict=True)
    ]


def _check_guards(host: WasmtimeHost, specs: Any, places: Sequence[int], end: int) -> None:
    used = np.zeros(end, bool)
    for spec, place in zip(specs, places, strict=True):
        used[place : place + spec.size * np.dtype(spec.dtype).itemsize] = True
    assert (host.memory[:end][~used] == _FILLED).all(), "the code wrote beside its results"
