"""Attention of one more position, with the stored keys and values of those before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.core.build import constant
from playgrad.ops.elementwise.definitions import equal, less_equal, where

if TYPE_CHECKING:
    from playgrad.nn.attention import MultiHeadAttention

Pair = tuple[Tensor, Tensor]


def cached_context(
    layer: MultiHeadAttention, query: Tensor, new: Pair, stored: Pair, position: Tensor
) -> Tensor:
    """Return the result of the heads at ``position``, (batch, 1, heads * value_dim).

    Args:
        query: (batch, 1, heads, key_dim).
        new: key and value of the position, of the same form.
        stored: keys and values of all positions, (batch, positions, heads, ...); those before
            ``position`` count.
        position: int32, (1, 1).
    """
    count = layer.known(stored[0].shape, 1)
    every = constant(np.arange(count, dtype=np.int32))
    here = equal(reshape(every, (1, count, 1, 1)), reshape(position, (1, 1, 1, 1)))
    key, value = (where(here, now, before) for now, before in zip(new, stored, strict=True))
    seen = less_equal(reshape(every, (1, 1, 1, count)), reshape(position, (1, 1, 1, 1)))
    return layer.attend(query, key, value, 0, False, seen, False)
