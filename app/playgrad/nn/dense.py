"""The fully connected layer."""

from __future__ import annotations

from typing import Any, Unpack

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.options import KernelOptions
from playgrad.nn.weighted_layer import BiasedLayer
from playgrad.ops.products.matmul import matmul
from playgrad.records import LayerRecord


class Dense(BiasedLayer):
    """Fully connected layer: ``activation(inputs @ kernel + bias)``.

    Inputs (batch, ..., in), kernel (in, units), bias (units,), result (batch, ..., units).

    Args:
        units: number of outputs per sample.
        activation: name or function; None for no activation.
        use_bias: whether to add a bias.
        kernel_initializer, bias_initializer: name or `Initializer`.
        kernel_regularizer, bias_regularizer: name or `Regularizer`; None for none.
        activity_regularizer: a penalty on the results: name or `Regularizer`; None for none.
        kernel_constraint, bias_constraint: name or `Constraint`; None for none.
    """

    kind = "dense"
    record = LayerRecord(
        about="Each unit adds up all its inputs, each times a weight that training finds.",
        menu=("basic", 1),
        example='32, activation="relu"',
        fields=(cards.count("units", "units"), cards.ACTIVATION, cards.BIAS, cards.REGULARIZER),
        rule="dense",
        keras="Dense",
        tfjs="units activation use_bias",
        torch="dense",
        from_torch={"Linear": ("-in_features out_features>units bias>use_bias",)},
        expects_unit_scale=True,
        is_positionwise=True,
    )
    passes_mask = True

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        **options: Unpack[KernelOptions],
    ) -> None:
        super().__init__(activation, use_bias, **options)
        self.units = self.positive("units", units)

    def build(self, *shapes: Shape) -> None:
        self.add_declared("kernel", (self.known(shapes[0], -1), self.units))
        self.add_bias(self.units)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        kernel = self.variables["kernel"]
        self.expect_width(inputs[0].shape, kernel.spec.static_shape[0])
        return self._activate(self.product(inputs[0], kernel, self.variables.get("bias")))

    def product(self, x: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
        """Return ``x @ kernel + bias`` for ``x`` of two or more dimensions."""
        y = matmul(x, kernel)
        return y if bias is None else y + bias
