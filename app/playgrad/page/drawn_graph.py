"""The part of a graph that the page draws, and the task of a model that classifies its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict
from weakref import WeakKeyDictionary

import numpy as np

from playgrad.data.csr_graph import CSRGraph
from playgrad.data.graph_excerpt import GraphExcerpt
from playgrad.data.named_graph import names_of
from playgrad.inspection.edge_messages import (
    EdgeWeights,
    attention_of,
    edge_input,
    fixed_weights,
    learned_weights,
)
from playgrad.inspection.forward import run_all
from playgrad.inspection.outputs import classes_in, decisions, ignored_class, scale_of_outputs
from playgrad.page.shown_model import LiveModel

Array = np.ndarray[Any, Any]

MOST_NODES = 5000
"""A larger graph is drawn in part."""
SAMPLE = 2000
"""The most nodes of such a part."""
MOST_NEIGHBOURS = 12
"""The most neighbours of a node that take it there."""
MOST_PAIRS = 20_000
"""The most lines between nodes."""
UNKNOWN = -1
"""In place of a class that is not known."""
MOST_LAYERS = 4
"""The most layers whose messages are shown."""
LONGEST_NAME = 100
"""The most characters of a name."""
MOST_NAMED = 1000
"""The most classes with names."""


class EdgeMessages(TypedDict):
    """Weights of the messages of a layer, float32: along each line to its second node, then along
    each line to its first one, NaN for no edge; and of each node to itself."""

    layer: str
    weights: bytes
    own: bytes


class NodeData(TypedDict):
    """The nodes that are drawn, and lines between them: pairs of their places in ``numbers``.

    `numbers`: int32; `pairs` (lines, 2): int32; `labels`: int32, −1 for a class that is not known,
    which the loss leaves out; `trains`: 1 for nodes that count in the loss; `total`, `total_lines`:
    of the whole graph; `class_names`, `names` of the nodes: [] if they are not known; `messages`:
    those that training does not change.
    """

    numbers: bytes
    pairs: bytes
    labels: bytes
    trains: bytes
    classes: int
    total: int
    total_lines: int
    class_names: list[str]
    names: list[str]
    messages: list[EdgeMessages]


class NodeShare(TypedDict):
    """How many of some nodes the model is right about."""

    right: int
    all: int


class NodeTask(TypedDict):
    """The class predicted for each node that is drawn, or −1, and its probability; `attention`:
    messages that training changes; `training`, `others`: of all nodes of the graph whose class is
    known."""

    shows: Literal["nodes"]
    version: int
    seconds: float
    data: NotRequired[NodeData]
    predicted: bytes
    chances: bytes | None
    attention: list[EdgeMessages]
    training: NodeShare
    others: NodeShare


@dataclass(frozen=True, eq=False)
class DrawnNodes:
    """The part of a graph that is drawn.

    Attributes:
        numbers: of the nodes that are drawn, (drawn,).
        pairs: places of the ends of each line, (lines, 2), the smaller one first.
        total, total_lines: nodes and lines of the whole graph.
        edges: the numbers of the edges along the lines, (found,).
        lines: the line of each of them, (found,).
        forward: whether each of them leads to the second end of its line, (found,).
    """

    numbers: Array
    pairs: Array
    total: int
    total_lines: int
    edges: Array
    lines: Array
    forward: Array

    def along(self, weights: EdgeWeights) -> EdgeMessages:
        """Return the weights of messages along the lines."""
        is_forward = self.forward != weights.reversed
        along = np.full((2, len(self.pairs)), np.nan, np.float32)
        places = np.where(is_forward, 0, 1), self.lines
        along[places] = 0
        np.add.at(along, places, weights.edges[self.edges])  # of several edges the sum
        return {
            "layer": weights.layer,
            "weights": along.astype("<f4").tobytes(),
            "own": weights.own[self.numbers].astype("<f4").tobytes(),
        }


_drawn: WeakKeyDictionary[GraphExcerpt, DrawnNodes] = WeakKeyDictionary()


def node_view(model: LiveModel, excerpt: GraphExcerpt, needs_data: bool) -> NodeTask | None:
    """Return the classes of the nodes of the graph that a model trains with; None if it does not
    classify the nodes of one graph."""
    network: Any = model
    at, shape = edge_input(network), model.output_shape
    if at is None or len(shape) != 3 or not shape[2] or not model.is_compiled:
        return None
    scale = scale_of_outputs(model, shape[2])
    if scale is None or scale == "linear" or excerpt.y.shape[:2] != (1, shape[1] or -1):
        return None
    nodes = excerpt.y.shape[1]
    drawn = _drawn.get(excerpt)
    if drawn is None:
        drawn = _drawn[excerpt] = _drawing(excerpt, excerpt.xs[at][0])
    learned = dict(list(learned_weights(network).items())[:MOST_LAYERS])
    fetches = [model.outputs[0], *(tensor for tensor, _ in learned.values())]
    outputs, *values = run_all(model, fetches, excerpt.xs)
    predicted, chances = decisions(outputs[0], scale)
    labels = classes_in(excerpt.y[0], scale)
    is_known = labels != ignored_class(model)
    labels = np.where(is_known, labels, UNKNOWN)
    trains = _trains(excerpt) & is_known
    right, count = predicted == labels, excerpt.xs[at].shape[2]
    view: NodeTask = {
        "shows": "nodes",
        "version": excerpt.number,
        "seconds": 0.0,
        "predicted": _integers(predicted[drawn.numbers]),
        "chances": None if chances is None else chances[drawn.numbers].astype("<f4").tobytes(),
        "attention": [
            drawn.along(attention_of(name, value, count, nodes, against))
            for (name, (_, against)), value in zip(learned.items(), values, strict=True)
        ],
        "training": {"right": int(right[trains].sum()), "all": int(trains.sum())},
        "others": _share_of_others(right, is_known & ~trains, drawn, nodes),
    }
    if needs_data:
        fixed = fixed_weights(network, excerpt.xs, nodes)[:MOST_LAYERS]
        view["data"] = {
            "numbers": _integers(drawn.numbers),
            "pairs": _integers(drawn.pairs),
            "labels": _integers(labels[drawn.numbers]),
            "trains": trains[drawn.numbers].astype(np.uint8).tobytes(),
            "classes": max(2, shape[2]),
            "total": drawn.total,
            "total_lines": drawn.total_lines,
            **_names(excerpt.xs[at], drawn, nodes),
            "messages": [drawn.along(each) for each in fixed],
        }
    return view


class _Names(TypedDict):
    class_names: list[str]
    names: list[str]


def _names(edges: Array, drawn: DrawnNodes, nodes: int) -> _Names:
    """Return the names of the classes and of the nodes that are drawn, as far as they are known."""
    known = names_of(edges)
    if known is None:
        return {"class_names": [], "names": []}
    has_all = len(known.nodes) == nodes
    return {
        "class_names": [name[:LONGEST_NAME] for name in known.classes[:MOST_NAMED]],
        "names": [known.nodes[at][:LONGEST_NAME] for at in drawn.numbers] if has_all else [],
    }


def _trains(excerpt: GraphExcerpt) -> Array:
    """Return which nodes have a weight in the loss, bool (nodes,)."""
    nodes = excerpt.y.shape[1]
    if excerpt.weight is None or excerpt.weight.ndim != 2:
        return np.ones(nodes, bool)
    weighs: Array = excerpt.weight[0] > 0
    return weighs


def _share_of_others(right: Array, others: Array, drawn: DrawnNodes, nodes: int) -> NodeShare:
    others[drawn.total : nodes] = False  # padding
    return {"right": int(right[others].sum()), "all": int(others.sum())}


def _drawing(excerpt: GraphExcerpt, edges: Array) -> DrawnNodes:
    """Return the part of a graph, with ``edges`` (2, edges), that is drawn."""
    edges = edges.astype(np.int64)
    total = _without_padding(excerpt, edges)
    is_line = (edges[0] != edges[1]) & (edges < total).all(axis=0)
    places = np.flatnonzero(is_line)
    low, high = edges.min(axis=0)[places], edges.max(axis=0)[places]
    keys, line_of = np.unique(low * total + high, return_inverse=True)
    pairs = np.stack([keys // total, keys % total], axis=1)
    numbers = np.arange(total)
    kept = np.arange(len(pairs))
    if total > MOST_NODES:
        numbers = _neighbourhood(pairs, total, _trains(excerpt)[:total])
        is_drawn = np.zeros(total, bool)
        is_drawn[numbers] = True
        kept = np.flatnonzero(is_drawn[pairs].all(axis=1))
    if len(kept) > MOST_PAIRS:
        kept = kept[np.arange(MOST_PAIRS) * len(kept) // MOST_PAIRS]
    place_of_node = np.zeros(total, np.int64)
    place_of_node[numbers] = np.arange(len(numbers))
    place_of_pair = np.full(len(pairs), -1)
    place_of_pair[kept] = np.arange(len(kept))
    found = place_of_pair[line_of] >= 0
    chosen = places[found]
    return DrawnNodes(
        numbers=numbers,
        pairs=place_of_node[pairs[kept]],
        total=total,
        total_lines=len(pairs),
        edges=chosen,
        lines=place_of_pair[line_of[found]],
        forward=edges[0, chosen] < edges[1, chosen],
    )


def _without_padding(excerpt: GraphExcerpt, edges: Array) -> int:
    """Return the number of nodes up to the padding that `NeighborSampler` and `graph_dataset` add:
    nodes without an edge and without a weight, of which the last has edges to itself."""
    nodes = excerpt.y.shape[1]
    last = nodes - 1
    is_padded = excerpt.weight is not None and edges.shape[1] and (edges[:, -1] == last).all()
    if not is_padded or _trains(excerpt)[last]:
        return nodes
    inside = edges[:, (edges[0] != last) | (edges[1] != last)]
    weighing = np.flatnonzero(_trains(excerpt))
    return int(max(inside.max(initial=0), weighing.max(initial=0))) + 1


def _neighbourhood(pairs: Array, total: int, trains: Array) -> Array:
    """Return `SAMPLE` nodes around one that trains, in ascending order.

    As in GraphSAGE (Hamilton et al. 2017): some neighbours of the node, then some of theirs, and so
    on, the same ones each time. A node of another part of the graph follows if that part ends.
    """
    both = np.concatenate([pairs, pairs[:, ::-1]]).T
    graph = CSRGraph.from_edges(both, total)
    random = np.random.default_rng(0)
    is_taken = np.zeros(total, bool)
    starts = iter(np.argsort(~trains, kind="stable"))  # nodes that train come first
    taken, frontier = 0, np.zeros(0, np.int64)
    while taken < SAMPLE:
        if not len(frontier):
            start = next(each for each in starts if not is_taken[each])
            frontier = np.array([start])
        else:
            positions, _ = graph.positions(frontier, MOST_NEIGHBOURS, random)
            sources = np.unique(graph.sources(positions))
            frontier = sources[~is_taken[sources]]
            frontier = random.permutation(frontier)[: SAMPLE - taken]
        is_taken[frontier] = True
        taken += len(frontier)
    return np.flatnonzero(is_taken)


def _integers(values: Sequence[int] | Array) -> bytes:
    return np.ascontiguousarray(values, "<i4").tobytes()
