"""Takes a training step apart: what each part of a batch needs, and what happens once.

A step that can be replicated is marked (`playgrad.ops.training.replica`): ``split_batch`` where the
batch is divided, ``cross_replica_mean`` where its parts meet again. Between the marks lies what is
done for each part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from playgrad.compiler.place import canonical
from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.graph.traversal import ancestors, topological
from playgrad.ops.state import is_variable

STAGE = "stage:"
"""Devices of this form in a step stand for the stages of a pipeline: ``stage:0``, ``stage:1``."""
SPLIT, MEAN = "split_batch", "cross_replica_mean"
SMALL = 16
"""Elements of a variable that, if it is only read, is sent each time instead of mirrored."""


@dataclass(frozen=True)
class Partition:
    """The nodes of a step, each list in topological order.

    Attributes:
        run: the node that runs the step.
        common: done once a replica before anything else: variables, constants, which samples.
        part: done for each part of the batch.
        meetings: the ``cross_replica_mean`` nodes at which the parts end. Others lie inside
            ``part``: they need all replicas in the midst of a pass.
        update: done once a replica after all parts.
        stage: the pipeline stage of every node; all 0 where there are no stages.
        own_devices: those that the user placed layers on: each is a stage by itself, in this order.
        written: names of variables that the step writes.
        recorded: names of variables into which it only records what there is to tell.
    """

    run: Node
    common: list[Node]
    part: list[Node]
    meetings: list[Node]
    update: list[Node]
    stage: dict[Node, int]
    own_devices: tuple[str, ...]
    written: frozenset[str]
    recorded: frozenset[str]

    @property
    def graph(self) -> Graph:
        return self.run.graph

    @property
    def stages(self) -> int:
        return 1 + max(self.stage.values())

    def mirrored(self, variable: Node) -> bool:
        """Whether each replica has its own copy of ``variable``."""
        large = variable.outputs[0].spec.size > SMALL
        return variable.name not in self.recorded and (large or variable.name in self.written)


def take_apart(run: Node) -> Partition:
    """The partition of the step that ``run`` runs.

    Raises:
        GraphError: the batch is not marked, or something crosses from one part to the update
            without being averaged.
    """
    order = topological(ancestors([run]))
    touched = _downstream(order, [node for node in order if node.op.name == SPLIT])
    if not touched:
        raise GraphError(
            f"the step '{run.name}' does not say where its batch may be divided.",
            op=run.name,
            hint="Mark it with pg.split_batch() and pg.cross_replica_mean().",
        )
    sharded = _sharded(order)
    needed = ancestors(sharded)  # what comes before work on a part of the batch
    part = [n for n in order if n in touched and (n in sharded or n in needed)]
    inside = set(part)
    meetings = [n for n in order if n.op.name == MEAN and n in touched and n not in inside]
    # A learning rate and the like depend on no batch, but belong to the update.
    common = [n for n in order if n not in touched and (is_variable(n) or n.phase != "update")]
    elsewhere = {*inside, *meetings, *common}
    update = [n for n in order if n not in elsewhere]
    _check(update, inside)
    writers = [(name, node) for node in order if node.op.writes for name in node.attrs["variables"]]
    written = frozenset(name for name, _ in writers)
    recorded = written - {name for name, node in writers if node.op.name != "record"}
    own = _own_devices(order)
    stage = _stages(order, own)
    return Partition(run, common, part, meetings, update, stage, own, written, recorded)


def _downstream(order: list[Node], sources: Iterable[Node]) -> set[Node]:
    found = set(sources)
    for node in order:
        if any(tensor.node in found for tensor in node.inputs):
            found.add(node)
    return found


def _sharded(order: list[Node]) -> set[Node]:
    """Nodes that depend on a part of the batch and not only on means over all parts."""
    found: set[Node] = set()
    for node in order:
        if node.op.name == SPLIT or (
            node.op.name != MEAN and any(tensor.node in found for tensor in node.inputs)
        ):
            found.add(node)
    return found


def _check(update: list[Node], inside: set[Node]) -> None:
    for node in update:
        for tensor in node.inputs:
            if tensor.node in inside:
                raise GraphError(
                    f"'{node.name}' uses '{tensor.name}', which each part of the batch has its own "
                    "of.",
                    op=node.name,
                    source=node.source,
                    hint="Average it with pg.cross_replica_mean() first.",
                )


def _own_devices(order: list[Node]) -> tuple[str, ...]:
    """The devices that the user named.

    Raises:
        GraphError: the step is cut into stages as well.
    """
    named = [node for node in order if node.device is not None]
    own = [node for node in named if not str(node.device).startswith(STAGE)]
    if own and len(own) < len(named):
        raise GraphError(
            f"'{own[0].name}' is placed on {own[0].device}, but a pipeline places layers itself.",
            op=own[0].name,
            source=own[0].source,
            hint="Leave the device scopes out, or use DataParallel.",
        )
    return tuple(sorted({canonical(str(node.device)) for node in own}))


def _stages(order: list[Node], own_devices: tuple[str, ...]) -> dict[Node, int]:
    """The stage of each node: as its device scope says, else that of its first user; what writes a
    variable is where the variable is."""
    stage: dict[Node, int] = {}
    users: dict[Node, list[Node]] = {}
    writers: dict[str, list[Node]] = {}
    for node in order:
        if node.device is not None and node.device.startswith(STAGE):
            stage[node] = int(node.device.removeprefix(STAGE))
        elif node.device is not None:
            stage[node] = own_devices.index(canonical(node.device))
        for before in node.predecessors:
            users.setdefault(before, []).append(node)
        for name in node.attrs["variables"] if node.op.writes else ():
            writers.setdefault(name, []).append(node)
    marked = set(stage)
    by_name = {node.name: node for node in order if is_variable(node)}
    for variable in by_name.values():
        own = [stage[user] for user in users.get(variable, ()) if user in marked]
        if own and variable not in stage:
            stage[variable] = min(own)
    # An optimizer's slots live with the variable that is updated along with them.
    for node in order:
        names = node.attrs["variables"] if node.op.writes else ()
        known = [stage[by_name[n]] for n in names if n in by_name and by_name[n] in stage]
        if known:
            stage[node] = known[0]
            stage.update((by_name[n], known[0]) for n in names if n in by_name)
    for node in order:  # what is averaged comes together where its parts are
        if node.op.name == MEAN and node.inputs[0].node in stage:
            stage.setdefault(node, stage[node.inputs[0].node])
    for node in reversed(order):
        if node not in stage:
            later = [stage[user] for user in users.get(node, ()) if user in stage]
            stage[node] = min(later, default=0)
    for name, nodes in writers.items():
        for node in nodes:
            stage[node] = stage[by_name[name]]
    return stage
