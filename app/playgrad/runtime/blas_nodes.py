"""Operations of a compiled step that BLAS computes faster on the desktop.

BLAS has vectors of up to 512 bits, WebAssembly of 128: per core it multiplies three times as fast.
A change from compiled code to Python and back takes about 8 µs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.compiler.work_estimates import operations
from playgrad.graph.tensor import Node
from playgrad.ops.control.loop_op import functions_of

Array = np.ndarray[Any, Any]

PRODUCT = 1 << 19
"""Multiplications and additions from which a product of matrices is left to BLAS."""
CONVOLUTION = 1 << 22
"""The same of a convolution or one of its gradients, which also copies pixels."""
CHANNELS = 4
"""Channels of an image from which NumPy copies the pixels under windows fast enough."""
_IMAGES = {"conv2d": (0, "inputs"), "conv2d_filter_gradient": (0, "inputs")}
_IMAGES |= {"conv2d_input_gradient": (0, "outputs")}


def is_left_to_blas(node: Node) -> bool:
    """Return whether the reference of ``node`` is faster than compiled code."""
    name = node.op.name
    if name == "matmul":
        return operations(node) >= PRODUCT
    if name == "while_loop":
        return any(is_left_to_blas(n) for part in functions_of(node) for n in part.graph.nodes)
    if name not in _IMAGES or "groups" in node.attrs:
        return False
    place, side = _IMAGES[name]
    channels = getattr(node, side)[place].spec.static_shape[3]
    return bool(operations(node) >= CONVOLUTION and channels >= CHANNELS)


def product_writer(node: Node) -> Callable[[Sequence[Array], Array], None] | None:
    """Return a function that writes the product that ``node`` computes into an array; None if it
    does not multiply matrices of a dtype that BLAS has."""
    if node.op.name != "matmul" or node.outputs[0].dtype not in ("float32", "float64"):
        return None
    transposed = node.attrs["transpose_a"], node.attrs["transpose_b"]

    def write(inputs: Sequence[Array], target: Array) -> None:
        a, b = (
            x.swapaxes(-1, -2) if swapped else x
            for x, swapped in zip(inputs, transposed, strict=True)
        )
        np.matmul(a, b, out=target)

    return write
