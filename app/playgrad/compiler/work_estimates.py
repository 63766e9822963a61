"""Rough estimates of the time of operations, by their shapes alone.

They decide how a device's work is cut and ordered, not where it runs: for that,
`playgrad.parallel.placement` measures. Wrong estimates cost time, never correctness.
"""

from __future__ import annotations

import math

from playgrad.graph.tensor import Node

RATE = 2e10
"""Multiplications and additions per second, of a few cores."""
BANDWIDTH = 1e10
"""Bytes per second."""
_MOVED = {"send", "receive"}
_ALONE = {"constant", "placeholder", "variable", "no_op"}
_PRODUCTS = ("matmul", "conv", "depthwise", "dot_product_attention")


def estimated_seconds(node: Node) -> float:
    """Return roughly how long ``node`` takes, with static shapes.

    A result of several large inputs is taken for a product of matrices: (m, k) by (k, n) takes
    m k n multiplications, which is the root of the product of all three sizes.
    """
    if node.op.name in _ALONE:
        return 0.0
    inputs = [tensor.spec.size for tensor in node.inputs]
    outputs = [tensor.spec.size for tensor in node.outputs]
    seconds = 4 * (sum(inputs) + sum(outputs)) / BANDWIDTH
    if node.op.name in _MOVED or node.op.elementwise is not None or len(inputs) < 2:
        return seconds
    if not node.op.name.startswith(("matmul", "conv", "depthwise")):
        return seconds
    return seconds + 2 * math.sqrt(inputs[0] * inputs[1] * outputs[0]) / RATE


def is_product(node: Node) -> bool:
    """Return whether ``node`` multiplies matrices, as convolutions do."""
    return _name(node).startswith(_PRODUCTS) and len(node.inputs) > 1


def operations(node: Node) -> int:
    """Return the multiplications and additions of a node; of elementwise ones one an element.

    A product (m, k) by (k, n) takes 2 m k n, for each pair of a stack, which is twice the root of
    the product of all three sizes if there is one pair. So does a convolution, up to its windows at
    the border.
    """
    sizes = [tensor.spec.size for tensor in node.inputs]
    results = sum(tensor.spec.size for tensor in node.outputs)
    if not is_product(node):
        return max(results, *sizes, 0)
    name = _name(node)
    if name == "matmul":
        shape, (*_, height, _) = node.inputs[0].spec.static_shape, node.outputs[0].spec.static_shape
        return 2 * results * (sizes[0] // max(1, math.prod(shape[:-2]) * height))
    filters = node.inputs[1].spec.static_shape
    if name == "conv2d" and len(filters) == 4:
        return 2 * node.outputs[0].spec.size * math.prod(filters[:3])
    return 2 * math.isqrt(sizes[0] * sizes[1] * results)


def _name(node: Node) -> str:
    """Return the name of the operation of ``node`` without its epilogue."""
    return str(node.attrs.get("base", node.op.name))
