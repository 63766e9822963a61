"""Fuses operations into fewer.

Chains of elementwise operations become one. On a GPU, elementwise operations after a matrix product
or convolution (bias, activation or its derivative, the optimizer's update by a gradient) become its
epilogue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from playgrad.compiler.program import Program, Rewriter
from playgrad.devices.kinds import HOST, kind_of
from playgrad.devices.target import Limits
from playgrad.dtypes import dtype
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import broadcast_shapes
from playgrad.ops.elementwise.fused import FUSED, FUSED_UPDATE, UPDATE_WITH_EPILOGUE, WITH_EPILOGUE
from playgrad.ops.expression import expr as e
from playgrad.ops.state import is_variable

MAX_BINDINGS = Limits().max_storage_buffers_per_shader_stage
MAX_SCALAR_COST = 4
"""Scalars that cost more are computed once, not again for every element."""
MAX_APPLICATIONS = 500
"""Of functions in one kernel: what an expression uses twice is in its text twice, so that the text
of a chain of relus doubles with each of them."""


@dataclass
class _Group:
    """Expressions over ``inputs`` that become one node in place of ``sink``."""

    sink: Node
    inputs: list[Tensor]
    exprs: list[e.Expr]
    base: Node | None = None  # the structured op whose result is leaf 0
    members: list[Node] = field(default_factory=list)
    scalar_cost: int = 0  # of members that are recomputed for every element


def fuse(program: Program) -> Program:
    """Fuse operations where possible."""
    return _Fuser(program).run()


class _Fuser:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.order = program.order()
        self.rewriter = Rewriter(program)
        self.fetched = set(program.fetches)
        self.targets = set(program.targets)
        needed = set(self.order)
        self.consumers = {
            tensor: [node for node in users if node in needed]
            for tensor, users in program.consumers().items()
        }
        self.awaited = {before for node in self.order for before in node.control_inputs}
        self.absorbed: set[Node] = set()

    def run(self) -> Program:
        groups: dict[Node, _Group] = {}
        for node in reversed(self.order):
            if node in self.absorbed or node.op.elementwise is None:
                continue
            group = self._grow(node)
            if group.members or group.base or len(set(group.inputs)) < len(node.inputs):
                groups[node] = group
        for node in self.order:
            if node in self.absorbed:
                self.rewriter.nodes[node] = None
            elif node in groups:
                self._emit(groups[node])
            else:
                self.rewriter.copy(node)
        fused = {
            group.sink.name: tuple(m.name for m in sorted(group.members, key=attrgetter("id")))
            for group in groups.values()
            if group.members
        }
        result = self.rewriter.finish()
        return replace(result, fused={**result.fused, **fused})

    def _grow(self, sink: Node) -> _Group:
        """Absorb producers of ``sink``, one after the other, as long as possible."""
        group = _Group(sink, list(sink.inputs), list(sink.op.elementwise.build(sink.attrs)))
        _inline_constants(group)
        _unique_inputs(group)
        refused: set[Tensor] = set()
        while True:
            candidate = next(
                (
                    tensor
                    for tensor in group.inputs
                    if tensor not in refused and self._absorbable(tensor, group)
                ),
                None,
            )
            if candidate is None:
                break
            merged = _merge(group, candidate)
            if _bindings(merged) > MAX_BINDINGS or _applications(merged) > MAX_APPLICATIONS:
                refused.add(candidate)
            else:
                group = merged
        if kind_of(sink.device or HOST).fuses:
            self._take_base(group)
        self.absorbed.update(group.members)
        return group

    def _free(self, tensor: Tensor, group: _Group) -> bool:
        """Return whether nothing but ``group`` needs ``tensor`` or its node."""
        node = tensor.node
        users = set(self.consumers.get(tensor, ()))
        return (
            node.device == group.sink.device
            and node.task == group.sink.task
            and len(node.outputs) == 1
            and tensor not in self.fetched
            and node not in self.targets
            and node not in self.awaited
            and not node.control_inputs
            and not node.op.writes
            and users <= {group.sink, *group.members}
        )

    def _absorbable(self, tensor: Tensor, group: _Group) -> bool:
        elementwise = tensor.node.op.elementwise
        if elementwise is None or not self._free(tensor, group):
            return False
        if tensor.shape == group.sink.outputs[0].shape:
            return True
        cost = group.scalar_cost + _cost(tensor.node)
        return tensor.spec.size == 1 and cost <= MAX_SCALAR_COST

    def _take_base(self, group: _Group) -> None:
        """Make the group the epilogue of a structured op among its inputs, if possible."""
        sink = group.sink
        if any(output.dtype != "float32" for output in sink.outputs):
            return
        for position, tensor in enumerate(group.inputs):
            node = tensor.node
            if (
                node.op.epilogue
                and tensor.shape == sink.outputs[0].shape
                and self._free(tensor, group)
                and len(node.inputs) + _bindings(group) - 1 <= MAX_BINDINGS
            ):
                rest = [t for i, t in enumerate(group.inputs) if i != position]
                leaves = _leaves([tensor, *rest])
                replacement = [
                    _rounded(leaves[t], t) if t is tensor else leaves[t] for t in group.inputs
                ]
                group.exprs = [e.substitute(expr, replacement) for expr in group.exprs]
                group.inputs = rest
                group.base = node
                group.members.append(node)
                return

    def _emit(self, group: _Group) -> None:
        sink, base = group.sink, group.base
        extras = [self.rewriter[tensor] for tensor in group.inputs]
        if base is None:
            attrs: dict[str, Any] = {"expressions": [e.to_json(expr) for expr in group.exprs]}
            op: OpDef = FUSED
            if sink.op.writes:
                op, attrs = FUSED_UPDATE, {**attrs, "variables": sink.attrs["variables"]}
            self.rewriter.copy(sink, op=op, inputs=extras, attrs=attrs)
            return
        inputs = [self.rewriter[tensor] for tensor in base.inputs] + extras
        attrs = {
            "base": base.op.name,
            "base_attrs": dict(base.attrs),
            "base_inputs": len(base.inputs),
            "expressions": [e.to_json(expr) for expr in group.exprs],
        }
        op = WITH_EPILOGUE
        if sink.op.writes:
            op, attrs = UPDATE_WITH_EPILOGUE, {**attrs, "variables": sink.attrs["variables"]}
        self.rewriter.copy(sink, op=op, inputs=inputs, attrs=attrs)


def _bindings(group: _Group) -> int:
    """The number of buffers that the kernel binds; a variable read and written is one."""
    written = group.sink.attrs["variables"] if group.sink.op.writes else ()
    updated = [t for t in group.inputs if is_variable(t.node) and t.node.name in written]
    return len(group.inputs) + len(group.exprs) - len(updated)


def _applications(group: _Group) -> int:
    return sum(e.count(expr) for expr in group.exprs)


def _cost(node: Node) -> int:
    """The number of function applications for one element of an elementwise ``node``."""
    return sum(e.count(expr) for expr in node.op.elementwise.build(node.attrs))


def _merge(group: _Group, tensor: Tensor) -> _Group:
    """Return ``group`` with input ``tensor`` replaced by its expression."""
    node = tensor.node
    (inner,) = node.op.elementwise.build(node.attrs)
    inputs = [t for t in group.inputs if t is not tensor]
    base = len(inputs)
    inner = e.substitute(inner, [e.Leaf(base + i) for i in range(len(node.inputs))])
    leaves = _leaves(inputs)
    inner = _rounded(inner, tensor)
    replacement = [inner if t is tensor else leaves[t] for t in group.inputs]
    merged = _Group(
        group.sink,
        [*inputs, *node.inputs],
        [e.substitute(expr, replacement) for expr in group.exprs],
        members=[*group.members, node],
        scalar_cost=group.scalar_cost
        + (0 if tensor.shape == group.sink.outputs[0].shape else _cost(node)),
    )
    _inline_constants(merged)
    _unique_inputs(merged)
    return merged


def _rounded(expr: e.Expr, tensor: Tensor) -> e.Expr:
    """Return ``expr``, the value of ``tensor``, rounded as in a buffer of its dtype."""
    if dtype(tensor.dtype).computed == tensor.dtype or isinstance(expr, e.Cast):
        return expr
    return e.Cast(tensor.dtype, expr)


def _inline_constants(group: _Group) -> None:
    """Move constants of one element into the expressions."""
    inputs = [tensor for tensor in group.inputs if not _is_scalar_constant(tensor)]
    if len(inputs) == len(group.inputs):
        return
    if broadcast_shapes(*(tensor.shape for tensor in inputs)) != group.sink.outputs[0].shape:
        return  # a constant determines the shape
    replacement: list[e.Expr] = []
    leaves = _leaves(inputs)
    for tensor in group.inputs:
        if _is_scalar_constant(tensor):
            value = tensor.node.attrs["value"]
            replacement.append(e.Const(value.reshape(-1)[0].item(), tensor.dtype))
        else:
            replacement.append(leaves[tensor])
    group.exprs = [e.substitute(expr, replacement) for expr in group.exprs]
    group.inputs = inputs


def _leaves(inputs: Sequence[Tensor]) -> dict[Tensor, e.Leaf]:
    return {tensor: e.Leaf(number) for number, tensor in enumerate(inputs)}


def _is_scalar_constant(tensor: Tensor) -> bool:
    return tensor.node.op.name == "constant" and tensor.spec.size == 1


def _unique_inputs(group: _Group) -> None:
    unique = list(dict.fromkeys(group.inputs))
    if len(unique) == len(group.inputs):
        return
    leaves = _leaves(unique)
    replacement: list[e.Expr] = [leaves[tensor] for tensor in group.inputs]
    group.exprs = [e.substitute(expr, replacement) for expr in group.exprs]
    group.inputs = unique
