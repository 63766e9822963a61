"""Normalization of rows to mean 0 and variance 1, with its gradient in one kernel each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.composed_gradient import composed_gradient
from playgrad.ops.core.build import add_node, as_tensors, expect_floating
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.elementwise.definitions import square
from playgrad.ops.elementwise.elementwise_op import sum_to_like
from playgrad.ops.lowering.layer_normalization import (
    lower_layer_normalization,
    lower_layer_normalization_gradient,
)
from playgrad.ops.reductions.reduce import reduce_mean
from playgrad.ops.reductions.statistics import inverse_deviation


def layer_normalization(
    x: Any, gamma: Any, beta: Any, epsilon: float = 1e-3, name: str | None = None
) -> Tensor:
    """Return ``(x - mean) / sqrt(variance + epsilon) * gamma + beta``, by rows.

    Ba, Kiros and Hinton 2016. Mean and (biased) variance are taken along the last axis.

    Args:
        x: shape (..., n), n at least 1; float32 or float64.
        gamma, beta: shape (n,), of the same dtype.
        epsilon: added to the variance, so that it is never 0.

    Returns:
        A tensor of the shape and dtype of ``x``. Rows whose variance is out of range are NaN.

    Raises:
        ShapeError: the shapes differ from these.
        DTypeError: the tensors are not of one floating dtype.
    """
    return add_node(
        _NORMALIZE, as_tensors(x, gamma, beta), {"epsilon": float(epsilon)}, name=name
    ).output


def _check(inputs: Sequence[TensorSpec], vectors: Sequence[int]) -> None:
    x = inputs[0]
    expect_floating(x, "the input of layer_normalization")
    if x.rank == 0 or x.shape[-1] == 0:
        raise ShapeError(
            f"layer_normalization needs rows of at least one element, got {shape_text(x.shape)}."
        )
    for number, spec in enumerate(inputs[1:], 1):
        if spec.dtype != x.dtype:
            raise DTypeError(f"layer_normalization: {x.dtype} and {spec.dtype} differ.")
        expected = x.shape[-1:] if number in vectors else x.shape
        if spec.rank != len(expected) or any(
            None not in (m, n) and m != n for m, n in zip(spec.shape, expected, strict=True)
        ):
            raise ShapeError(
                f"layer_normalization of {shape_text(x.shape)} needs {shape_text(expected)}, "
                f"got {shape_text(spec.shape)}."
            )


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    _check(inputs, (1, 2))
    return [inputs[0]]


def _infer_gradient(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    _check(inputs, (1,))
    return [inputs[0], inputs[0]]


def _normalized(x: Array, epsilon: float) -> tuple[Array, Array]:
    """Return the normalized rows, and the factors that they were multiplied by."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    variance[np.isinf(variance)] = np.nan  # a factor of 0 would hide that it is out of range
    factor = 1 / np.sqrt(variance + x.dtype.type(epsilon))
    return centred * factor, factor


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, gamma, beta = inputs
    return [_normalized(x, attrs["epsilon"])[0] * gamma + beta]


def _gradient_reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, gamma, grad = inputs
    normalized, factor = _normalized(x, attrs["epsilon"])
    by_scale = grad * normalized
    scaled = grad * gamma
    mean = scaled.mean(axis=-1, keepdims=True)
    along = (by_scale * gamma).mean(axis=-1, keepdims=True)
    return [factor * (scaled - mean - normalized * along), by_scale]


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    (grad,), (x, gamma, beta) = grads, node.inputs
    assert grad is not None
    by_x, by_scale = add_node(_GRADIENT, [x, gamma, grad], node.attrs).outputs
    return [by_x, sum_to_like(by_scale, gamma), sum_to_like(grad, beta)]


def _composed_gradient(x: Tensor, gamma: Tensor, grad: Tensor, epsilon: float) -> list[Tensor]:
    centred = x - reduce_mean(x, -1, keepdims=True)
    factor = inverse_deviation(reduce_mean(square(centred), -1, keepdims=True), epsilon)
    normalized = centred * factor
    by_scale, scaled = grad * normalized, grad * gamma
    mean = reduce_mean(scaled, -1, keepdims=True)
    along = reduce_mean(by_scale * gamma, -1, keepdims=True)
    return [factor * (scaled - mean - normalized * along), by_scale]


def _second_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return composed_gradient(
        node, grads, partial(_composed_gradient, epsilon=node.attrs["epsilon"])
    )


_ATTRS = {"epsilon": 1e-3}
_NORMALIZE = register(
    OpDef(
        name="layer_normalization",
        infer=_infer,
        reference=_reference,
        gradient=_gradient,
        lower=lower_layer_normalization,
        epilogue=True,
        samples=(
            Sample((floats(5, 8), floats(8), floats(8, seed=1)), _ATTRS),
            Sample((floats(2, 3, 70), floats(70), floats(70, seed=1)), {"epsilon": 1e-5}),
            Sample((floats(6), floats(6, seed=2), floats(6, seed=1)), _ATTRS),
            Sample((floats(3, 1), floats(1), floats(1, seed=1)), _ATTRS),
            Sample((floats(0, 4), floats(4), floats(4, seed=1)), _ATTRS),
            Sample(
                (floats(4, 16) + np.float32(300), floats(16), floats(16, seed=1)),
                _ATTRS,
                differentiable=(),
                tolerance=1e-3,
            ),
        ),
        invalid=(
            InvalidSample(
                (floats(2, 0), floats(0), floats(0)), _ATTRS, ShapeError, "at least one element"
            ),
            InvalidSample(
                (floats(2, 4), floats(3), floats(4)), _ATTRS, ShapeError, "needs (4,), got (3,)"
            ),
            InvalidSample((integers(2, 4), floats(4), floats(4)), _ATTRS, DTypeError, "not int32"),
            InvalidSample(
                (floats(2, 4), floats(4), integers(4)), _ATTRS, DTypeError, "float32 and int32"
            ),
        ),
    )
)
_GRADIENT = register(
    OpDef(
        name="layer_normalization_gradient",
        infer=_infer_gradient,
        reference=_gradient_reference,
        gradient=_second_gradient,
        lower=lower_layer_normalization_gradient,
        samples=(
            Sample((floats(5, 8), floats(8), floats(5, 8, seed=1)), _ATTRS),
            Sample((floats(2, 3, 70), floats(70), floats(2, 3, 70, seed=1)), {"epsilon": 1e-5}),
            Sample((floats(0, 4), floats(4), floats(0, 4)), _ATTRS),
            Sample((floats(3, 1), floats(1), floats(3, 1, seed=1)), _ATTRS, differentiable=()),
        ),
        invalid=(
            InvalidSample(
                (floats(2, 4), floats(4), floats(2, 3)),
                _ATTRS,
                ShapeError,
                "needs (2, 4), got (2, 3)",
            ),
        ),
    )
)
