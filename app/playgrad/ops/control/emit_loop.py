"""``while_loop`` in a compiled step: its functions are written within a loop of WebAssembly.

The loop variables are where the results of the loop will be. What an iteration computes besides has
places in the scratch memory of the step, the same ones in each iteration. A loop that may take long
returns from time to time, so that a stop can end it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, prod

import numpy as np

from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.control.loop_op import NUMBER, functions_of
from playgrad.ops.control.subgraph import Subgraph
from playgrad.ops.emitters import Operand, emitter, emitter_of
from playgrad.wasm.elements import BITS, ELEMENTS, load, store
from playgrad.wasm.encoding import I32
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.scalars import scalar
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import StackValue, integer

WORK_OF_CALL = 1e7
"""Elements and multiplications, about, that a loop computes before it returns to its caller."""
MOST_ITERATIONS = (1 << 31) - 1
_PRODUCTS = ("matmul", "conv", "dot_product_attention")


def _supports(node: Node) -> bool:
    limit = node.attrs["maximum_iterations"]
    if not _is_static(node) or (limit is not None and limit > MOST_ITERATIONS):
        return False
    return all(_is_inner(each) for part in functions_of(node) for each in part.graph.nodes)


def _is_static(node: Node) -> bool:
    return all(None not in tensor.spec.shape for tensor in (*node.inputs, *node.outputs))


def _is_inner(node: Node) -> bool:
    """Return whether code within the loop can compute a node of its functions."""
    if node.op.name in ("placeholder", "constant") or node.op.alias:
        return True
    found = emitter_of(node) if _is_static(node) else None
    return found is not None and not found.returns_early(node)


def _work(node: Node) -> float:
    """Return roughly the elements and multiplications of one iteration."""
    work = 1.0
    for part in functions_of(node):
        for each in part.graph.nodes:
            sizes = [tensor.spec.size for tensor in (*each.inputs, *each.outputs)]
            work += sum(sizes)
            if each.op.name.startswith(_PRODUCTS):
                work += 2 * isqrt(prod(sizes[:2]) * sizes[-1])
            if each.op is node.op:
                work += (each.attrs["maximum_iterations"] or 0) * _work(each)
    return work


def _returns_early(node: Node) -> bool:
    limit = node.attrs["maximum_iterations"]
    return limit is None or limit * _work(node) > WORK_OF_CALL


@emitter("while_loop", supports=_supports, may_fail=True, returns_early=_returns_early)
def _emit(
    step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> None:
    count, gates = node.attrs["loop_vars"], len(inputs) - node.attrs["gates"]
    parts = functions_of(node)
    room = _Room(parts, [output.spec for output in outputs])
    with step.reserved(room.size) as base:
        number = _in_scratch(step, base + room.number, NUMBER)
        arguments = [*outputs, number, *inputs[count:gates]]
        _begin(step, node, number, inputs[:count], outputs)
        go_on, left = step.f.copy(integer(1)), step.f.local(I32)
        if early := _returns_early(node):
            step.f.set(left, integer(max(1, int(WORK_OF_CALL / _work(node)))))
        with step.f.repeat_while(go_on):
            step.f.set(go_on, integer(0))
            with step.f.when(_may_go_on(node, number, inputs[gates:])):
                (result,) = _write(step, parts[0], arguments, room, base)
                step.f.set(go_on, load(ELEMENTS["bool"], result.address))
            with step.f.when(go_on):
                results = _write(step, parts[1], arguments, room, base)
                staged = [_in_scratch(step, base + place, NUMBER) for place in room.staged]
                _assign(step.f, outputs, results, staged)
                step.f.store(number.address, number.address.load(I32) + 1)
                if early:
                    step.f.add(left, -1)
                    with step.f.when(left.equals(0)):
                        step.f.store(step.unfinished, integer(1))
                        step.f.set(go_on, integer(0))


class _Room:
    """Places in scratch memory, as offsets from its beginning.

    Attributes:
        number: of the number of the iteration.
        values: of what the functions compute.
        staged: of new values of loop variables that are old values of others.
        size: the bytes of all.
    """

    def __init__(self, parts: Sequence[Subgraph], variables: Sequence[TensorSpec]) -> None:
        self.size = 0
        self.number = self._place(NUMBER)
        self.values: dict[Tensor, int] = {
            tensor: self._place(tensor.spec)
            for part in parts
            for node in part.graph.nodes
            if node.op.name not in ("placeholder", "constant") and not node.op.alias
            for tensor in node.outputs
        }
        self.staged = [self._place(spec) for spec in variables]

    def _place(self, spec: TensorSpec) -> int:
        place, size = self.size, _bytes(spec)
        self.size += size + -size % 16
        return place


def _begin(
    step: StepCode,
    node: Node,
    number: Operand,
    inputs: Sequence[Operand],
    variables: Sequence[Operand],
) -> None:
    """Write the beginning of the loop, which is left out when a call continues it."""
    begins: StackValue = integer(1)
    if _returns_early(node):
        begins = step.f.copy(step.unfinished.load(I32).equals(0))
        step.f.store(step.unfinished, integer(0))
    with step.f.when(begins):
        step.f.store(number.address, integer(0))
        for start, variable in zip(inputs, variables, strict=True):
            _copy(step.f, start, variable)


def _may_go_on(node: Node, number: Operand, gates: Sequence[Operand]) -> StackValue:
    """Return 1 if the condition is to be computed: there are iterations left, and no branch of a
    ``cond`` that is not taken has the loop."""
    limit = node.attrs["maximum_iterations"]
    value: StackValue = integer(1)
    if limit is not None:
        value = scalar("i32.lt_u", number.address.load(I32), integer(limit))
    for gate in gates:
        value = value & load(ELEMENTS["bool"], gate.address)
    return value


def _write(
    step: StepCode, part: Subgraph, arguments: Sequence[Operand], room: _Room, base: int
) -> list[Operand]:
    """Write the code of a function, and return its results."""
    operands = dict(zip(part.inputs, arguments, strict=True))
    for node in part.graph.nodes:
        if node.op.name == "placeholder":
            continue
        if node.op.name == "constant":
            offset = step.add_constant(np.asarray(node.attrs["value"]))
            place = ("constant", offset)
            operands[node.output] = Operand(node.output.spec, step.in_constants(offset), place)
            continue
        inputs = [operands[tensor] for tensor in node.inputs]
        if node.op.alias:
            same = inputs[0]
            operands[node.output] = Operand(node.output.spec, same.address, same.place)
            continue
        outputs = [_in_scratch(step, base + room.values[t], t.spec) for t in node.outputs]
        found = emitter_of(node)
        assert found is not None
        found.emit(step, node, inputs, outputs)
        if found.may_fail:
            step.end_if_failed()
        operands.update(zip(node.outputs, outputs, strict=True))
    return [operands[tensor] for tensor in part.outputs]


def _assign(
    f: Procedure,
    variables: Sequence[Operand],
    results: Sequence[Operand],
    staged: Sequence[Operand],
) -> None:
    """Store the new values of loop variables, some of which may be old values of others."""
    old = {variable.place for variable in variables}
    moved = []
    for variable, result, stage in zip(variables, results, staged, strict=True):
        if result.place == variable.place:
            continue
        if result.place in old:
            copy = Operand(variable.spec, stage.address, stage.place)
            _copy(f, result, copy)
            result = copy
        moved.append((result, variable))
    for result, variable in moved:
        _copy(f, result, variable)


def _copy(f: Procedure, source: Operand, target: Operand) -> None:
    size = _bytes(target.spec)
    if size in BITS:
        store(f, BITS[size], target.address, load(BITS[size], source.address))
    elif size:
        f.copy_bytes(target.address, source.address, size)


def _in_scratch(step: StepCode, offset: int, spec: TensorSpec) -> Operand:
    return Operand(spec, step.in_scratch(offset), ("scratch", offset))


def _bytes(spec: TensorSpec) -> int:
    return spec.size * np.dtype(spec.dtype).itemsize
