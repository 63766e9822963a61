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
