"""Layers whose weights have initializers, regularizers and constraints as options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from playgrad.graph.tensor import Tensor
from playgrad.nn import activations, constraints, initializers, regularizers
from playgrad.nn.layer import Layer
from playgrad.nn.options import spread_options
from playgrad.ops.state import Variable

_GET = {
    "initializer": initializers.get,
    "regularizer": regularizers.get,
    "constraint": constraints.get,
}


class WeightedLayer(Layer):
    """A layer that takes options such as ``kernel_initializer`` for each of its weights.

    The constructor of a subclass has ``**options: Unpack[...]``, and passes them on. Users see them
    as parameters of their own: see `playgrad.nn.options`.

    Attributes:
        defaults: the initializers by the names of the options, in the order of the weights.
    """

    defaults: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        spread_options(cls, cls.defaults)
        super().__init_subclass__(**options)

    def __init__(self, name: str | None = None, **options: Any) -> None:
        super().__init__(name)
        for option, value in options.items():
            setattr(self, option, _GET[option.rpartition("_")[2]](value))

    def add_declared(self, name: str, shape: Sequence[int], variable: str = "") -> Variable:
        """Add a weight with its options.

        Args:
            name: the prefix of its options.
            variable: the name of the variable; "" for ``name``.
        """
        return self.add_weight(
            variable or name,
            shape,
            getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer", None),
            constraint=getattr(self, f"{name}_constraint", None),
        )


class BiasedLayer(WeightedLayer):
    """A layer whose result gets a bias, if it has one, and an activation."""

    defaults: ClassVar[Mapping[str, Any]] = {
        "kernel_initializer": "glorot_uniform",
        "bias_initializer": "zeros",
    }

    def __init__(self, activation: Any, use_bias: bool, **options: Any) -> None:
        super().__init__(**options)
        self.activation = activation
        self.use_bias = use_bias
        self._activate = activations.get(activation)

    def add_bias(self, channels: int) -> None:
        """Add the variable "bias" (channels,), if the layer has one."""
        if self.use_bias:
            self.add_declared("bias", (channels,))

    def end(self, y: Tensor) -> Tensor:
        """Return ``y`` (..., channels) with bias and activation."""
        if self.use_bias:
            y = y + self.variables["bias"]
        return self._activate(y)


class ScaledLayer(WeightedLayer):
    """A layer whose result is multiplied by ``gamma`` and added to ``beta``, if it has them."""

    defaults: ClassVar[Mapping[str, Any]] = {
        "beta_initializer": "zeros",
        "gamma_initializer": "ones",
    }

    def __init__(self, center: bool, scale: bool, **options: Any) -> None:
        super().__init__(**options)
        self.center = bool(center)
        self.scale = bool(scale)

    def add_scale(self, *shape: int) -> None:
        """Add the variables "gamma" and "beta" of ``shape``, if the layer has them."""
        if self.scale:
            self.add_declared("gamma", shape)
        if self.center:
            self.add_declared("beta", shape)
