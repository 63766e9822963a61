"""The kernel that computes a node of a training step, as the compiler has built it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from playgrad.graph.tensor import Node
from playgrad.inspection.problem import Unavailable
from playgrad.ops.elementwise.fused import FUSED, FUSED_UPDATE, UPDATE_WITH_EPILOGUE, WITH_EPILOGUE
from playgrad.runtime.session import Session

MOST_TEXT = 60_000
"""Characters of WGSL that are returned: a kernel of many merged ones can be long."""
_FUSED = {op.name for op in (FUSED, FUSED_UPDATE, WITH_EPILOGUE, UPDATE_WITH_EPILOGUE)}


@dataclass(frozen=True)
class Command:
    """A dispatch.

    Attributes:
        family: the kind of the kernel; "group" for several kernels that were merged.
        workgroups: along x, y and z.
        nodes: those that it computes, with those that were fused into them.
        wgsl: the source of the kernel, or its beginning.
        length: of the whole source, in characters.
    """

    family: str
    workgroups: list[int]
    nodes: list[str]
    wgsl: str
    length: int


@dataclass(frozen=True)
class NodeKernel:
    """The work of a device for a node.

    Attributes:
        device: the device.
        within: the node into which this one was fused; None if it was not.
        fused: the nodes that are computed together with it.
        commands: the dispatches that compute it; on a processor there are none.
        total: the number of dispatches of a step on the device.
    """

    device: str
    within: str | None
    fused: list[str]
    commands: list[Command] = field(default_factory=list)
    total: int = 0


def node_kernel(session: Session, targets: Sequence[Node], node: Node) -> NodeKernel:
    """Return the kernel of ``node`` in a run of ``targets``.

    Raises:
        Unavailable: nothing is computed for it while the step runs.
    """
    runnable = session.compiled(list(targets))
    assert runnable is not None
    compiled = {each.name: each for each in runnable.compiled.order}
    sinks = _sinks(targets, compiled)
    sink = sinks.get(node.name)
    if node.op.state or node.op.name == "constant":
        raise Unavailable("stored")
    if sink is None or compiled[sink].op.name == "constant":
        raise Unavailable("resolved")
    device = compiled[sink].device or session.device
    fused = [name for name, into in sinks.items() if into == sink and name != node.name]
    within = None if sink == node.name else sink
    plan: dict[str, Any] = runnable.plans[device].plan if device in runnable.plans else {}
    commands = plan.get("commands", [])
    kernels = {kernel["id"]: kernel for kernel in plan.get("kernels", [])}
    shown = [_command(c, kernels[c["kernel"]]) for c in commands if sink in c["nodes"]]
    if device.startswith("gpu") and not shown:
        raise Unavailable("resolved")
    return NodeKernel(device, within, fused, shown, len(commands))


def _command(command: dict[str, Any], kernel: dict[str, Any]) -> Command:
    wgsl = str(kernel["wgsl"])
    return Command(
        kernel["family"],
        list(command["workgroups"]),
        list(command["nodes"]),
        wgsl[:MOST_TEXT],
        len(wgsl),
    )


def _sinks(targets: Sequence[Node], compiled: dict[str, Node]) -> dict[str, str]:
    """Return the compiled node that computes each node of the program.

    That is the node of the same name, or the fused operation that all users of a node are part of.
    """
    order: list[Node] = []
    seen: set[Node] = set()
    users: dict[Node, list[Node]] = {}
    pending = list(targets)
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        order.append(node)
        pending += node.predecessors
    for node in order:
        for tensor in node.inputs:
            users.setdefault(tensor.node, []).append(node)
    sinks: dict[str, str] = {}
    for node in sorted(order, key=lambda each: -each.id):  # users first
        if node.name in compiled:
            sinks[node.name] = node.name
            continue
        # Other users only look at its shape: a value that they read would be computed for itself.
        into = {sinks[user.name] for user in users.get(node, ()) if user.name in sinks}
        fused = [sink for sink in into if compiled[sink].op.name in _FUSED]
        if len(fused) == 1:
            sinks[node.name] = fused[0]
    return sinks
