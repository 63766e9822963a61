"""Partitions a training step into the work for each part of a batch and the work done once.

A step that can be replicated is marked (`playgrad.ops.training.replica`): ``split_batch`` where the
batch is divided, ``cross_replica_mean`` where its parts are averaged. The nodes between the marks
run for each part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from playgrad.devices.kinds import canonical
from playgrad.devices.machines import full_name
from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.graph.traversal import ancestors, topological
from playgrad.ops.state import contents_of, is_variable

STAGE = "stage:"
"""Prefix of devices that represent the stages of a pipeline: ``stage:0``, ``stage:1``."""
SPLIT, MEAN = "split_batch", "cross_replica_mean"
SMALL = 16
"""Largest number of elements of a read-only variable that is sent each time, not mirrored."""


@dataclass(frozen=True)
class Partition:
    """The nodes of a step, each list in topological order.

    Attributes:
        run: the node that runs the step.
        common: run once per replica, before anything else: variables, constants, sample indices.
        part: run for each part of the batch.
        means: the ``cross_replica_mean`` nodes at which the parts end. Others are in ``part``:
            they need all replicas in the middle of a pass.
        update: run once per replica, after all parts.
        stage: the pipeline stage of every node; 0 if there are no stages. Where a stage has several
            devices, their number is counted through from stage to stage instead.
        user_devices: devices that the user placed layers on; each is a stage, in this order.
        written: names of the variables that the step writes.
        recorded: names of the variables that only record its history.
    """

    run: Node
    common: list[Node]
    part: list[Node]
    means: list[Node]
    update: list[Node]
    stage: dict[Node, int]
    user_devices: tuple[str, ...]
    written: frozenset[str]
    recorded: frozenset[str]

    @property
    def graph(self) -> Graph:
        return self.run.graph

    @property
    def stages(self) -> int:
        return 1 + max(self.stage.values())

    def mirrored(self, variable: Node) -> bool:
        """Return whether each replica has a mirror of ``variable``."""
        if variable.name in self.recorded:
            return False
        # These are set together with their mirrors. Of streamed data, each process may have read
        # only what its own replicas need.
        is_set = contents_of(variable) is not None
        large = variable.outputs[0].spec.size > SMALL
        return large or is_set or variable.name in self.written


def take_apart(run: Node, devices: Sequence[str] = (), width: int = 1) -> Partition:
    """Partition the step that ``run`` runs.

    Args:
        devices: the devices of a pipeline's stages, ``width`` devices each, that the user may place
            nodes on.

    Raises:
        GraphError: the batch is not marked, or a tensor crosses from a part to the update without
            being averaged.
    """
    order = topological(ancestors([run]))
    touched = _downstream(order, [node for node in order if node.op.name == SPLIT])
    if not touched:
        raise GraphError(
            f"the step '{run.name}' does not mark where its batch may be divided.",
            op=run.name,
            hint="Mark it with pg.split_batch() and pg.cross_replica_mean().",
        )
    sharded = _sharded(order)
    needed = ancestors(sharded)  # includes nodes that run before work on a part of the batch
    part = [n for n in order if n in touched and (n in sharded or n in needed)]
    inside = set(part)
    means = [n for n in order if n.op.name == MEAN and n in touched and n not in inside]
    # A learning rate and the like depend on no batch, but belong to the update.
    common = [n for n in order if n not in touched and (is_variable(n) or n.phase != "update")]
    elsewhere = {*inside, *means, *common}
    update = [n for n in order if n not in elsewhere]
    _check(update, inside)
    writers = [(name, node) for node in order if node.op.writes for name in node.attrs["variables"]]
    written = frozenset(name for name, _ in writers)
    recorded = written - {name for name, node in writers if node.op.name != "record"}
    placed_on = _user_devices(order, devices)
    stage = _stages(order, tuple(devices) or placed_on, width)
    return Partition(run, common, part, means, update, stage, placed_on, written, recorded)


def _downstream(order: list[Node], sources: Iterable[Node]) -> set[Node]:
    """The nodes of ``order`` that depend on ``sources``, and these."""
    dependent = set(sources)
    for node in order:
        if any(tensor.node in dependent for tensor in node.inputs):
            dependent.add(node)
    return dependent


def _sharded(order: list[Node]) -> set[Node]:
    """The nodes that depend on a part of the batch and not only on means over all parts."""
    sharded: set[Node] = set()
    for node in order:
        if node.op.name == SPLIT or (
            node.op.name != MEAN and any(tensor.node in sharded for tensor in node.inputs)
        ):
            sharded.add(node)
    return sharded


def _check(update: list[Node], inside: set[Node]) -> None:
    """Raise GraphError if the update reads a tensor of a part, which is ``inside``."""
    for node in update:
        for tensor in node.inputs:
            if tensor.node in inside:
                raise GraphError(
                    f"'{node.name}' uses '{tensor.name}', whose value differs between the parts of "
                    "the batch.",
                    op=node.name,
                    source=node.source,
                    hint="Average it with pg.cross_replica_mean() first.",
                )


def _user_devices(order: list[Node], possible: Sequence[str]) -> tuple[str, ...]:
    """The devices that the user placed nodes on.

    Args:
        possible: the devices of the stages of a pipeline, if the user may place nodes on them.

    Raises:
        GraphError: the step has pipeline stages too, which have other devices.
    """
    placed = [node for node in order if node.device is not None]
    by_user = [node for node in placed if not str(node.device).startswith(STAGE)]
    others = [node for node in by_user if canonical(str(node.device)) not in possible]
    if others and len(by_user) < len(placed):
        node = others[0]
        raise GraphError(
            f"'{node.name}' is placed on {full_name(str(node.device))}, but a pipeline places "
            "layers itself.",
            op=node.name,
            source=node.source,
            hint="Leave the device scopes out, use DataParallel, or, for layers divided among the "
            "devices of a stage, Pipeline(..., devices_per_stage=...).",
        )
    return tuple(sorted({canonical(str(node.device)) for node in by_user}))


def _stages(order: list[Node], devices: tuple[str, ...], width: int) -> dict[Node, int]:
    """The stage of each node: from its device scope, else that of its first user. A node that
    writes a variable has the variable's stage."""
    stage: dict[Node, int] = {}
    users: dict[Node, list[Node]] = {}
    writers: dict[str, list[Node]] = {}
    for node in order:
        if node.device is not None and node.device.startswith(STAGE):
            stage[node] = width * int(node.device.removeprefix(STAGE))
        elif node.device is not None:
            stage[node] = devices.index(canonical(node.device))
        for before in node.predecessors:
            users.setdefault(before, []).append(node)
        for name in node.attrs["variables"] if node.op.writes else ():
            writers.setdefault(name, []).append(node)
    marked = set(stage)
    by_name = {node.name: node for node in order if is_variable(node)}
    for variable in by_name.values():
        readers = [stage[user] for user in users.get(variable, ()) if user in marked]
        if readers and variable not in stage:
            stage[variable] = min(readers)
    # An optimizer's slots are on the stage of the variable that is updated with them.
    for node in order:
        names = node.attrs["variables"] if node.op.writes else ()
        known = [stage[by_name[n]] for n in names if n in by_name and by_name[n] in stage]
        if known:
            stage[node] = known[0]
            stage.update((by_name[n], known[0]) for n in names if n in by_name)
    for node in order:  # a mean is on the stage of its terms
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
