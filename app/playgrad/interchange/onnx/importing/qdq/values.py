"""The values of names in a file of QDQ form, while its model is being built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from playgrad.compression.scales import Parameters
from playgrad.graph.tensor import Tensor

Array = np.ndarray[Any, Any]
UNLIMITED = (-np.inf, np.inf)


class Numbers(NamedTuple):
    """Numbers that no scale belongs to: an input of the network, or an output."""

    tensor: Tensor


class Integers(NamedTuple):
    """int8 of an activation.

    Attributes:
        nchw: whether the axes of the value in the file are (batch, channels, height, width), and
            those of ``tensor`` are (batch, height, width, channels).
    """

    tensor: Tensor
    nchw: bool = False


class Index(NamedTuple):
    """Integers plus ``offset``, as int32: the index of a table."""

    integers: Integers
    offset: int


class Real(NamedTuple):
    """The real numbers that integers stand for."""

    integers: Integers
    at: Parameters


class Weights(NamedTuple):
    """The real numbers of a constant.

    Attributes:
        values: int8, or int32 for a bias.
        scale: float32; one number, or one for each index of ``axis``.
    """

    values: Array
    scale: Array
    axis: int


class OpenProduct(NamedTuple):
    """A product whose bias may follow.

    Attributes:
        kernel: int8 (..., out), with the scale of each output.
        layer: returns the layer, for the arguments that all products have.
        nchw: as for `Integers`.
    """

    x: Real
    kernel: Array
    kernel_scale: Array
    layer: Callable[..., Any]
    nchw: bool


@dataclass(frozen=True)
class Unscaled:
    """Real numbers that are computed from integers once their own scale is known.

    Attributes:
        make: returns the integers, for their scale and zero point and for the least and the largest
            of them.
        limits: of the real numbers.
    """

    make: Callable[[Parameters, int, int], Integers]
    limits: tuple[float, float] = UNLIMITED


Value: TypeAlias = Numbers | Integers | Index | Real | Weights | OpenProduct | Unscaled | Array
