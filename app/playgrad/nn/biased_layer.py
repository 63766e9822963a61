"""The end that convolutions have in common: a bias for each channel, and an activation."""

from __future__ import annotations

from typing import Any

from playgrad.graph.tensor import Tensor
from playgrad.nn import activations, constraints, initializers, regularizers
from playgrad.nn.constraints import Constraint
from playgrad.nn.layer import Layer
from playgrad.nn.regularizers import Regularizer


class BiasedLayer(Layer):
    """A layer whose result gets a bias, if it has one, and an activation."""

    bias_regularizer: Regularizer | None = None
    bias_constraint: Constraint | None = None

    def set_end(
        self,
        activation: Any,
        use_bias: bool,
        bias_initializer: Any,
        bias_regularizer: Any,
        activity_regularizer: Any,
        bias_constraint: Any = None,
    ) -> None:
        """Take the arguments of the constructor that concern bias, activation and results."""
        self.activation = activation
        self.use_bias = use_bias
        self.bias_initializer = initializers.get(bias_initializer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.bias_constraint = constraints.get(bias_constraint)
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self._activate = activations.get(activation)

    def add_bias(self, channels: int) -> None:
        """Add the variable "bias" (channels,), if the layer has one."""
        if self.use_bias:
            self.add_weight(
                "bias",
                (channels,),
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def end(self, y: Tensor) -> Tensor:
        """Return ``y`` (..., channels) with bias and activation."""
        if self.use_bias:
            y = y + self.variables["bias"]
        return self._activate(y)
