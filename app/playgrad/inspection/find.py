"""Finds the nodes of a training step for whose values a query holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.inspection.node_values import NodeValues, Sample
from playgrad.inspection.problem import Unavailable
from playgrad.inspection.query import Query
from playgrad.inspection.summary import statistics

Array = np.ndarray[Any, Any]
TOGETHER = 1 << 24
"""The most elements that are computed at a time, unless one tensor has more."""
LARGEST = 1 << 24
"""The most elements of a tensor that is searched."""


@dataclass(frozen=True)
class Found:
    """The result of a query.

    Attributes:
        matches: names of nodes and their statistics, in the order of the graph.
        checked: the number of nodes that were checked.
        skipped: the number of nodes without a value, as they have no gradient or are too large.
    """

    matches: list[tuple[str, float]]
    checked: int
    skipped: int


def find(values: NodeValues, query: Query, scope: str = "", sample: Sample = None) -> Found:
    """Return the nodes that ``query`` selects and for which it holds.

    Of a node with several outputs, one of them is enough.

    Args:
        scope: that of the graph where several are drawn. The query may begin with it.
        sample: the batch, as in `NodeValues.values`.

    Raises:
        Unavailable: no node has such a name, or the program does not differentiate a loss.
    """
    nodes = [
        node
        for node in values.nodes
        if node.outputs and (query.selects(node.name) or query.selects(scope + node.name))
    ]
    if not nodes:
        raise Unavailable("query_nothing", pattern=query.pattern)
    matches: dict[str, float] = {}
    seen: set[str] = set()
    for tensors in _groups([tensor for node in nodes for tensor in node.outputs]):
        for tensor, array in zip(tensors, _computed(values, query, tensors, sample), strict=True):
            if array is None:
                continue
            seen.add(tensor.node.name)
            numbers = statistics(array)
            if query.holds(numbers):
                matches.setdefault(tensor.node.name, numbers[query.statistic] or 0.0)
    return Found(list(matches.items()), len(seen), len(nodes) - len(seen))


def _computed(
    values: NodeValues, query: Query, tensors: Sequence[Tensor], sample: Sample
) -> Sequence[Array | None]:
    if query.part == "gradient":
        return values.known_gradients(tensors, sample)
    return values.known_values(tensors, sample)


def _groups(tensors: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """Divide tensors into groups that fit in memory, leaving out tensors that are too large."""
    group: list[Tensor] = []
    size = 0
    for tensor in tensors:
        count = int(np.prod([n or 1 for n in tensor.shape], dtype=np.int64))
        if count > LARGEST:
            continue
        if group and size + count > TOGETHER:
            yield group
            group, size = [], 0
        group.append(tensor)
        size += count
    if group:
        yield group
