"""Rewrites a training step so that several devices do it together.

There are two dimensions. *Replicas* do the whole step for their share of the batch, each with its
own copy of the variables: data parallelism. Each share may be divided again into *micro-batches*,
which pass one after the other through *stages*, groups of layers on one device each: pipelines. The
result is one more node in the same graph, to be run in place of the step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from playgrad.compiler.place import Placement
from playgrad.errors import GraphError
from playgrad.graph.graph import at_top
from playgrad.graph.tensor import Node
from playgrad.ops.state import Variable
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.partition import Partition
from playgrad.parallel.rewriting import Rewriting
from playgrad.parallel.stashing import Stashing


@dataclass(frozen=True)
class DistributedStep:
    """A training step after `rewrite`.

    Attributes:
        run: the node that runs it.
        mirrors: for each mirrored variable the mirrors of all replicas after the first.
        homes: the devices of the original step's variables, by name.
        rows: the number of samples of each replica.
        parts: for each micro-batch, in order of its rows, the devices that compute it.
    """

    run: Node
    mirrors: dict[Variable, list[Variable]]
    homes: dict[str, str]
    rows: tuple[int, ...]
    parts: tuple[frozenset[str], ...]

    @cached_property
    def placement(self) -> Placement:
        """The devices of the original step's variables; the same function each time."""
        return lambda node: self.homes.get(node.name)


def rewrite(
    step: Partition,
    batch: int,
    distribution: Distribution,
    name: str,
    first: DistributedStep | None = None,
) -> DistributedStep:
    """Distribute a step over devices. The result equals that of the step, except for rounding.

    Args:
        batch: samples of a step.
        name: name scope of the new nodes.
        first: a step over batches of another shape, distributed in the same way, that alternates
            with this one; both use the same mirrors.

    Raises:
        GraphError: there are fewer samples than micro-batches, or the schedule runs a pass before
            one that it depends on, or lacks one.
    """
    parts = sum(distribution.micro_batches)
    if batch < parts:
        raise GraphError(
            f"a batch of {batch} cannot be divided into {parts} parts.",
            hint="Use larger batches, fewer devices, or fewer micro-batches. If it is the last "
            "batch of a data set, leave it out: batch(size, drop_remainder=True).",
        )
    with at_top(step.graph), step.graph.name_scope(name) as scope:
        kind = Stashing if distribution.stashing else Rewriting
        mirrors = {} if first is None else first.mirrors
        rewriting = kind(step, batch, distribution, scope, mirrors)
        run = rewriting.run()
    rows = tuple(sum(rows for _, rows in replica.rows) for replica in rewriting.replicas)
    by_part = tuple(frozenset(each.devices) for each in rewriting.replicas for _ in each.rows)
    return DistributedStep(run, rewriting.mirrors, rewriting.homes, rows, by_part)
