"""Clusters: nodes that are placed together, because dividing them gains nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from playgrad.compiler.place import variables_of
from playgrad.compiler.program import Program
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable
from playgrad.parallel.placement.heft import Work
from playgrad.parallel.placement.operation_times import bytes_of


@dataclass(frozen=True)
class Groups:
    """Data with a home: variables that are written together, and fed values.

    Attributes:
        of: the group of each variable and placeholder.
        bound: the groups that each node must share a device with.
        sizes: bytes of the variables of each group.
    """

    of: Mapping[Node, Hashable]
    bound: Mapping[Node, frozenset[Hashable]]
    sizes: Mapping[Hashable, int]


def find_groups(order: Sequence[Node]) -> Groups:
    """Return the groups of a program whose nodes are ``order``."""
    variables = {node.name: node for node in order if is_variable(node)}
    leader = {name: name for name in variables}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    used = {node: [n for n in variables_of(node) if n in variables] for node in order}
    for names in used.values():
        for name in names[1:]:
            leader[find(name)] = find(names[0])
    of: dict[Node, Hashable] = {node: find(name) for name, node in variables.items()}
    of.update((node, ("fed", node.name)) for node in order if node.op.name == "placeholder")
    sizes: Counter[Hashable] = Counter()
    for node, group in of.items():
        sizes[group] += bytes_of([node.output.spec]) if is_variable(node) else 0
    return Groups(of, {n: frozenset(map(find, names)) for n, names in used.items() if names}, sizes)


@dataclass
class Cluster(Work):
    """Nodes that one device runs without a break.

    Attributes:
        nodes: in the order in which they run.
        touched: the groups that they use in any way.
    """

    nodes: list[Node] = field(default_factory=list)
    touched: frozenset[Hashable] = frozenset()


def find_clusters(
    program: Program,
    seconds: Mapping[Node, Mapping[str, float]],
    groups: Groups,
    room: float = math.inf,
) -> list[Cluster]:
    """Return the working nodes of ``program`` as chains, each after those it needs.

    A node joins the chain of its only predecessor where it is that one's only successor.

    Args:
        seconds: the seconds of each node, on each device that it may run on.
        room: bytes of variables that a cluster may use.
    """
    nodes = [n for n in program.order() if n.op.name != "constant" and n not in groups.of]
    before = _predecessors(nodes)
    successors = Counter(earlier for needed in before.values() for earlier in needed)
    clusters: list[Cluster] = []
    position: dict[Node, int] = {}
    for node in nodes:
        bound = groups.bound.get(node, frozenset())
        read = {groups.of[tensor.node] for tensor in node.inputs if tensor.node in groups.of}
        single = Cluster(seconds[node], groups=bound, nodes=[node], touched=bound | read)
        only = next(iter(before[node])) if len(before[node]) == 1 else None
        if (
            only is not None
            and successors[only] == 1
            and _may_join(clusters[position[only]], single, groups, room)
        ):
            position[node] = position[only]
            _join(clusters[position[only]], single)
        else:
            position[node] = len(clusters)
            clusters.append(single)
    for cluster in clusters:
        _add_inputs(cluster, before, position, groups)
    return clusters


def _predecessors(nodes: Sequence[Node]) -> dict[Node, set[Node]]:
    """Return what each node waits for: its inputs, and the earlier users of variables that it uses
    in place, so that the last one to write is the same whatever the devices."""
    before: dict[Node, set[Node]] = {}
    last: dict[str, Node] = {}
    for node in nodes:
        names = variables_of(node)
        waits = [*node.predecessors, *(last[name] for name in names if name in last)]
        before[node] = {earlier for earlier in waits if earlier in before}
        last.update(dict.fromkeys(names, node))
    return before


def _may_join(chain: Cluster, single: Cluster, groups: Groups, room: float) -> bool:
    fits = sum(groups.sizes[group] for group in chain.touched | single.touched) <= room
    nested = chain.groups <= single.groups or single.groups <= chain.groups
    return fits and nested and chain.seconds.keys() == single.seconds.keys()


def _join(chain: Cluster, single: Cluster) -> None:
    chain.nodes += single.nodes
    chain.seconds = {d: time + single.seconds[d] for d, time in chain.seconds.items()}
    chain.groups |= single.groups
    chain.touched |= single.touched


def _add_inputs(
    cluster: Cluster,
    before: Mapping[Node, set[Node]],
    position: Mapping[Node, int],
    groups: Groups,
) -> None:
    """Add the bytes that ``cluster`` receives from others and reads of groups."""
    here = position[cluster.nodes[0]]
    after = Counter({position[b]: 0 for n in cluster.nodes for b in before[n]})
    held: Counter[Hashable] = Counter()
    for tensor in dict.fromkeys(tensor for node in cluster.nodes for tensor in node.inputs):
        if tensor.node in groups.of:
            held[groups.of[tensor.node]] += bytes_of([tensor.spec])
        elif tensor.node in position:
            after[position[tensor.node]] += bytes_of([tensor.spec])
    del after[here]
    cluster.after, cluster.held = after, held
