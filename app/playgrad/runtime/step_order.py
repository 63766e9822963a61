"""The order of a compiled step: which nodes are compiled together, and which Python computes.

Nodes of a kind follow each other as far as their dependencies let them, so that there are few
changes between compiled code and Python. Nodes that write variables come last.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.emitted import emitter_of
from playgrad.ops.emitters import Emitter
from playgrad.ops.state import is_variable
from playgrad.runtime.step_layout import StepLayout

_SOURCES = {"constant", "placeholder", "variable"}


@dataclass(frozen=True)
class Part:
    """Nodes that are computed by one compiled run, or by Python, one after the other."""

    compiled: bool
    nodes: tuple[Node, ...]


@dataclass
class StepOrder:
    """The work of a step.

    Attributes:
        parts: all nodes that compute something, in order.
        emitters: of the nodes that are compiled.
        roots: for each tensor, the one that has its bytes: of a variable, a constant, a fed
            tensor, or a result.
        variables: the name of each variable that is read, by the root that is its old value.
        written: the new value of each variable that is written, as a result.
        in_place: the variables whose new values may overwrite the old ones.
        layout: which values lie within others.
    """

    parts: list[Part]
    emitters: dict[Node, Emitter]
    roots: dict[Tensor, Tensor]
    variables: dict[Tensor, str]
    written: dict[str, Tensor]
    in_place: set[str] = field(default_factory=set)
    layout: StepLayout = field(default_factory=StepLayout)

    def root(self, tensor: Tensor) -> Tensor:
        """Return the tensor that has the bytes of ``tensor``."""
        return self.roots.get(tensor, tensor)

    def variable_of(self, tensor: Tensor) -> str | None:
        """Return the variable whose old value ``tensor`` is, or None."""
        return self.variables.get(self.root(tensor))

    @property
    def nodes(self) -> list[Node]:
        """All nodes of the parts."""
        return [node for part in self.parts for node in part.nodes]


def step_order(
    order: Sequence[Node],
    fetches: Collection[Tensor],
    fed: Collection[Tensor],
    overwrites: bool,
    may_end: Callable[[Node], bool] | None = None,
) -> StepOrder:
    """Return the work of ``order``, all nodes of a program.

    Args:
        fed: the tensors that are fed.
        overwrites: whether variables may be overwritten, as far as a step that fails then still
            changes none of them.
        may_end: whether a run may end at a node for another reason than its inputs.
    """
    roots, variables, written, rewritten = _roots(order)
    given = set(fed)
    work = [node for node in order if _computes(node, given)]
    emitters = {node: found for node in work if (found := emitter_of(node)) is not None}
    before = _dependencies(order, set(work), roots)
    final = _final(work, before)
    parts = _parts(
        [node for node in work if node not in final], before, lambda node: node in emitters
    )
    last = [node for node in work if node in final]
    parts += _parts(last, before, lambda node: node in emitters)
    result = StepOrder(_joined(parts), emitters, roots, variables, written)
    if overwrites and all(
        node in emitters and not emitters[node].may_fail and not (may_end and may_end(node))
        for node in last
    ):
        result.in_place = set(written) - rewritten - _read_late(result, fetches)
    return result


def _computes(node: Node, fed: AbstractSet[Tensor]) -> bool:
    if node.op.name in (*_SOURCES, "no_op", "read_variable") or node.op.alias:
        return False
    return not node.outputs or any(tensor not in fed for tensor in node.outputs)


def _roots(
    order: Sequence[Node],
) -> tuple[dict[Tensor, Tensor], dict[Tensor, str], dict[str, Tensor], set[str]]:
    """Return the roots of all tensors, the variables by the roots that are their old values, the
    last new value of each variable, and the variables that are written more than once."""
    roots: dict[Tensor, Tensor] = {}
    variables: dict[str, Tensor] = {}
    written: dict[str, Tensor] = {}
    rewritten: set[str] = set()
    for node in order:
        if is_variable(node):
            variables[node.name] = node.outputs[0]
            roots[node.outputs[0]] = node.outputs[0]
        elif node.op.name == "read_variable":
            name = node.attrs["variable"]
            if name not in written:
                variables.setdefault(name, node.outputs[0])
            value = written.get(name, variables.get(name, node.outputs[0]))
            roots[node.outputs[0]] = roots.get(value, value)
        elif node.op.alias:
            roots[node.outputs[0]] = roots.get(node.inputs[0], node.inputs[0])
        else:
            roots.update((tensor, tensor) for tensor in node.outputs)
            for name, tensor in zip(_names_written(node), node.outputs, strict=False):
                if name in written:
                    rewritten.add(name)
                written[name] = tensor
    return roots, {tensor: name for name, tensor in variables.items()}, written, rewritten


def _names_written(node: Node) -> Sequence[str]:
    names: Sequence[str] = node.attrs["variables"] if node.op.writes else ()
    return names


def _dependencies(
    order: Sequence[Node], work: Collection[Node], roots: Mapping[Tensor, Tensor]
) -> dict[Node, set[Node]]:
    """Return for each node the nodes of ``work`` that must be computed before it."""
    before: dict[Node, set[Node]] = {}
    for node in order:
        needed: set[Node] = set()
        values = (roots[tensor].node for tensor in (*node.inputs, *node.outputs) if tensor in roots)
        for earlier in (*node.predecessors, *values):
            if earlier is node:
                continue
            if earlier in work:
                needed.add(earlier)
            else:
                needed |= before.get(earlier, set())
        before[node] = needed
    return before


def _final(work: Sequence[Node], before: Mapping[Node, set[Node]]) -> set[Node]:
    """Return the nodes that write variables, and all that come after one."""
    final: set[Node] = set()
    for node in work:
        if node.op.writes or not final.isdisjoint(before[node]):
            final.add(node)
    return final


def _parts(
    nodes: Sequence[Node],
    before: Mapping[Node, set[Node]],
    is_compiled: Callable[[Node], bool],
) -> list[Part]:
    """Divide ``nodes`` into parts: all that can be compiled first, then all that Python has to
    compute first, and so on; otherwise in their order."""
    number = {node: place for place, node in enumerate(nodes)}
    missing = [sum(earlier in number for earlier in before[node]) for node in nodes]
    followers: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        for earlier in before[node]:
            if earlier in number:
                followers[number[earlier]].append(place)
    ready: dict[bool, list[int]] = {True: [], False: []}
    for place, count in enumerate(missing):
        if not count:
            ready[is_compiled(nodes[place])].append(place)
    parts: list[Part] = []
    kind = True
    while ready[True] or ready[False]:
        taken: list[Node] = []
        while ready[kind]:
            place = heapq.heappop(ready[kind])
            taken.append(nodes[place])
            for follower in followers[place]:
                missing[follower] -= 1
                if not missing[follower]:
                    heapq.heappush(ready[is_compiled(nodes[follower])], follower)
        if taken:
            parts.append(Part(kind, tuple(taken)))
        kind = not kind
    return parts


def _joined(parts: Sequence[Part]) -> list[Part]:
    joined: list[Part] = []
    for part in parts:
        if joined and joined[-1].compiled == part.compiled:
            joined[-1] = Part(part.compiled, joined[-1].nodes + part.nodes)
        else:
            joined.append(part)
    return joined


def _read_late(step: StepOrder, fetches: Collection[Tensor]) -> set[str]:
    """Return the variables whose old values are needed once their new values exist."""
    writers = {tensor.node: name for name, tensor in step.written.items()}
    late = {name for tensor in fetches if (name := step.variable_of(tensor)) is not None}
    overwritten: set[str] = set()
    for node in step.nodes:
        read = {name for tensor in node.inputs if (name := step.variable_of(tensor)) is not None}
        late |= read & overwritten
        if node not in writers:
            continue
        for name in node.attrs["variables"]:
            same = all(
                tensor.spec == step.written[name].spec
                for tensor in node.inputs
                if step.variable_of(tensor) == name
            )
            if not (same and step.emitters[node].in_place):
                late |= read & {name}
            overwritten.add(name)
    return late
