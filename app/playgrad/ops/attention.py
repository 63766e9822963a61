"""Dot-product attention of several heads, with its gradient, without storing the scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.autodiff import gradients
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.composed_gradient import composed_gradient
from playgrad.ops.arrays.shape import identity, reshape
from playgrad.ops.arrays.transpose import transpose
from playgrad.ops.core.build import add_node, as_tensor, as_tensors, constant, expect_floating
from playgrad.ops.core.samples import floats
from playgrad.ops.elementwise.definitions import cast, mul, where
from playgrad.ops.lowering.attention import LARGEST, lower_attention, lower_attention_gradient
from playgrad.ops.products.array_product import numpy_matmul
from playgrad.ops.products.matmul import matmul
from playgrad.ops.reductions.softmax import softmax

HIDDEN = -1e9
"""The score of a key that a query does not see, so that its weight is 0 after softmax."""
WEIGHTS = "attention_weights"
"""The name of nodes whose values are the weights of attention."""


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Return ``softmax(query @ key^T * scale) @ value`` for each head.

    Vaswani et al. 2017. Scores are not stored, neither for the result nor for its gradient: the
    softmax is streamed (Dao et al. 2022).

    Args:
        query: shape (batch, to, heads, size); float32 or float64.
        key: shape (batch, from, heads, size).
        value: shape (batch, from, heads, value_size).
        mask: bool, broadcasts to (batch, heads, to, from): whether a query sees a key. A query that
            sees none gets zeros.
        scale: the factor of the scores; None for ``1 / sqrt(size)``.
        is_causal: whether a query sees only the keys up to its own position.
        flash_attention: False composes attention of products and a softmax, which stores the
            scores: on software adapters that is faster from about 100 positions on. None streams
            the softmax where heads have at most 64 elements; True requires that.

    Returns:
        A tensor of shape (batch, to, heads, value_size) and the dtype of ``query``.

    Raises:
        ShapeError: the shapes differ from these.
        DTypeError: the tensors are not of one floating dtype, or ``mask`` is not bool.
    """
    tensors = as_tensors(query, key, value)
    if mask is not None:
        seen = as_tensor(mask, tensors[0].graph)
        tensors.append(reshape(seen, _with_rank_4(seen.shape)) if seen.spec.rank < 4 else seen)
    if scale is None:
        size = tensors[0].shape[-1] if tensors[0].shape else None
        if not size:
            raise ShapeError(
                "dot_product_attention needs to know the size of a head, got a query of shape "
                f"{shape_text(tensors[0].shape)}.",
                hint="Pass scale.",
            )
        scale = 1 / math.sqrt(size)
    attrs = {"scale": float(scale), "is_causal": bool(is_causal)}
    sizes = [tensor.shape[-1] for tensor in tensors[:3] if tensor.spec.rank == 4]
    large = any(size is None or size > LARGEST for size in sizes)
    if large and flash_attention:
        raise ShapeError(
            f"flash_attention=True needs heads of at most {LARGEST} elements.",
            hint="Leave flash_attention out.",
        )
    if large or flash_attention is False:
        _infer([tensor.spec for tensor in tensors], attrs)
        return composed_attention(*tensors, scale=float(scale), is_causal=bool(is_causal))
    return add_node(_ATTENTION, tensors, attrs, name=name).output


def composed_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float,
    is_causal: bool,
) -> Tensor:
    """Return attention as a composition of other operations, which stores the scores."""
    weights = attention_weights(query, key, mask, scale=scale, is_causal=is_causal)
    return weighted_values(weights, value)


def attention_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, *, scale: float, is_causal: bool
) -> Tensor:
    """Return the weights of attention, (batch, heads, to, from); see `dot_product_attention`.

    The node of the result is named `WEIGHTS`, by which others find it in a graph.
    """
    query, key = (transpose(x, (0, 2, 1, 3)) for x in (query, key))
    scores = matmul(query * scale, key, transpose_b=True)
    if scores.shape[-1] == 0:  # softmax needs at least one
        return scores
    seen = mask
    if is_causal:
        to, origin = scores.shape[-2:]
        if to is None or origin is None:
            raise ShapeError(
                "causal attention with heads of more than 64 elements needs to know the numbers "
                f"of positions, got scores of shape {shape_text(scores.shape)}."
            )
        earlier = constant(np.tri(to, origin, dtype=np.bool_))
        seen = earlier if seen is None else seen & earlier
    if seen is None:
        return softmax(scores, name=WEIGHTS)
    # The product is for queries that see nothing.
    weights = softmax(where(seen, scores, HIDDEN))
    return mul(weights, cast(seen, scores.dtype), name=WEIGHTS)


def weighted_values(weights: Tensor, value: Tensor) -> Tensor:
    """Return the sums of ``value`` (batch, from, heads, size) by ``weights``."""
    return transpose(matmul(weights, transpose(value, (0, 2, 1, 3))), (0, 2, 1, 3))


def _with_rank_4(shape: Shape) -> list[int]:
    if shape.count(None) > 1:
        raise ShapeError(
            f"a mask of shape {shape_text(shape)} needs 4 dimensions, as only one of fewer may be "
            "unknown."
        )
    return [1] * (4 - len(shape)) + [-1 if size is None else size for size in shape]


def _check(inputs: Sequence[TensorSpec], mask: TensorSpec | None) -> None:
    query, key, value = inputs[:3]
    expect_floating(query, "the query of dot_product_attention")
    if any(spec.dtype != query.dtype for spec in inputs):
        raise DTypeError(
            "dot_product_attention: element types differ: "
            f"{', '.join(spec.dtype for spec in inputs)}.",
            hint="Convert them with cast().",
        )
    batch, to, heads, size = _dimensions(query, "query")
    _, origin, _, width = _dimensions(value, "value")
    _expect(key, "key", (batch, origin, heads, size))
    _expect(value, "value", (batch, origin, heads, width))
    if mask is None:
        return
    if mask.dtype != "bool":
        raise DTypeError(f"the mask of dot_product_attention must be bool, not {mask.dtype}.")
    scores = (batch, heads, to, origin)
    if mask.rank != 4 or any(
        m not in (1, None) and n is not None and m != n
        for m, n in zip(mask.shape, scores, strict=True)
    ):
        raise ShapeError(
            f"the mask must broadcast to (batch, heads, to, from), here {shape_text(scores)}, got "
            f"{shape_text(mask.shape)}."
        )


def _dimensions(spec: TensorSpec, what: str) -> Shape:
    if spec.rank != 4:
        raise ShapeError(
            f"the {what} of dot_product_attention must have the shape (batch, positions, heads, "
            f"size), got {shape_text(spec.shape)}."
        )
    return spec.shape


def _expect(spec: TensorSpec, what: str, expected: Shape) -> None:
    if any(
        None not in (m, n) and m != n
        for m, n in zip(_dimensions(spec, what), expected, strict=True)
    ):
        raise ShapeError(
            f"the {what} of dot_product_attention must have the shape {shape_text(expected)} to "
            f"fit the others, got {shape_text(spec.shape)}."
        )


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    _check(inputs[:3], inputs[3] if len(inputs) > 3 else None)
    query, _, value = inputs[:3]
    batch = query.shape[0] if query.shape[0] is not None else value.shape[0]
    heads = query.shape[2] if query.shape[2] is not None else value.shape[2]
    return [TensorSpec((batch, query.shape[1], heads, value.shape[3]), query.dtype)]


def _infer_gradient(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    query, key, value, grad = inputs[:4]
    (result,) = _infer([query, key, value, *inputs[4:]], attrs)
    if grad.dtype != result.dtype:
        raise DTypeError(f"the gradient must be {result.dtype}, not {grad.dtype}.")
    _expect(grad, "gradient", result.shape)
    return [query, key, value]


def numpy_attention_weights(query: Array, key: Array, mask: Array | None, attrs: Attrs) -> Array:
    """Compute the weights of attention with NumPy, (batch, heads, to, from).

    Args:
        query, key, mask: as in `dot_product_attention`.
        attrs: the attributes of its node: ``scale`` and ``is_causal``.
    """
    scores = numpy_matmul(query.transpose(0, 2, 1, 3), key.transpose(0, 2, 3, 1)) * attrs["scale"]
    if attrs["is_causal"]:
        earlier: Array = np.tri(*scores.shape[-2:], dtype=np.bool_)
        mask = earlier if mask is None else mask & earlier
    if mask is not None:
        scores = np.where(mask, scores, scores.dtype.type(-np.inf))
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(largest == -np.inf, 0, largest), dtype=query.dtype)
    total = powers.sum(axis=-1, keepdims=True)
    return np.asarray(powers / np.where(total == 0, 1, total), query.dtype)


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    query, key, value = inputs[:3]
    weights = numpy_attention_weights(query, key, inputs[3] if len(inputs) > 3 else None, attrs)
    context = numpy_matmul(weights, value.transpose(0, 2, 1, 3))
    return [np.ascontiguousarray(context.transpose(0, 2, 1, 3))]


def _gradient_reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    query, key, value, grad = (x.transpose(0, 2, 1, 3) for x in inputs[:4])
    weights = numpy_attention_weights(
        inputs[0], inputs[1], inputs[4] if len(inputs) > 4 else None, attrs
    )
    slopes = numpy_matmul(grad, value.swapaxes(-1, -2))
    along = (slopes * weights).sum(axis=-1, keepdims=True)
    by_scores = weights * (slopes - along) * grad.dtype.type(attrs["scale"])
    results = (
        numpy_matmul(by_scores, key),
        numpy_matmul(by_scores.swapaxes(-1, -2), query),
        numpy_matmul(weights.swapaxes(-1, -2), grad),
    )
    return [np.ascontiguousarray(result.transpose(0, 2, 1, 3)) for result in results]


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    query, key, value, *mask = node.inputs
    inputs = [query, key, value, grads[0], *mask]
    return [*add_node(_GRADIENT, inputs, node.attrs).outputs, *(None for _ in mask)]


def _second_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    def compose(
        query: Tensor, key: Tensor, value: Tensor, grad: Tensor, *mask: Tensor
    ) -> list[Tensor]:
        inputs = [identity(tensor) for tensor in (query, key, value)]
        result = composed_attention(*inputs, *mask, **node.attrs)
        parts = gradients(result, inputs, [grad])
        return [part for part in parts if part is not None]

    return composed_gradient(node, grads, compose)


_ATTRS = {"scale": 0.5, "is_causal": False}
_CAUSAL = {"scale": 0.7, "is_causal": True}
_QUERY, _KEY, _VALUE = floats(2, 5, 3, 4), floats(2, 6, 3, 4, seed=1), floats(2, 6, 3, 2, seed=2)
_GRAD = floats(2, 5, 3, 2, seed=3)
_PADDING = np.arange(6)[None, None, None, :] < np.array([4, 6])[:, None, None, None]
_SEEN = np.random.default_rng(5).random((2, 3, 5, 6)) < 0.6
_SEEN[0, 1, 2] = False
_WIDE = tuple(floats(1, 40, 2, 16, seed=seed) for seed in range(4))
_NONE = tuple(floats(2, 0, 3, 4) for _ in range(3))
_NO_KEYS = (_QUERY, floats(2, 0, 3, 4), floats(2, 0, 3, 2))

_ATTENTION = register(
    OpDef(
        name="dot_product_attention",
        infer=_infer,
        reference=_reference,
        gradient=_gradient,
        lower=lower_attention,
        samples=(
            Sample((_QUERY, _KEY, _VALUE), _ATTRS),
            Sample((_QUERY, _KEY, _VALUE), _CAUSAL),
            Sample((_QUERY, _KEY, _VALUE, _PADDING), _ATTRS),
            Sample((_QUERY, _KEY, _VALUE, _SEEN), _CAUSAL),
            Sample((_QUERY * 50, _KEY, _VALUE), _ATTRS, differentiable=()),
            Sample(_WIDE[:3], _CAUSAL),
            Sample(_NONE, _ATTRS),
            Sample(_NO_KEYS, _ATTRS),
        ),
        invalid=(
            InvalidSample(
                (_QUERY, floats(2, 6, 3, 5), _VALUE),
                _ATTRS,
                ShapeError,
                "key of dot_product_attention must have the shape (2, 6, 3, 4)",
            ),
            InvalidSample(
                (floats(5, 3, 4), _KEY, _VALUE), _ATTRS, ShapeError, "(batch, positions, heads"
            ),
            InvalidSample(
                (_QUERY, _KEY, _VALUE, _SEEN[:, :2]), _ATTRS, ShapeError, "here (2, 3, 5, 6), got"
            ),
            InvalidSample(
                (_QUERY, _KEY, _VALUE, floats(2, 3, 5, 6)), _ATTRS, DTypeError, "must be bool"
            ),
            InvalidSample(
                (_QUERY, _KEY, _VALUE.astype(np.int32)), _ATTRS, DTypeError, "types differ"
            ),
        ),
    )
)
_GRADIENT = register(
    OpDef(
        name="dot_product_attention_gradient",
        infer=_infer_gradient,
        reference=_gradient_reference,
        gradient=_second_gradient,
        lower=lower_attention_gradient,
        samples=(
            Sample((_QUERY, _KEY, _VALUE, _GRAD), _ATTRS, differentiable=()),
            Sample((_QUERY, _KEY, _VALUE, _GRAD), _CAUSAL, differentiable=()),
            Sample((_QUERY, _KEY, _VALUE, _GRAD, _SEEN), _CAUSAL),
            Sample(_WIDE, _CAUSAL, differentiable=()),
            Sample((*_NONE, _NONE[0]), _ATTRS, differentiable=()),
            Sample((*_NO_KEYS, _GRAD), _ATTRS),
            Sample((floats(2, 0, 3, 4), _KEY, _VALUE, floats(2, 0, 3, 2)), _ATTRS),
        ),
        invalid=(
            InvalidSample(
                (_QUERY, _KEY, _VALUE, floats(2, 5, 3, 4)),
                _ATTRS,
                ShapeError,
                "gradient of dot_product_attention must have the shape (2, 5, 3, 2)",
            ),
        ),
    )
)
