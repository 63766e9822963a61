"""The time that a node of a training step takes by itself.

GPUs give no times of single kernels here, so the node is run alone, with the inputs that it has in
the first batch, many times in a row.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from playgrad.errors import PlaygradError
from playgrad.graph.tensor import Node
from playgrad.inspection.node_values import NodeValues
from playgrad.inspection.problem import Unavailable
from playgrad.runtime.session import Session

ROUND_SECONDS = 0.03
MOST_RUNS = 256
"""A GPU takes all runs of a round in one call, so with many the call itself counts little."""
ROUNDS = 3


@dataclass(frozen=True)
class NodeTime:
    """The least seconds of a run of a node, and how they were measured.

    Attributes:
        runs: in a row, in each of `ROUNDS` rounds.
    """

    seconds: float
    runs: int
    device: str


def measure(values: NodeValues, node: Node, device: str) -> NodeTime:
    """Measure a node on ``device``.

    Raises:
        Unavailable: nothing is computed for it, or it cannot run by itself.
    """
    copy = values.copy_of(node)
    if copy.op.state or copy.op.name in ("constant", "no_op"):
        raise Unavailable("stored")
    inputs = list(dict.fromkeys(node.inputs))
    arrays = values.values(inputs) if inputs else []
    feeds: dict[Any, Any] = {
        values.copy_of(tensor.node).outputs[tensor.index]: array
        for tensor, array in zip(inputs, arrays, strict=True)
    }
    try:
        with Session(copy.graph, device, threads=1, precision=values.precision) as session:
            session.repeat([copy], 1, feeds)  # compiles it
            runs = 1
            while runs < MOST_RUNS and _seconds(session, copy, feeds, runs) < ROUND_SECONDS / 4:
                runs *= 4
            least = min(_seconds(session, copy, feeds, runs) for _ in range(ROUNDS))
    except PlaygradError as error:
        raise Unavailable("not_measured", message=error.message) from None
    return NodeTime(least / runs, runs, device)


def _seconds(session: Session, node: Node, feeds: dict[Any, Any], runs: int) -> float:
    began = time.perf_counter()
    session.repeat([node], runs, feeds)
    return time.perf_counter() - began
