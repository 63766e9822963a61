"""The multiplications of a network's layers."""

from __future__ import annotations

from playgrad.graph.tensor import Node
from playgrad.networks.network import Network
from playgrad.nn.layer_calls import LayerCall
from playgrad.training.layer_costs import nodes_of, size_of


def multiply_adds(network: Network) -> dict[str, int]:
    """Return the multiplications with an addition of each layer for one sample, by its name.

    Those of products and convolutions count. Loops over the steps of a sequence are unrolled.
    """
    names = {layer: name for name, layer in network.named_layers()}
    counts = dict.fromkeys(names.values(), 0)
    for item in network.structure.items:
        if isinstance(item, LayerCall):
            counts[names[item.layer]] += sum(map(_products, nodes_of(item)))
    return counts


def _products(node: Node) -> int:
    """Return the products that are added up in ``node``, for one sample."""
    size = sum(map(size_of, node.outputs))
    name = node.op.name.removeprefix("quantized_")
    if name in ("matmul", "conv2d"):  # each result is a sum over a column of weights
        return size * size_of(node.inputs[1]) // (node.outputs[0].shape[-1] or 1)
    if name == "conv2d_transpose":  # each pixel is multiplied by a set of weights
        filters, image = node.inputs
        return size_of(image) * size_of(filters) // (image.shape[-1] or 1)
    return 0
