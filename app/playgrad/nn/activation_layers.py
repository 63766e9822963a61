"""Activations that have arguments, as layers."""

from __future__ import annotations

import math

from playgrad.errors import ShapeError
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.layer import Layer
from playgrad.nn.masks import beside, mask_of
from playgrad.nn.seeds import seed_of
from playgrad.ops.core.build import normalize_axis
from playgrad.ops.elementwise import activations
from playgrad.ops.elementwise.definitions import greater_equal, minimum, where
from playgrad.ops.random.uniform_like import random_uniform_like
from playgrad.ops.reductions.softmax import softmax
from playgrad.records import LayerRecord

_OF_MASKED = -1e9
"""The score of masked steps before a softmax along them."""


class ReLU(Layer):
    """``x`` from ``threshold`` on, at most ``max_value``, and a line of another slope below it.

    Args:
        max_value: the largest result; None for no limit.
        negative_slope: below the threshold the result is ``negative_slope * (x - threshold)``.
        threshold: where the result begins to be ``x``; at least 0.

    Raises:
        ShapeError: an argument is negative.
    """

    kind = "re_lu"
    record = LayerRecord(
        about="Lets positive numbers pass, and makes negative ones 0.",
        rule="same",
        keras="ReLU",
        tfjs="max_value",
        torch="relu",
        from_torch={"ReLU": ("-inplace",)},
        is_positionwise=True,
    )
    passes_mask = True

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0.0,
        threshold: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        for what, value in (
            ("max_value", max_value),
            ("negative_slope", negative_slope),
            ("threshold", threshold),
        ):
            if value is not None and value < 0:
                raise ShapeError(f"{what} of ReLU must be at least 0, got {value}.")
        self.max_value = max_value
        self.negative_slope = float(negative_slope)
        self.threshold = float(threshold)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        if self.threshold:
            above = where(greater_equal(x, self.threshold), x, 0.0)
        else:
            above = activations.relu(x)
        if self.max_value is not None:
            above = minimum(above, self.max_value)
        if not self.negative_slope:
            return above
        return above + self.negative_slope * minimum(x - self.threshold, 0.0)


class LeakyReLU(Layer):
    """``x`` where it is positive, and ``negative_slope * x`` elsewhere."""

    kind = "leaky_re_lu"
    record = LayerRecord(
        about="Lets positive numbers pass, and makes negative ones small.",
        fields=(cards.number("negative_slope", "slope", step=0.05),),
        rule="same",
        keras="LeakyReLU",
        tfjs="negative_slope",
        torch="leaky_relu",
        from_torch={"LeakyReLU": ("negative_slope -inplace",)},
        is_positionwise=True,
    )
    passes_mask = True

    def __init__(self, negative_slope: float = 0.3, name: str | None = None) -> None:
        super().__init__(name)
        self.negative_slope = float(negative_slope)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return activations.leaky_relu(inputs[0], self.negative_slope)


class RReLU(Layer):
    """Randomized leaky ReLU: ``x`` where it is positive, and ``a * x`` elsewhere.

    Xu et al. 2015. In training, ``a`` is drawn for each element from the uniform distribution
    between ``lower`` and ``upper``; outside of training it is their mean.

    Args:
        lower, upper: the bounds of the slope, as in PyTorch.
        seed: the seed of the random numbers; None derives one from the layer's name.

    Raises:
        ShapeError: the bounds are not in order.
    """

    kind = "rrelu"
    record = LayerRecord(
        rule="same",
        torch="rrelu",
    )
    passes_mask = True

    def __init__(
        self,
        lower: float = 1 / 8,
        upper: float = 1 / 3,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        if not -math.inf < lower <= upper < math.inf:
            raise ShapeError(f"RReLU needs lower <= upper, got lower={lower} and upper={upper}.")
        self.lower = float(lower)
        self.upper = float(upper)
        self.seed = seed

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        if not training or self.lower == self.upper:
            return activations.leaky_relu(x, (self.lower + self.upper) / 2)
        numbers = random_uniform_like(x, seed_of(self))
        slope = numbers * (self.upper - self.lower) + self.lower
        return where(greater_equal(x, 0.0), x, x * slope)


class ELU(Layer):
    """``x`` where it is positive, and ``alpha * (exp(x) - 1)`` elsewhere (Clevert et al. 2016)."""

    kind = "elu"
    record = LayerRecord(
        rule="same",
        keras="ELU",
        tfjs="",
        torch="elu",
    )
    passes_mask = True

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__(name)
        self.alpha = float(alpha)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return activations.elu(inputs[0], self.alpha)


class Softmax(Layer):
    """Softmax along ``axis``, as a layer. Along the steps of a sequence, masked ones get 0."""

    kind = "softmax"
    record = LayerRecord(
        about="Turns scores into probabilities that add up to 1.",
        rule="same",
        keras="Softmax",
        tfjs="axis",
        torch="softmax",
        from_torch={"Softmax": ("dim>axis",)},
    )
    passes_mask = True

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(name)
        self.axis = axis

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, mask = inputs[0], mask_of(inputs[0])
        axis = normalize_axis(self.axis, x.spec.rank)
        if mask is not None and axis < mask.spec.rank:
            x = where(beside(mask, x), x, _OF_MASKED)
        return softmax(x, axis)
