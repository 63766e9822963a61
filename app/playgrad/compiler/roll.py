"""Makes the steps of recurrent layers one operation on a GPU.

Unrolled, each step of a layer is two dispatches that wait for each other, forwards and backwards.
A ``recurrence`` is one dispatch for all steps, whatever they compute row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from playgrad.compiler.dispatch_groups import CHAIN_INVOCATIONS, CHAIN_ROUNDS
from playgrad.compiler.long_loops import within_rounds
from playgrad.compiler.places_in_tensors import rows_of
from playgrad.compiler.program import Program, Rewriter
from playgrad.compiler.recurrences import LEAST_STEPS, Steps, find_steps
from playgrad.compiler.rolled_inputs import FlatInput, RolledInput
from playgrad.compiler.rolled_steps import RolledSteps
from playgrad.devices.kinds import HOST, kind_of
from playgrad.devices.target import Target
from playgrad.devices.tuning import LOOP
from playgrad.graph.opdef import lookup
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors, topological
from playgrad.ops.core.kernel import KernelRequest
from playgrad.ops.recurrent.recurrence import RECURRENCE
from playgrad.ops.recurrent.recurrence_kernel import lower_recurrence, rows_size
from playgrad.ops.recurrent.recurrence_product import WIDE

MOST_WEIGHTS = 1 << 18
"""Numbers of all weights of a step. Each workgroup reads them in every step, and a processor reads
1 MiB in about the time of two dispatches that wait for each other."""

MOST_IN_CHAINS = CHAIN_INVOCATIONS * CHAIN_ROUNDS
"""Results of a product up to which the dispatches of dozens of steps are merged to one anyway."""

Targets = Callable[[str], "Target | None"]
"""Returns the target of a device; None for a device whose kernels are not known here."""


def roll(program: Program, target_of: Targets) -> Program:
    """Replace the steps of recurrent layers by recurrences, on devices that run them as loops."""
    order = program.order()
    targets: dict[str, Target] = {}
    for device in {node.device or HOST for node in order}:
        target = target_of(device) if kind_of(device).has_kernels else None
        if target is not None and target.tuning.recurrence == LOOP:
            targets[device] = target
    refused: set[str] = set()
    while targets:
        for steps in find_steps(program, order, targets):
            product = steps.nodes[0][0]
            if product.name in refused:
                continue
            rolled = _rolled(program, order, steps, targets[product.device or HOST])
            if rolled is not None:
                program, order = rolled, rolled.order()
                break
            refused.add(product.name)
        else:
            break
    return program


def _rolled(
    program: Program, order: Sequence[Node], steps: Steps, target: Target
) -> Program | None:
    """Return ``program`` with a recurrence in place of ``steps``; None if that is not possible."""
    readers: dict[Tensor, list[Node]] = {}
    for node in order:
        for tensor in dict.fromkeys(node.inputs):
            readers.setdefault(tensor, []).append(node)
    count = len(steps.nodes)
    candidates = [
        RolledSteps(steps.part(first, count - left), readers, program.fetches)
        for first in range(2)
        for left in range(3)
        if count - first - left >= LEAST_STEPS
    ]
    # What a layer's first and last steps read is often elsewhere than what the others read, and
    # would have to be copied to it.
    for rolled in sorted(candidates, key=lambda each: (each.joined, -len(each.steps.nodes))):
        flat = replace(rolled, flat_outputs=True)
        for each in (rolled, flat, replace(flat, flat_inputs=True)):
            if each.is_possible and _fits(each, target):
                rewriting = _Rewriting(program, order, each)
                # Whatever the steps are, nothing that all of them read may need one of them.
                if rewriting.earlier.isdisjoint(each.nodes):
                    return rewriting.run()
    return None


def _fits(rolled: RolledSteps, target: Target) -> bool:
    """Return whether the target can run the recurrence, and it is worth it."""
    limits, recurrence = target.limits, rolled.recurrence
    products = [each for each in recurrence.body if each.op == "matmul"]
    if all(rolled.rows * each.widths[0] <= MOST_IN_CHAINS for each in products):
        return False
    outputs = [TensorSpec(shape, "float32") for shape in recurrence.shapes]
    specs = [each.spec for each in rolled.inputs]
    if (
        rolled.weights > MOST_WEIGHTS
        or len(specs) + len(outputs) > limits.max_storage_buffers_per_shader_stage
        or any(4 * x.size > limits.max_storage_buffer_binding_size for x in (*specs, *outputs))
        or rows_size(recurrence) > limits.max_compute_workgroup_storage_size
        or min(limits.max_compute_invocations_per_workgroup, limits.max_compute_workgroup_size_x)
        < WIDE
    ):
        return False
    if target.loop_rounds is None:
        return True
    request = KernelRequest(tuple(specs), tuple(outputs), recurrence.attrs(), target)
    return all(within_rounds(call, target) is not None for call in lower_recurrence(request).calls)


class _Rewriting:
    """Builds the program with a recurrence."""

    def __init__(self, program: Program, order: Sequence[Node], rolled: RolledSteps) -> None:
        self.rolled = rolled
        self.order = order
        self.rewriter = Rewriter(program)
        self.earlier = ancestors(x.node for x in rolled.outside)
        self.states: dict[Tensor, Tensor] = {}  # initial ones, as parts of the recurrence's outputs
        self.initial = {
            tensors[0]
            for kept, tensors in zip(rolled.recurrence.kept, rolled.kept, strict=True)
            if kept.initial
        }

    def run(self) -> Program:
        rolled, leader = self.rolled, self.rolled.leader
        nodes = [node for node in self.order if node not in rolled.nodes or node is leader]
        for node in topological(nodes, self._predecessors):
            if node is leader:
                self._emit()
            else:
                inputs = [self._input(x, node) for x in node.inputs]
                if not join_parts(self.rewriter, node, inputs):
                    self.rewriter.copy(node, inputs=inputs)
        result = self.rewriter.finish()
        names = [node.name for each in rolled.steps.nodes for node in each if node is not leader]
        return replace(result, fused={**result.fused, leader.name: tuple(names)})

    def _predecessors(self, node: Node) -> list[Node]:
        if node is self.rolled.leader:
            return [x.node for x in self.rolled.outside]
        result = [
            self.rolled.leader if before in self.rolled.nodes else before
            for before in node.predecessors
        ]
        if any(self._is_state(x, node) for x in node.inputs):
            result.append(self.rolled.leader)
        return result

    def _is_state(self, tensor: Tensor, reader: Node) -> bool:
        """Return whether ``reader`` reads an initial state where the recurrence has it."""
        return tensor in self.initial and reader not in self.earlier

    def _input(self, tensor: Tensor, reader: Node) -> Tensor:
        if self._is_state(tensor, reader):
            return self.states[tensor]
        return self.rewriter[tensor]

    def _emit(self) -> None:
        """Add the recurrence, and the parts of its outputs that others read."""
        rolled, rewriter = self.rolled, self.rewriter
        inputs = [self._made(each) for each in rolled.inputs]
        attrs = rolled.recurrence.attrs()
        node = rewriter.graph.copy(rolled.leader, inputs, op=RECURRENCE, attrs=attrs)
        for each in rolled.nodes:
            rewriter.nodes[each] = node
        for kept, tensors in zip(rolled.recurrence.kept, rolled.kept, strict=True):
            numbers = range(len(tensors))
            places = reversed(numbers) if kept.order == "reversed" else numbers
            for tensor, place in zip(tensors, places, strict=True):
                part = self._part(node.outputs[kept.output], kept.first, place, tensor)
                if tensor in self.initial and tensor.node not in rolled.nodes:
                    self.states[tensor] = part
                else:
                    rewriter[tensor] = part

    def _added(self, op: str, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str) -> Tensor:
        """Add a node beside the recurrence."""
        leader = self.rolled.leader
        return self.rewriter.graph.copy(
            leader, inputs, op=lookup(op), attrs=attrs, name=f"{leader.name}/{name}"
        ).output

    def _made(self, each: RolledInput | FlatInput) -> Tensor:
        """Return an input of the recurrence."""
        if isinstance(each, FlatInput):
            return self._joined([self._made(part) for part in each.parts], [-1])
        tensors = [self.rewriter[x] for x in each.tensors]
        if each.how == "transpose":
            return self._added("transpose", tensors, {"perm": [1, 0]}, "transposed")
        if each.how == "concat":
            return self._joined(tensors, list((1, 1, *tensors[0].spec.static_shape)[-2:]))
        return tensors[0]

    def _joined(self, tensors: Sequence[Tensor], shape: Sequence[int]) -> Tensor:
        """Return ``tensors``, each of which gets ``shape``, joined along the first axis."""
        parts = [self._added("reshape", [x], {"shape": list(shape)}, "part") for x in tensors]
        return self._added("concat", parts, {"axis": 0}, "parts")

    def _part(self, output: Tensor, first: int, place: int, like: Tensor) -> Tensor:
        """Return the matrix number ``place``, counted from element ``first`` of an output."""
        shape = list(like.spec.static_shape)
        if output.shape == like.shape:
            return output
        attrs = {"begin": [place, 0, 0], "size": [1, *shape]}
        if output.spec.rank == 1:
            attrs = {"begin": [first + place * like.spec.size], "size": [like.spec.size]}
        part = self._added("slice", [output], attrs, "step")
        return self._added("reshape", [part], {"shape": shape}, "step")


def join_parts(rewriter: Rewriter, node: Node, inputs: Sequence[Tensor]) -> bool:
    """Add ``node`` with fewer inputs if it is a concat of neighbouring parts of a recurrence's
    output; return whether it is."""
    if node.op.name != "concat" or node.attrs["axis"] != 0 or node.control_inputs:
        return False
    pieces: list[tuple[Tensor, int, list[Tensor]]] = []  # base, first element, inputs
    for tensor in inputs:
        found = rows_of(tensor)
        if found is not None and found[0].node.op is RECURRENCE:
            base, first = found
            if pieces and pieces[-1][0] is base:
                _, begin, members = pieces[-1]
                if first == begin + sum(x.spec.size for x in members):
                    members.append(tensor)
                    continue
            pieces.append((base, first, [tensor]))
        else:
            pieces.append((tensor, 0, [tensor]))
    if len(pieces) == len(inputs):
        return False
    joined = [
        members[0] if len(members) == 1 else _neighbours(rewriter, node, base, first, members)
        for base, first, members in pieces
    ]
    if len(joined) == 1:
        rewriter.replace(node, joined, joined[0].node)
    else:
        rewriter.copy(node, inputs=joined)
    return True


def _neighbours(
    rewriter: Rewriter, node: Node, base: Tensor, first: int, members: Sequence[Tensor]
) -> Tensor:
    """Return neighbouring parts of ``base`` as one tensor, which ``node`` would join."""
    count, *shape = base.spec.static_shape
    size = base.spec.size // count
    rows = sum(x.spec.size for x in members) // size

    def added(op: str, x: Tensor, attrs: dict[str, Any]) -> Tensor:
        name = f"{node.name}/parts"
        return rewriter.graph.copy(node, [x], op=lookup(op), attrs=attrs, name=name).output

    part = base
    if rows < count:
        begin = [first // size, *[0] * len(shape)]
        part = added("slice", base, {"begin": begin, "size": [rows, *shape]})
    height = sum(x.spec.static_shape[0] for x in members)
    return added("reshape", part, {"shape": [height, *members[0].spec.static_shape[1:]]})
