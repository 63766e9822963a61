"""Weights that are rounded to fewer bits, in a network that computes in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.compression.compressed_model import CompressedModel
from playgrad.compression.reduction import kernels_of, reduced, values_of
from playgrad.errors import DataError, GraphError
from playgrad.models.model import Model
from playgrad.nn.conv2d_transpose import Conv2DTranspose
from playgrad.nn.depthwise_conv import DepthwiseConv2D

Array = np.ndarray[Any, Any]
BITS = {"int8": 8, "int4": 4}
FORMS = (*BITS, "float16")


def quantize_weights(model: Model, weights: str) -> CompressedModel:
    """Return a copy of ``model`` whose weights are rounded; it computes in float32 as before.

    Integers are symmetric, with a scale for each output of a kernel; biases stay float32. float16
    rounds all weights.

    Args:
        model: it is built, and is not changed.
        weights: "int8", "int4" or "float16".

    Raises:
        GraphError: the model is not built or is quantized, or there are no such weights.
        DataError: weights are NaN or infinite, or too large for float16.
    """
    if weights not in FORMS:
        raise GraphError(
            f"there are no {weights!r:.40} weights.", hint=f"Use one of: {', '.join(FORMS)}."
        )
    kernels = kernels_of(model)
    if weights == "float16":
        kernels = list(model.trainable_variables)
    axes = {
        layer.variables["kernel"]: -2
        for layer in model.structure.layers
        if isinstance(layer, (Conv2DTranspose, DepthwiseConv2D)) and "kernel" in layer.variables
    }
    changed = {}
    for variable, value in zip(kernels, values_of(model, kernels), strict=True):
        if weights == "float16":
            changed[variable] = _halves(value, variable.variable_name)
        else:
            changed[variable] = _integers(value, BITS[weights], axes.get(variable, -1))
    return reduced(model, changed)[0]


def _halves(value: Array, name: str) -> Array:
    with np.errstate(over="ignore"):
        half = value.astype(np.float16)
    if not np.isfinite(half).all():
        raise DataError(
            f"the weights '{name}' reach {np.abs(value).max():g}, but float16 ends at 65,504.",
            hint='Use weights="int8".',
        )
    return half.astype(np.float32)


def _integers(value: Array, bits: int, axis: int) -> Array:
    """Return multiples of a scale for each index of ``axis``, as many as ``bits`` bits count."""
    largest = np.float32((1 << (bits - 1)) - 1)
    others = tuple(each for each in range(value.ndim) if each != axis % value.ndim)
    peaks = np.abs(value).max(axis=others, keepdims=True, initial=0)
    scale = np.where(peaks > 0, peaks / largest, np.float32(1)).astype(np.float32)
    steps = np.clip(np.rint(value / scale), -largest, largest)
    return steps * scale + np.float32(0)  # without negative zeros
