"""Joins normalizations with the products and elementwise operations beside them, on a GPU.

A block of a transformer is a dozen dispatches that wait for each other, forwards and backwards. All
but its attention computes each position by itself, so one kernel can go through that for some rows:
a ``recurrence`` of one step. Gradients of weights, which are sums over rows, stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from playgrad.compiler.joined_rows import JoinedRows
from playgrad.compiler.program import Program, Rewriter
from playgrad.compiler.roll import Targets
from playgrad.compiler.row_regions import find_regions
from playgrad.devices.kinds import HOST, kind_of
from playgrad.devices.tuning import JOINED
from playgrad.graph.opdef import lookup
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import topological
from playgrad.ops.recurrent.recurrence import RECURRENCE

MOST_KERNELS = 32
"""Regions of a program above which none is joined: the kernel of each is compiled for itself, while
layers that are alike share the kernels of separate operations."""


def join_rows(program: Program, target_of: Targets) -> Program:
    """Replace regions of nodes that compute rows by rows, on devices that run them as one kernel.

    Args:
        target_of: returns the target of a device; None if its kernels are not known here.
    """
    order = program.order()
    targets = {}
    for device in {node.device or HOST for node in order}:
        target = target_of(device) if kind_of(device).has_kernels else None
        if target is not None and target.tuning.rows == JOINED:
            targets[device] = target
    regions = find_regions(program, order, targets)
    if not regions or len(regions) > MOST_KERNELS:
        return program
    return _joined(program, order, regions)


def _joined(program: Program, order: Sequence[Node], regions: Sequence[JoinedRows]) -> Program:
    """Return ``program`` with a recurrence in place of each region."""
    region_of = {node: region for region in regions for node in region.nodes}
    leader = {node: region.leader for node, region in region_of.items()}
    rewriter = Rewriter(program)

    def predecessors(node: Node) -> list[Node]:
        if node not in region_of:
            return [leader.get(each, each) for each in node.predecessors]
        return [leader.get(x.node, x.node) for x in region_of[node].outside]

    nodes = [node for node in order if leader.get(node, node) is node]
    for node in topological(nodes, predecessors):
        if node in region_of:
            _emit(rewriter, region_of[node])
        else:
            rewriter.copy(node)
    result = rewriter.finish()
    names = {
        region.leader.name: tuple(
            name
            for node in region.nodes
            for name in (*result.fused.get(node.name, ()), node.name)
            if name != region.leader.name
        )
        for region in regions
    }
    return replace(result, fused={**result.fused, **names})


def _emit(rewriter: Rewriter, region: JoinedRows) -> None:
    """Add the recurrence of a region, and its results in their shapes."""
    leader = region.leader

    def added(op: str, tensor: Tensor, name: str, **attrs: list[int]) -> Tensor:
        name = f"{leader.name}/{name}"
        graph = rewriter.graph
        return graph.copy(leader, [tensor], op=lookup(op), attrs=attrs, name=name).output

    inputs = []
    for each in region.inputs:
        tensor = rewriter[each.tensors[0]]
        if each.how == "transpose":
            tensor = added("transpose", tensor, "transposed", perm=[1, 0])
        inputs.append(tensor)
    attrs = region.recurrence.attrs()
    node = rewriter.graph.copy(leader, inputs, op=RECURRENCE, attrs=attrs)
    for member in region.nodes:
        rewriter.nodes[member] = node
    for tensor, output in zip(region.kept, node.outputs, strict=True):
        if output.shape != tensor.shape:
            output = added("reshape", output, "rows", shape=list(tensor.spec.static_shape))
        rewriter[tensor] = output
