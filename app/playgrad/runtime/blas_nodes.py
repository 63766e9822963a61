"""Products of matrices that Python computes between compiled parts, such as those of float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.graph.tensor import Node

Array = np.ndarray[Any, Any]


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
