"""A layer applied to each step of a sequence."""

from __future__ import annotations

from playgrad.dtypes import dtype
from playgrad.errors import GraphError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.masks import beside, mask_of, set_mask
from playgrad.nn.wrapper import WrapperLayer
from playgrad.ops.arrays.broadcast import broadcast_like
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.reductions.truth import reduce_any
from playgrad.records import LayerRecord


class TimeDistributed(WrapperLayer):
    """Apply a layer to each step of a sequence, with the same weights.

    Inputs (batch, steps, ...), result (batch, steps, ...): the steps of all sequences are one batch
    for the layer. If each step is a sequence of its own, with a mask (batch, steps, inner steps),
    the layer gets that of each step, and the result has the steps of which any inner step is kept.

    Args:
        layer: the layer, of which a copy is used. It has one input and one result.

    Raises:
        GraphError: it is not a layer.
    """

    kind = "time_distributed"
    record = LayerRecord(
        keras="TimeDistributed",
        tfjs="layer",
    )
    takes_floats = False
    uses_mask = True

    def __init__(self, layer: Layer, name: str | None = None) -> None:
        super().__init__(name)
        if not isinstance(layer, Layer):
            raise GraphError(
                f"a TimeDistributed layer takes a layer, got {type(layer).__name__}.",
                source=self.source,
            )
        self.layer = layer
        self._inner = layer.clone()

    def reset(self) -> None:
        super().reset()
        self._inner.reset()

    def build(self, *shapes: Shape) -> None:
        self._expect_steps(shapes[0])
        self.contain("layer", self._inner, (None, *shapes[0][2:]))

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        self._expect_steps(x.shape)
        steps = self.known(x.shape, 1)
        features = [self.known(x.shape, axis) for axis in range(2, len(x.shape))]
        if self._inner.takes_floats and not dtype(x.dtype).floating:
            x = cast(x, "float32")
        flat, mask = reshape(x, (-1, *features)), mask_of(inputs[0])
        if mask is not None and flat.spec.rank > 1:
            inner_mask = broadcast_like(beside(mask, x), x)[..., 0]
            set_mask(flat, reshape(inner_mask, (-1, *features[:-1])))
        y = self._inner.call(flat, training=training)
        if not isinstance(y, Tensor):
            raise GraphError(
                f"layer '{self.name}' applies a layer with several results.", op=self.name
            )
        rest = [self.known(y.shape, axis) for axis in range(1, len(y.shape))]
        result = reshape(y, (-1, steps, *rest))
        self._inner._penalize([result])
        if mask is not None:
            set_mask(result, self._mask_of_result(mask))
        return result

    def _mask_of_result(self, mask: Tensor) -> Tensor:
        if self._inner.passes_mask or mask.spec.rank == 2:
            return mask
        return reduce_any(mask, axis=tuple(range(2, mask.spec.rank)))

    def _expect_steps(self, shape: Shape) -> None:
        if len(shape) < 2:
            raise ShapeError(
                f"layer '{self.name}' takes inputs (batch, steps, ...), got {shape_text(shape)}."
            )
