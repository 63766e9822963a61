"""Valid and invalid uses of ``quantized_conv2d``."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, GraphError, ShapeError
from playgrad.graph.opdef import InvalidSample, Sample
from playgrad.ops.core.samples import floats, int8s
from playgrad.ops.quantized.requantize import LEAST, MOST
from playgrad.ops.quantized.samples import channels


def _attrs(**changed: Any) -> dict[str, Any]:
    return {
        "strides": [1, 1], "padding": [[0, 0], [0, 0]], "dilation": [1, 1], "groups": 1,
        "input_dilation": [1, 1], "pad_value": 0, "zero_point": 3, "low": LEAST, "high": MOST,
    } | changed  # fmt: skip


def _sample(image: tuple[int, ...], filters: tuple[int, ...], **changed: Any) -> Sample:
    numbers = channels(filters[3], prod(filters[:3]))
    return Sample((int8s(*image), int8s(*filters, seed=1, low=-127), *numbers), _attrs(**changed))


_PADDED: dict[str, Any] = {"padding": [[1, 1], [1, 1]], "pad_value": -17}
SAMPLES = (
    _sample((2, 6, 5, 3), (3, 2, 3, 4)),
    _sample((2, 6, 5, 4), (3, 3, 4, 8), **_PADDED, low=3, high=100),
    _sample((1, 8, 8, 1), (3, 3, 1, 5), **_PADDED, strides=[2, 1]),
    _sample((2, 7, 9, 2), (3, 2, 2, 6), strides=[2, 3], padding=[[1, 2], [0, 3]], pad_value=127),
    _sample((1, 9, 6, 2), (2, 3, 2, 5), strides=[2, 1], dilation=[3, 2]),
    _sample((3, 5, 5, 8), (1, 1, 8, 12)),
    _sample((4, 9, 9, 16), (3, 3, 16, 20), **_PADDED),
    _sample((1, 1, 12, 3), (1, 5, 3, 4), padding=[[0, 0], [2, 2]], pad_value=-128),
    _sample((2, 4, 3, 5), (3, 3, 5, 4), input_dilation=[2, 3], padding=[[2, 1], [2, 2]]),
    _sample((1, 1, 1, 2), (2, 2, 2, 3), input_dilation=[2, 2], padding=[[1, 1], [1, 1]]),
    _sample((2, 6, 5, 6), (3, 2, 2, 9), groups=3),
    _sample((2, 7, 6, 8), (3, 3, 1, 8), **_PADDED, groups=8, strides=[2, 1]),
    _sample((2, 7, 6, 3), (3, 3, 1, 3), **_PADDED, groups=3, dilation=[1, 2]),
    _sample((1, 5, 4, 4), (2, 2, 1, 8), groups=4, input_dilation=[2, 1]),
    _sample((0, 6, 5, 3), (3, 2, 3, 4)),
    _sample((2, 6, 5, 0), (3, 2, 0, 4)),
)

_X, _W, _CHANNELS = int8s(1, 5, 5, 3), int8s(3, 3, 3, 4), channels(4, 27)
INVALID = (
    InvalidSample((floats(1, 5, 5, 3), _W, *_CHANNELS), _attrs(), DTypeError, "not float32"),
    InvalidSample((int8s(5, 5, 3), _W, *_CHANNELS), _attrs(), ShapeError, "(5, 5, 3)"),
    InvalidSample((_X, int8s(3, 3, 1, 4), *_CHANNELS), _attrs(), ShapeError, "take 1"),
    InvalidSample((_X, _W, *_CHANNELS), _attrs(groups=3), ShapeError, "into 3 groups"),
    InvalidSample((_X, _W, *_CHANNELS), _attrs(dilation=[3, 1]), ShapeError, "the window's 7"),
    InvalidSample(
        (_X, _W, *_CHANNELS[:2], np.ones(3, np.int32)), _attrs(), ShapeError, "the shift must have"
    ),
    InvalidSample((_X, _W, *_CHANNELS), _attrs(pad_value=300), GraphError, "pad_value must lie"),
    InvalidSample((_X, _W, *_CHANNELS), _attrs(high=-129), GraphError, "low ≤ high"),
)
