"""The weights of attention: which positions each head of a layer attends to.

Attention that is streamed stores no weights. They are computed by NumPy from the values that query,
key and mask have in the graph of the predictions, which stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors, topological
from playgrad.inspection.activations import BATCH, Factors, compute, results
from playgrad.networks.network import Network
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import layers_of
from playgrad.nn.sharded_layer import ShardedLayer
from playgrad.nn.transformer_decoder import TransformerDecoder
from playgrad.ops.attention import WEIGHTS, numpy_attention_weights

Array = np.ndarray[Any, Any]
_STREAMED = "dot_product_attention"
_COMPOSED = re.compile(rf"(.*/)?{WEIGHTS}(_\d+)?")


@dataclass(frozen=True)
class Attention:
    """One use of attention in a network.

    Attributes:
        heads: the number of them.
        nodes: the attention nodes, each with the heads of one device.
    """

    heads: int
    nodes: tuple[Node, ...]


def attentions(network: Network) -> dict[str, Attention]:
    """Return the uses of attention between the inputs and the outputs of a network, by name.

    Those of a layer have its name, in the second call ``attention_1:2``. The attention of a decoder
    to the sequence of an encoder ends in ``/cross``, further ones of other layers in ``/2``, ...
    Attention outside of layers has the name of its node.
    """
    nodes = ancestors([output.node for output in network.outputs])
    waiting = dict.fromkeys(filter(_attends, topological(nodes)))
    uses: dict[str, Attention] = {}
    for label, (layer, result) in results(network).items():
        inside = _between(network, result, waiting)
        for node in inside:
            del waiting[node]
        uses |= {name: _attention(each) for name, each in _named(label, layer, inside).items()}
    return uses | {node.name: _attention((node,)) for node in waiting}


def attention_weights(
    network: Network, xs: Sequence[Array], factors: Factors, names: Collection[str] | None = None
) -> dict[str, Array]:
    """Return the weights (batch, heads, to, from) of each use of attention, by name.

    Args:
        xs: the inputs, checked.
        factors: of units, as `check_factors` returns them.
        names: the layers to compute; None for all.

    Raises:
        GraphError: computing them would change a variable or the random state.
    """
    chosen = {k: use for k, use in attentions(network).items() if names is None or k in names}
    fetches = list(
        dict.fromkeys(t for use in chosen.values() for node in use.nodes for t in _needed(node))
    )
    # A mask may be one for all samples, so that batches are not joined before it is used.
    size = network.inputs[0].shape[0] or BATCH
    parts: dict[str, list[Array]] = {name: [] for name in chosen}
    for first in range(0, max(len(xs[0]), 1), size):
        batch = [x[first : first + size] for x in xs]
        values = dict(zip(fetches, compute(network, fetches, batch, factors), strict=True))
        for name, use in chosen.items():
            heads = [_weights(node, values) for node in use.nodes]
            parts[name].append(np.concatenate(heads, axis=1))
    return {name: np.concatenate(each) for name, each in parts.items()}


def _attends(node: Node) -> bool:
    if node.op.name == _STREAMED:
        return True
    return _COMPOSED.fullmatch(node.name) is not None and len(node.outputs[0].shape) == 4


def _between(network: Network, result: Tensor, waiting: Collection[Node]) -> list[Node]:
    """Return the nodes that attend in the layer call with this result, in their order."""
    seen: set[Tensor] = set(layers_of(network.graph).calls[result].inputs)
    pending = [result]
    inside: set[Node] = set()
    while pending:
        tensor = pending.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        inside.add(tensor.node)
        pending.extend(tensor.node.inputs)
    return [node for node in waiting if node in inside]


def _named(label: str, layer: Layer, nodes: Sequence[Node]) -> dict[str, tuple[Node, ...]]:
    """Return the nodes that attend in one call of a layer, by the names of the uses."""
    if isinstance(layer, ShardedLayer) and nodes:
        return {label: tuple(nodes)}
    further = ["cross"] if isinstance(layer, TransformerDecoder) else range(2, len(nodes) + 1)
    names = [label, *(f"{label}/{each}" for each in further)]
    return {name: (node,) for name, node in zip(names, nodes, strict=False)}


def _attention(nodes: tuple[Node, ...]) -> Attention:
    heads = [
        node.inputs[0].shape[2] if node.op.name == _STREAMED else node.outputs[0].shape[1]
        for node in nodes
    ]
    return Attention(sum(each or 0 for each in heads), nodes)


def _needed(node: Node) -> list[Tensor]:
    """Return the tensors of which `_weights` needs the values."""
    if node.op.name != _STREAMED:
        return [node.outputs[0]]
    query, key, _, *mask = node.inputs
    return [query, key, *mask]


def _weights(node: Node, values: dict[Tensor, Array]) -> Array:
    if node.op.name != _STREAMED:
        return values[node.outputs[0]]
    query, key, *mask = (values[tensor] for tensor in _needed(node))
    return numpy_attention_weights(query, key, mask[0] if mask else None, node.attrs)
