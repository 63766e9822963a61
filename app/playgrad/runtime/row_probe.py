"""The probe of operations that compute rows by rows: the network in a block of a transformer, by a
dispatch for each operation or by one for all."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.graph.opdef import Array, Attrs, OpDef, lookup
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise.activations import relu
from playgrad.ops.products.matmul import matmul
from playgrad.ops.reductions.layer_normalization import layer_normalization

EPSILON = 1e-5


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    return [inputs[0]]


def _expand(inputs: Sequence[Tensor], attrs: Attrs) -> list[Tensor]:
    x, scale, offset, into, out = inputs
    hidden = relu(matmul(layer_normalization(x, scale, offset, EPSILON), into))
    return [layer_normalization(matmul(hidden, out) + x, scale, offset, EPSILON)]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, scale, offset, into, out = inputs

    def normalized(rows: Array) -> Array:
        return lookup("layer_normalization").reference([rows, scale, offset], {"epsilon": EPSILON})[
            0
        ]

    return [normalized((normalized(x) @ into).clip(0) @ out + x)]


FEED_FORWARD = OpDef("feed_forward", _infer, _reference, expand=_expand)
"""A residual network of two layers (units to wide and back) with a normalization before and after
it: of rows, scale and offset of the normalizations, and the weights."""


def feed_forward_shapes(rows: int, units: int, wide: int) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the inputs of ``FEED_FORWARD``."""
    return (rows, units), (units,), (units,), (units, wide), (wide, units)


def feed_forward_work(rows: int, units: int, wide: int) -> int:
    """Return the number of arithmetic operations of the products."""
    return 4 * rows * units * wide
