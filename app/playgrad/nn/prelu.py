"""An activation with parameters, as a layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.weighted_layer import WeightedLayer
from playgrad.ops.core.build import one_or_more
from playgrad.ops.elementwise.activations import relu
from playgrad.records import LayerRecord


class AlphaOptions(TypedDict, total=False):
    """Options of a layer with factors of negative numbers."""

    alpha_initializer: Any
    alpha_regularizer: Any
    alpha_constraint: Any
    name: str | None


class PReLU(WeightedLayer):
    """Parametric ReLU: ``x`` where it is positive, and ``alpha * x`` elsewhere.

    He et al. 2015. Inputs (batch, ...), result of the same shape; ``alpha`` is learned, one for
    each element of a sample.

    Args:
        alpha_initializer: name or `Initializer`.
        alpha_regularizer: name or `Regularizer`; None for none.
        alpha_constraint: name or `Constraint`; None for none.
        shared_axes: the axes along which one ``alpha`` holds, the batch being axis 0: [1, 2] for
            one for each channel of an image. None for none.
    """

    kind = "prelu"
    record = LayerRecord(
        rule="parametricRelu",
        keras="PReLU",
        tfjs="shared_axes",
        torch="prelu",
    )
    passes_mask = True

    defaults = {"alpha_initializer": "zeros"}

    def __init__(
        self,
        *,
        shared_axes: int | Sequence[int] | None = None,
        **options: Unpack[AlphaOptions],
    ) -> None:
        super().__init__(**options)
        self.shared_axes = (
            None if shared_axes is None else tuple(int(n) for n in one_or_more(shared_axes))
        )

    def build(self, *shapes: Shape) -> None:
        shape, rank = shapes[0], len(shapes[0])
        shared = self.shared_axes or ()
        wrong = [axis for axis in shared if not -rank <= axis < rank or axis % rank == 0]
        if wrong:
            raise ShapeError(
                f"layer '{self.name}' cannot share alpha along axis {wrong[0]} of inputs of shape "
                f"{shape_text(shape)}: it has no such axis after the batch."
            )
        whole = {axis % rank for axis in shared}
        sizes = [1 if axis in whole else self.known(shape, axis) for axis in range(1, rank)]
        self.add_declared("alpha", sizes)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        return relu(x) - self.variables["alpha"] * relu(-x)
