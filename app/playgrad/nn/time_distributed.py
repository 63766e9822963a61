"""A layer applied to each step of a sequence."""

from __future__ import annotations

from playgrad.dtypes import dtype
from playgrad.errors import GraphError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.wrapper import WrapperLayer
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.elementwise.definitions import cast


class TimeDistributed(WrapperLayer):
    """Apply a layer to each step of a sequence, with the same weights.

    Inputs (batch, steps, ...), result (batch, steps, ...): the steps of all sequences are one batch
    for the layer.

    Args:
        layer: the layer, of which a copy is used. It has one input and one result.

    Raises:
        GraphError: it is not a layer.
    """

    kind = "time_distributed"
    takes_floats = False
    passes_mask = True

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
        y = self._inner.call(reshape(x, (-1, *features)), training=training)
        if not isinstance(y, Tensor):
            raise GraphError(
                f"layer '{self.name}' applies a layer with several results.", op=self.name
            )
        rest = [self.known(y.shape, axis) for axis in range(1, len(y.shape))]
        result = reshape(y, (-1, steps, *rest))
        self._inner._penalize([result])
        return result

    def _expect_steps(self, shape: Shape) -> None:
        if len(shape) < 2:
            raise ShapeError(
                f"layer '{self.name}' takes inputs (batch, steps, ...), got {shape_text(shape)}."
            )
