"""Stored keys and values, extended by one position."""

from __future__ import annotations

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.core.build import constant
from playgrad.ops.elementwise.definitions import equal, less_equal, where


def with_position(new: Tensor, stored: Tensor, position: Tensor, count: int) -> Tensor:
    """Return the keys or values of all positions, with one position replaced.

    Args:
        new: the keys or values of the position, (batch, 1, heads, features of one).
        stored: the keys or values of all positions, (batch, count, heads, features of one).
        position: int32, (1, 1).
    """
    here = equal(reshape(_positions(count), (1, count, 1, 1)), reshape(position, (1, 1, 1, 1)))
    return where(here, new, stored)


def seen_from(position: Tensor, count: int) -> Tensor:
    """Return the mask of attention from one position: bool (1, 1, 1, count), true up to it."""
    every = reshape(_positions(count), (1, 1, 1, count))
    return less_equal(every, reshape(position, (1, 1, 1, 1)))


def _positions(count: int) -> Tensor:
    return constant(np.arange(count, dtype=np.int32))
