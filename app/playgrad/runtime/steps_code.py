"""Segments of Steps (compiler/steps_data.py) as functions that work on the buffers of the Steps.

Between the functions Python computes the steps that have no emitter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from playgrad.compiler.work_estimates import operations
from playgrad.graph.graph import Graph
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node
from playgrad.ops.emitted import emitter_of
from playgrad.ops.emitters import Emitter, Operand
from playgrad.ops.state import placeholder
from playgrad.runtime.compile_steps import LONGEST
from playgrad.runtime.interpreter import Computation, explained
from playgrad.runtime.step_host import Array, Run, StepHost, copied_to, new_bytes
from playgrad.wasm.step import FAILURE, FIRST_POINTER, UNDER_WAY, UNFINISHED, StepCode

Slot = Sequence[Any]


class CodedStep(Protocol):
    """A step, as its Steps have it and as Python computes it."""

    @property
    def computation(self) -> Computation: ...
    @property
    def slots(self) -> tuple[Sequence[Slot], Sequence[Slot]]:
        """Those of the inputs and of the outputs."""

    def run(self) -> None:
        """Compute it by its reference.

        Raises:
            Exception: of the reference, with the node and the user's line.
        """


class CompiledSegments:
    """The segments of loaded Steps.

    Args:
        buffers: the buffers of the Steps, in the memory of the host.
        segments: the steps of each segment.
    """

    def __init__(
        self, host: StepHost, buffers: Sequence[Array], segments: Sequence[Sequence[CodedStep]]
    ) -> None:
        self._steps = [step for segment in segments for step in segment]
        code = StepCode(host.relaxed)
        number, self._parts = 0, []
        self._count = 0
        for steps in segments:
            self._parts.append(self._written(code, steps, number))
            number += len(steps)
        self._runs: Sequence[Run] = host.load(code.encode(), self._count) if self._count else ()
        constants = np.frombuffer(bytes(code.constants), np.uint8)
        self._constants = copied_to(host, constants, "constants of a step")
        self._scratch = new_bytes(host, max(code.scratch_bytes, 1), "the results of a step")
        words = FIRST_POINTER + len(buffers)
        self._table = new_bytes(host, 4 * words, "a table").view(np.uint32)
        self._table[:FIRST_POINTER] = 0
        self._table[FIRST_POINTER:] = [host.address(buffer) for buffer in buffers]
        self._buffers = buffers  # whose addresses are in the table
        scratch = host.address(self._scratch)
        # There is no block of results: they are in the buffers.
        self._places = (scratch, scratch, host.address(self._constants), host.address(self._table))

    def run(self, segment: int, stop: Callable[[], bool]) -> None:
        """Compute a segment.

        Raises:
            KeyboardInterrupt: ``stop`` returned true between two parts.
        """
        for part in self._parts[segment]:
            if isinstance(part, int):
                self._call(part, stop)
                continue
            if stop():
                raise KeyboardInterrupt
            part.run()

    def _call(self, run: int, stop: Callable[[], bool]) -> None:
        table = self._table
        table[:FIRST_POINTER] = 0
        while True:
            if stop():
                raise KeyboardInterrupt
            try:
                self._runs[run](*self._places, 1)
            except Exception as error:
                raise explained(error, self._steps[table[UNDER_WAY]].computation) from None
            if table[FAILURE]:
                step = self._steps[table[UNDER_WAY]]
                step.run()
                name = step.computation.name
                raise RuntimeError(f"the code of '{name}' refused inputs that its reference takes.")
            if not table[UNFINISHED]:
                return

    def _written(
        self, code: StepCode, steps: Sequence[CodedStep], number: int
    ) -> list[int | CodedStep]:
        """Write the code of a segment, whose first step has ``number``; return its parts: numbers
        of functions, and steps for Python."""
        parts: list[int | CodedStep] = []
        work, is_open = 0.0, False
        for place, step in enumerate(steps, number):
            node, found = _node_of(step)
            if found is None:
                parts.append(step)
                is_open = False
                continue
            early, more = found.returns_early(node), operations(node)
            if not is_open or early or work + more > LONGEST:
                code.begin_run()
                parts.append(self._count)
                self._count += 1
                work = 0.0
            work += more
            is_open = not early
            code.begin_operation(place)
            inputs, outputs = ([_operand(code, slot) for slot in row] for row in step.slots)
            found.emit(code, node, inputs, outputs)
            if found.may_fail:
                code.end_if_failed()
        return parts


def _node_of(step: CodedStep) -> tuple[Node, Emitter | None]:
    """Return the node of a step, in a graph of its own, and what can write its code."""
    computation = step.computation
    graph = Graph()
    with graph.as_default():
        inputs = [placeholder(spec.dtype, spec.static_shape) for spec in computation.inputs]
    node = graph.add(computation.op, inputs, dict(computation.attrs))
    expected = [tensor.spec for tensor in node.outputs] == list(computation.outputs)
    return node, emitter_of(node) if expected else None


def _operand(code: StepCode, slot: Slot) -> Operand:
    buffer, offset, shape, dtype = slot
    spec = TensorSpec(tuple(shape), dtype)
    return Operand(spec, code.pointer(buffer) + offset, (buffer, offset))
