"""Rewrites a training step so that several devices do it together.

Two dimensions are all there is. *Replicas* do the whole step for their share of the batch, each
with its own copy of the variables: data parallelism. Each share may be divided again into
*micro-batches*, which pass one after the other through the *stages* that the layers were dealt out
to: pipelines. The result is one more node in the same graph, to be run in the place of the step.
"""

from __future__ import annotations

from playgrad.errors import GraphError
from playgrad.parallel.layout import Layout, Rewritten
from playgrad.parallel.partition import Partition
from playgrad.parallel.rewriting import Rewriting
from playgrad.parallel.stashing import Stashing


def rewrite(step: Partition, batch: int, layout: Layout, name: str) -> Rewritten:
    """Lay a step over devices; its result is that of the step as it was, but for rounding.

    Args:
        batch: samples of a step.
        name: name scope of the new nodes.

    Raises:
        GraphError: there are fewer samples than parts, or the schedule does a pass before what it
            needs, or leaves one out.
    """
    parts = sum(layout.micro_batches)
    if batch < parts:
        raise GraphError(
            f"a batch of {batch} cannot be divided into {parts} parts.",
            hint="Use larger batches, fewer devices, or fewer micro-batches.",
        )
    graph = step.graph
    with (
        graph.as_default(),
        graph.reenter_scope(""),
        graph.device(None),
        graph.control_dependencies(None),
        graph.name_scope(name) as scope,
    ):
        kind = Stashing if layout.stashing else Rewriting
        return kind(step, batch, layout, scope).run()
