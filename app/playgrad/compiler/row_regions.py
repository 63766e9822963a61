"""Finds operations that one kernel can compute row by row: normalizations, products by weights, and
elementwise ones between them.

A *region* consists of nodes whose results have the same number of rows, each of which needs only
the same row of the others. No path leads out of a region and back into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from playgrad.compiler.joined_rows import JoinedRows, is_row_node, matrix_of, rows_of_result
from playgrad.compiler.program import Program
from playgrad.devices.kinds import GPU, HOST
from playgrad.devices.target import Target
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.recurrent.recurrence_kernel import MOST_ROWS, WORKGROUPS, rows_size
from playgrad.ops.recurrent.recurrence_normalization import NORMALIZATIONS
from playgrad.ops.recurrent.recurrence_product import WIDE

MOST_WEIGHTS = 1 << 18
"""Numbers of all weights of a region, times the rounds in which `PROCESSORS` compute its rows. Each
workgroup reads all weights: a processor reads 1 MiB in about the time of two dispatches that wait
for each other, and a region is in place of more than that."""
PROCESSORS = 128
MOST_INSTRUCTIONS = 48
"""Keeps the text of a kernel short enough for WGSL compilers."""


@dataclass(eq=False)
class RowRegion:
    """Nodes in topological order.

    Attributes:
        depends: the regions that must have ended before this one begins.
        merged: the region that this one became a part of.
    """

    nodes: list[Node]
    depends: set[RowRegion] = field(default_factory=set)
    merged: RowRegion | None = None

    @property
    def current(self) -> RowRegion:
        """The region that the nodes are in now."""
        return self if self.merged is None else self.merged.current


def find_regions(
    program: Program, order: Sequence[Node], targets: Mapping[str, Target]
) -> list[JoinedRows]:
    """Return the regions that are worth a kernel, in the order of their last nodes.

    Args:
        order: the nodes of the program, in topological order.
        targets: the adapters by the devices whose regions are of interest.
    """
    if not any(node.op.name in NORMALIZATIONS and node.device in targets for node in order):
        return []
    finder = _Finder(program, order, targets)
    found = [finder.joined(region.nodes) for region in finder.regions()]
    return [rows for rows in found if rows.is_worth_a_kernel]


class _Finder:
    def __init__(
        self, program: Program, order: Sequence[Node], targets: Mapping[str, Target]
    ) -> None:
        self.order = order
        self.targets = targets
        self.fetches = set(program.fetches)
        self.fixed = set(program.targets) | {b for node in order for b in node.control_inputs}
        self.readers: dict[Tensor, list[Node]] = {}
        for node in order:
            for tensor in dict.fromkeys(node.inputs):
                self.readers.setdefault(tensor, []).append(node)
        results = [tensor for node in order for tensor in node.outputs if None not in tensor.shape]
        self.bytes = sum(GPU.bytes_of(tensor.spec) for tensor in results)
        self.region_of: dict[Node, RowRegion] = {}
        self.reach: dict[Node, frozenset[RowRegion]] = {}

    def regions(self) -> list[RowRegion]:
        """Return all regions, also those of a single node."""
        for node in self.order:
            if self._is_candidate(node):
                self._place(node)
                self.reach[node] = frozenset({self.region_of[node]})
            else:
                before = (self.reach.get(each, frozenset()) for each in node.predecessors)
                self.reach[node] = frozenset[RowRegion]().union(*before)
        found = dict.fromkeys(region.current for region in self.region_of.values())
        return sorted(found, key=lambda region: region.nodes[-1].id)

    def joined(self, nodes: Sequence[Node]) -> JoinedRows:
        """Return ``nodes`` as one operation."""
        return JoinedRows(nodes, self.readers, self.fetches)

    def _is_candidate(self, node: Node) -> bool:
        device = node.device or HOST
        return (
            device in self.targets
            and node not in self.fixed
            and not node.control_inputs
            and is_row_node(node)
            and self._fits([node])
        )

    def _place(self, node: Node) -> None:
        """Put ``node`` into the regions whose results it reads, which become one, if possible."""
        region = self.region_of[node] = RowRegion([node])
        region.depends = self._before([node])
        read = (self.region_of.get(tensor.node) for tensor in node.inputs)
        near = dict.fromkeys(each.current for each in read if each is not None)
        for other in sorted(near, key=lambda each: -each.nodes[-1].id):
            self._merge(other, region)

    def _merge(self, earlier: RowRegion, later: RowRegion) -> None:
        """Make two regions one, unless something between them would depend on itself."""
        first = earlier.nodes[0]
        if (first.device, first.task, rows_of_result(first)) != (
            later.nodes[0].device,
            later.nodes[0].task,
            rows_of_result(later.nodes[0]),
        ):
            return
        nodes = sorted({*earlier.nodes, *later.nodes}, key=lambda node: node.id)
        depends = self._before(nodes)
        if not {earlier, later}.isdisjoint(_closure(depends)) or not self._fits(nodes):
            return
        later.nodes, later.depends = nodes, depends
        earlier.merged = later

    def _before(self, nodes: Sequence[Node]) -> set[RowRegion]:
        """Return the regions that ``nodes`` need by way of other nodes, or as whole matrices."""
        inside = set(nodes)
        outside = {each for node in nodes for each in node.predecessors if each not in inside}
        outside |= {b.node for node in nodes if (b := matrix_of(node)) is not None}
        return {region.current for each in outside for region in self.reach.get(each, ())}

    def _fits(self, nodes: Sequence[Node]) -> bool:
        """Return whether a kernel for ``nodes`` is within the limits."""
        limits = self.targets[nodes[0].device or HOST].limits
        rows = self.joined(nodes)
        together = MOST_ROWS
        while together > 1 and together * WORKGROUPS > rows.rows:
            together //= 2
        rounds = -(-rows.rows // (together * PROCESSORS))
        # A buffer is bound once for all its tensors, but only a part of it that is not too long.
        tensors = len(rows.inputs) + len(rows.kept)
        return (
            (
                tensors <= limits.max_storage_buffers_per_shader_stage
                or self.bytes <= limits.max_storage_buffer_binding_size
            )
            and len(rows.recurrence.body) <= MOST_INSTRUCTIONS
            and rows.weights * rounds <= MOST_WEIGHTS
            and rows_size(rows.recurrence, together) <= limits.max_compute_workgroup_storage_size
            and limits.max_compute_invocations_per_workgroup >= WIDE
            and limits.max_compute_workgroup_size_x >= WIDE
        )


def _closure(regions: Iterable[RowRegion]) -> set[RowRegion]:
    """Return ``regions`` and all that they depend on."""
    found: set[RowRegion] = set()
    pending = [region.current for region in regions]
    while pending:
        region = pending.pop()
        if region not in found:
            found.add(region)
            pending += [each.current for each in region.depends]
    return found
