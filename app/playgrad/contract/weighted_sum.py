"""A scalar that depends on every element of some tensors, to differentiate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playgrad.dtypes import dtype
from playgrad.graph.tensor import Tensor
from playgrad.ops import constant, mul, reduce_sum


def weighted_sum(tensors: Sequence[Tensor], random: np.random.Generator) -> Tensor | None:
    """Return the sum of the elements of the floating ``tensors``, each with a random weight.

    Elements along an unknown dimension have the same weight. None if no tensor is floating.
    """
    total: Tensor | None = None
    for tensor in tensors:
        if not dtype(tensor.dtype).floating:
            continue
        sizes = [1 if dim is None else dim for dim in tensor.shape]
        weights = random.uniform(0.5, 1.5, sizes)
        part = reduce_sum(mul(tensor, constant(weights, tensor.dtype)))
        total = part if total is None else total + part
    return total
