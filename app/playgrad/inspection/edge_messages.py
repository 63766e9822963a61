"""The weights of the messages that layers of a graph network send along edges, for one graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.edges import gcn_norm
from playgrad.graph.tensor import Node, Tensor
from playgrad.inspection.activations import results
from playgrad.networks.network import Network
from playgrad.nn.graph_attention import GATConv, GATv2Conv
from playgrad.nn.graph_conv import GCNConv, SAGEConv
from playgrad.nn.layer_calls import LayerCall, layers_of
from playgrad.nn.message_passing import MessagePassing

Array = np.ndarray[Any, Any]
_WEIGHTED = ("weighted_gather_sum", "weighted_gather_sum_like")


@dataclass(frozen=True, eq=False)
class EdgeWeights:
    """The weights of one call of a layer.

    Attributes:
        layer: its name; of the second call ``gcn_conv_1:2``.
        edges: of each edge, float32 (edges,): what its target takes of its source, or the reverse
            with ``reversed``. Of several heads the mean.
        own: what each node takes of itself, besides edges that lead to itself; float32 (nodes,).
        reversed: whether messages go against the edges.
    """

    layer: str
    edges: Array
    own: Array
    reversed: bool


def edge_input(network: Network) -> int | None:
    """Return the number of the input that is the edges of all layers of a graph network; None if
    there are no such layers, or they have not all the same edges."""
    calls = _calls(network).values()
    edges = {call.inputs[1] for call in calls}
    return next((at for at, x in enumerate(network.inputs) if edges == {x}), None)


def fixed_weights(network: Network, xs: Sequence[Array], nodes: int) -> list[EdgeWeights]:
    """Return the weights that training does not change: those of `GCNConv`, and of means.

    Args:
        xs: the inputs, of one graph, with a batch dimension of 1.
        nodes: the number of nodes.
    """
    values = dict(zip(network.inputs, xs, strict=True))
    found = []
    for name, call in _calls(network).items():
        layer = call.layer
        given = values.get(call.inputs[2]) if len(call.inputs) > 2 else None
        if not isinstance(layer, MessagePassing) or (len(call.inputs) > 2 and given is None):
            continue
        against = layer.flow == "target_to_source"
        edges = values[call.inputs[1]][0][:: -1 if against else 1].astype(np.int64)
        count = edges.shape[1]
        weights = np.ones(count, np.float32) if given is None else given[0].reshape(count, -1)
        own = np.zeros(nodes, np.float32)
        if isinstance(layer, GCNConv) and not layer.improved:
            weights = weights.reshape(count)
            if layer.normalize:
                weights, own = _normalized(edges, nodes, weights, layer.add_self_loops)
        elif isinstance(layer, SAGEConv) and layer.aggr == "mean":
            degrees = np.bincount(edges[1], minlength=nodes)
            weights = 1 / np.maximum(degrees, 1)[edges[1]]
        else:
            continue
        floats = [np.asarray(each, np.float32) for each in (weights, own)]
        found.append(EdgeWeights(name, floats[0], floats[1], against))
    return found


def _normalized(edges: Array, nodes: int, weights: Array, loops: bool) -> tuple[Array, Array]:
    """Return the weights that `GCNConv` gives to edges, and to nodes themselves."""
    _, normal = gcn_norm(edges, nodes, weights, loops)
    if not loops:
        return normal, np.zeros(nodes, np.float32)
    # Loops among the edges are part of what a node takes of itself.
    result = np.zeros(edges.shape[1], np.float32)
    result[edges[0] != edges[1]] = normal[:-nodes]
    return result, normal[-nodes:]


def learned_weights(network: Network) -> dict[str, tuple[Tensor, bool]]:
    """Return the tensors of the weights that attention gives to edges, and whether messages go
    against the edges, by the names of the calls; see `attention_of`."""
    found: dict[str, tuple[Tensor, bool]] = {}
    for name, call in _calls(network).items():
        layer = call.layer
        if not isinstance(layer, (GATConv, GATv2Conv)):
            continue
        sums = [node for node in _inside(call) if node.op.name in _WEIGHTED]
        if len(sums) == 1:
            found[name] = (sums[0].inputs[3], layer.flow == "target_to_source")
    return found


def attention_of(name: str, value: Array, edges: int, nodes: int, against: bool) -> EdgeWeights:
    """Return the value of a tensor of `learned_weights` as the weights of edges and nodes.

    Args:
        value: (edges, heads), followed by a row for each node if nodes attend to themselves.
        edges: the number of edges.
    """
    mean = value.reshape(len(value), -1).mean(axis=1, dtype=np.float32)
    own = mean[edges:] if len(mean) > edges else np.zeros(nodes, np.float32)
    return EdgeWeights(name, mean[:edges], own, against)


def _calls(network: Network) -> dict[str, LayerCall]:
    """Return the calls of layers of graph networks, by their names."""
    calls = layers_of(network.graph).calls
    return {
        name: calls[result]
        for name, (layer, result) in results(network).items()
        if isinstance(layer, MessagePassing)
    }


def _inside(call: LayerCall) -> set[Node]:
    """Return the nodes between the inputs and the result of a call."""
    seen, pending = set(call.inputs), list(call.outputs)
    nodes: set[Node] = set()
    while pending:
        tensor = pending.pop()
        if tensor not in seen:
            seen.add(tensor)
            nodes.add(tensor.node)
            pending.extend(tensor.node.inputs)
    return nodes
