"""The kernel that computes a node of a training step, as the compiler has built it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from playgrad.devices.kinds import kind_of
from playgrad.graph.tensor import Node, Tensor
from playgrad.inspection.problem import Unavailable
from playgrad.runtime.feeds import FeedDict
from playgrad.runtime.session import Session

MOST_TEXT = 60_000
"""Characters of WGSL that are returned: a kernel of many merged ones can be long."""


@dataclass(frozen=True)
class NodeCommand:
    """A dispatch.

    Attributes:
        family: the kind of the kernel; "group" for several kernels that were merged.
        workgroups: along x, y and z.
        nodes: the nodes that it computes, with the nodes that were fused into them.
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
        within: the node that computes this one, into which it was fused or which equals it; None if
            it is computed by itself.
        fused: the nodes that are fused with it, in order, the last of which names the operation.
        commands: the dispatches that compute it; on a processor there are none.
        total: the number of dispatches of a step on the device.
    """

    device: str
    within: str | None
    fused: list[str]
    commands: list[NodeCommand] = field(default_factory=list)
    total: int = 0


def node_kernel(
    session: Session, fetches: Sequence[Node | Tensor], node: Node, feed_dict: FeedDict = None
) -> NodeKernel:
    """Return the kernel of ``node`` in a run of ``fetches``.

    Raises:
        Unavailable: nothing is computed for it while the step runs.
    """
    runnable = session.compiled(list(fetches), feed_dict)
    assert runnable is not None
    if node.op.state or node.op.name == "constant":
        raise Unavailable("stored")
    compiled = {each.name: each for each in runnable.compiled.order}
    groups = runnable.compiled.program.fused
    sink_of = {member: name for name, members in groups.items() for member in members}
    kept = runnable.compiled.program.shared.get(node.name, node.name)
    sink = sink_of.get(kept, kept)
    if sink not in compiled or compiled[sink].op.name == "constant":
        raise Unavailable("resolved")
    device = compiled[sink].device or session.device
    group = (*groups[sink], sink) if sink in groups else ()
    fused = [name for name in group if name != node.name]
    within = None if sink == node.name else sink
    plan: dict[str, Any] = runnable.plans[device].plan if device in runnable.plans else {}
    commands = plan.get("commands", [])
    kernels = {kernel["id"]: kernel for kernel in plan.get("kernels", [])}
    shown = [_command(c, kernels[c["kernel"]]) for c in commands if sink in c["nodes"]]
    if kind_of(device).runs_plans and not shown:
        raise Unavailable("resolved")
    return NodeKernel(device, within, fused, shown, len(commands))


def _command(command: dict[str, Any], kernel: dict[str, Any]) -> NodeCommand:
    wgsl = str(kernel["wgsl"])
    return NodeCommand(
        kernel["family"],
        list(command["workgroups"]),
        list(command["nodes"]),
        wgsl[:MOST_TEXT],
        len(wgsl),
    )
