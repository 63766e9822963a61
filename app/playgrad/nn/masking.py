"""Masking of steps by their value."""

from __future__ import annotations

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.masks import set_mask
from playgrad.ops.elementwise.definitions import cast, not_equal
from playgrad.ops.reductions.truth import reduce_any
from playgrad.records import LayerRecord


class Masking(Layer):
    """Mask the steps of a sequence whose features all equal ``mask_value``.

    Inputs (batch, steps, features), result of the same shape, in which masked steps are 0. Layers
    after it skip them, if they use masks.

    Args:
        mask_value: the value of padding.
    """

    kind = "masking"
    record = LayerRecord(
        rule="same",
        keras="Masking",
        tfjs="mask_value",
    )
    uses_mask = True

    def __init__(self, mask_value: float = 0.0, name: str | None = None) -> None:
        super().__init__(name)
        self.mask_value = float(mask_value)

    def build(self, *shapes: Shape) -> None:
        self.expect_rank(shapes[0], 3, "(batch, steps, features)")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        kept = reduce_any(not_equal(x, self.mask_value), axis=-1, keepdims=True)
        result = x * cast(kept, x.dtype)
        set_mask(result, reduce_any(not_equal(x, self.mask_value), axis=-1))
        return result
