"""What a processor in another interpreter is to do for a program, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.compiler.dispatches import StateLayout
from playgrad.compiler.segments import Segment
from playgrad.graph.serialize import graph_to_json
from playgrad.graph.tensor import Tensor


def processor_plan(
    segments: Sequence[Segment], fetches: Sequence[Tensor], state: StateLayout
) -> dict[str, Any]:
    """The nodes of one processor's ``segments``, JSON-serialisable.

    Args:
        fetches: what the program's caller wants.
        state: where its variables are.

    Returns:
        ``graph``: the nodes (graph/serialize.py); ``segments``: the names of each one's nodes;
        ``feeds``: the tensors that are given, by placeholder or channel; ``outputs``: the names of
        those that are asked for; ``variables``: buffer and place in it by name.
    """
    nodes = [node for segment in segments for node in segment.nodes]
    return {
        "graph": graph_to_json(nodes[0].graph, nodes),
        "segments": [[node.name for node in segment.nodes] for segment in segments],
        "feeds": {
            node.attrs.get("channel", node.name): node.outputs[0].name
            for node in nodes
            if node.op.name in ("placeholder", "receive")
        },
        "outputs": list(dict.fromkeys(t.name for s in segments for t in s.results(fetches))),
        "variables": {name: [place.buffer, place.offset] for name, place in state.items()},
    }
