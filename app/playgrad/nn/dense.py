"""The fully connected layer."""

from __future__ import annotations

from typing import Any

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import activations, cards, constraints, initializers, regularizers
from playgrad.nn.layer import Layer
from playgrad.ops.products.matmul import matmul
from playgrad.records import LayerRecord


class Dense(Layer):
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
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.units = self.positive("units", units)
        self.activation = activation
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.bias_constraint = constraints.get(bias_constraint)
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self._activate = activations.get(activation)

    def build(self, *shapes: Shape) -> None:
        width = self.known(shapes[0], -1)
        self.add_weight(
            "kernel",
            (width, self.units),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if self.use_bias:
            self.add_weight(
                "bias",
                (self.units,),
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        kernel = self.variables["kernel"]
        self.expect_width(inputs[0].shape, kernel.spec.static_shape[0])
        return self._activate(self.product(inputs[0], kernel, self.variables.get("bias")))

    def product(self, x: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
        """Return ``x @ kernel + bias`` for ``x`` of two or more dimensions."""
        y = matmul(x, kernel)
        return y if bias is None else y + bias
