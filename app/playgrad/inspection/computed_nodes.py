"""How a processor computes the nodes of a program: in compiled code, or in Python, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from playgrad.compiler.segments import Segment
from playgrad.devices.kinds import kind_of
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.emitted import emitted_operations, emitter_of
from playgrad.ops.emitters import MOST_OPERANDS
from playgrad.runtime.compiled_segments import trains
from playgrad.runtime.desktop_host import compiles_for_sessions
from playgrad.runtime.feeds import FeedDict
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import step_host

Reason = Literal["own", "no_emitter", "unsupported", "operands"]
"""Why Python computes a node: it is of an operation that the program has registered; the operation
cannot be compiled, or not with these dtypes and attributes; it has too many operands; NumPy's BLAS
is faster."""
Whole = Literal["waits", "apart"]
"""Why nothing of a program is compiled: it changes no variable and has not run often enough, or
Python is faster; Python runs it operation by operation, as all programs here or because it runs on
several devices."""


@dataclass
class ComputedNodes:
    """The nodes of a program by what computes them.

    Nodes that were computed when the program was compiled, and those that need no code, are in
    neither group.

    Attributes:
        operations: the number of operations that a run computes, fused ones as one.
        compiled_operations: how many of them are compiled.
        compiled: the nodes that compiled code computes, with those that were fused into them.
        python: the nodes that Python computes although the others are compiled.
        problem: why nothing is compiled, or None.
    """

    operations: int = 0
    compiled_operations: int = 0
    compiled: list[str] = field(default_factory=list)
    python: dict[str, Reason] = field(default_factory=dict)
    problem: Whole | None = None


def computed_nodes(
    session: Session, fetches: Sequence[Node | Tensor], feed_dict: FeedDict = None
) -> ComputedNodes | None:
    """Return how a run of ``fetches`` computes its nodes; None if GPUs take part in it."""
    with session.lock:
        runnable = session.compiled(list(fetches), feed_dict)
        assert runnable is not None
        if any(loaded.plan.get("commands") for loaded in runnable.plans.values()):
            return None
        host_program = runnable.host_program
        order = None if host_program is None else host_program.step_order()
        if host_program is None:
            nodes = _of_segments(runnable.compiled.segments)
            emitted = {node for node in nodes if emitter_of(node) is not None}
        elif order is not None:
            nodes, emitted = order.nodes, set(order.emitters)
        else:
            return ComputedNodes(problem="waits" if host_program.can_compile else "apart")
        if not emitted:
            return ComputedNodes(problem="apart")
        result = ComputedNodes(len(nodes), len(emitted))
        program = runnable.compiled.program
        copies: dict[str, list[str]] = {}
        for name, kept in program.shared.items():
            copies.setdefault(kept, []).append(name)
        for node in nodes:
            names = [node.name, *program.fused.get(node.name, ())]
            names += [copy for name in names for copy in copies.get(name, ())]
            if node in emitted:
                result.compiled += names
            else:
                result.python |= dict.fromkeys(names, _reason(node))
        return result


def _of_segments(segments: Mapping[str, Sequence[Segment]]) -> list[Node]:
    """Return the nodes of several processors, if they compile their segments."""
    compiles = step_host() is not None or compiles_for_sessions()
    if not compiles or not any(map(trains, segments.values())):
        return []
    passive = ("send", "receive", "placeholder", "variable", "constant", "read_variable", "no_op")
    return [
        node
        for row in segments.values()
        for segment in row
        if kind_of(segment.device).compiles
        for node in segment.nodes
        if node.op.name not in passive and not node.op.alias
    ]


def _reason(node: Node) -> Reason:
    """Return why ``node``, which no emitter writes, is Python's."""
    if node.op.source is not None and node.op.elementwise is None:
        return "own"
    if node.op.elementwise is None and node.op.name not in emitted_operations():
        return "no_emitter"
    return "operands" if len(node.inputs) + len(node.outputs) > MOST_OPERANDS else "unsupported"
