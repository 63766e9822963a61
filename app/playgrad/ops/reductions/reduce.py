"""``reduce_sum``, ``reduce_mean``, ``reduce_max``, ``reduce_min`` and ``reduce_prod``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.broadcast import broadcast_like
from playgrad.ops.arrays.fill import size
from playgrad.ops.arrays.shape import expand_dims, identity, stop_gradient
from playgrad.ops.core.build import (
    FLOATS,
    NUMBERS,
    add_node,
    as_tensor,
    expect_dtype,
    is_static,
    sorted_axes,
)
from playgrad.ops.core.half import in_float32
from playgrad.ops.core.samples import distinct, floats, integers
from playgrad.ops.core.sums import add_up
from playgrad.ops.elementwise.definitions import (
    absolute,
    cast,
    equal,
    floor,
    is_inf,
    less,
    log,
    logical_or,
    pow,
    round,
    sign,
    where,
)
from playgrad.ops.lowering.reduce import (
    lower_reduce_max,
    lower_reduce_mean,
    lower_reduce_min,
    lower_reduce_prod,
    lower_reduce_sum,
)

Axis = int | Sequence[int] | None
"""One axis or several, negative ones counted from the end; None means all axes."""


def reduce_sum(
    x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the sum of ``x`` along one or more axes.

    Args:
        x: a tensor of any shape; float16, float32, float64, int32 or uint32.
        axis: one axis or several, negative ones counted from the end; None means all axes.
        keepdims: keep reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns:
        A tensor of the dtype of ``x`` without the reduced axes. The sum of no elements is 0.

    Raises:
        ShapeError: an axis does not exist, or is named twice.
        DTypeError: ``x`` is bool, uint8 or int8.
    """
    return _reduce(_SUM, x, axis, keepdims, name)


def reduce_mean(
    x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the mean of ``x`` along one or more axes.

    Args:
        x: a tensor of any shape; float16, float32 or float64.
        axis: as in ``reduce_sum``.
        keepdims: as in ``reduce_sum``.

    Returns:
        A tensor of the dtype of ``x`` without the reduced axes.

    Raises:
        ShapeError: an axis does not exist, is named twice, or has size 0.
        DTypeError: ``x`` is not floating.
    """
    return _reduce(_MEAN, x, axis, keepdims, name)


def reduce_max(
    x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the largest element of ``x`` along one or more axes; NaN where any is NaN.

    Equal maxima share the gradient equally.

    Args:
        x: a tensor of any shape; float16, float32, float64, int32 or uint32.
        axis: as in ``reduce_sum``.
        keepdims: as in ``reduce_sum``.

    Returns:
        A tensor of the dtype of ``x`` without the reduced axes.

    Raises:
        ShapeError: an axis does not exist, is named twice, or has size 0.
        DTypeError: ``x`` is bool, uint8 or int8.
    """
    return _reduce(_MAX, x, axis, keepdims, name)


def reduce_min(
    x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the smallest element of ``x`` along one or more axes; NaN where any is NaN.

    Equal minima share the gradient equally. Arguments, result and errors as in
    ``reduce_max``.
    """
    return _reduce(_MIN, x, axis, keepdims, name)


def reduce_prod(
    x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the product of the elements of ``x`` along one or more axes.

    A derivative is the product of the other elements, also where elements are 0 or infinite, or the
    product of all is out of range; second derivatives are exact where elements are 0, too.
    Arguments, result and errors as in ``reduce_sum``. The product of no elements is 1.
    """
    return _reduce(_PROD, x, axis, keepdims, name)


def _reduce(op: OpDef, x: Any, axis: Axis, keepdims: bool, name: str | None) -> Tensor:
    tensor = as_tensor(x)
    rank = tensor.spec.rank
    axes = sorted_axes(range(rank) if axis is None else axis, rank)
    if not axes:
        return identity(tensor, name=name)
    return add_node(op, [tensor], {"axes": axes, "keepdims": bool(keepdims)}, name=name).output


def reduced_shape(shape: Shape, axes: Sequence[int], keepdims: bool) -> Shape:
    """Return ``shape`` after a reduction along ``axes``."""
    if keepdims:
        return tuple(1 if axis in axes else dim for axis, dim in enumerate(shape))
    return tuple(dim for axis, dim in enumerate(shape) if axis not in axes)


def _infer(*dtypes: str, may_be_empty: bool) -> Callable[..., list[TensorSpec]]:
    def infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
        x, axes = inputs[0], list(attrs["axes"])
        expect_dtype(x, "the tensor to reduce", *dtypes)
        expect_axes(x, axes)
        empty = any(x.shape[axis] == 0 for axis in axes)
        if empty and not may_be_empty:
            raise ShapeError(
                f"there is nothing to reduce along an axis of size 0 of the shape {_text(x)}."
            )
        return [TensorSpec(reduced_shape(x.shape, axes, attrs["keepdims"]), x.dtype)]

    return infer


def expect_axes(x: TensorSpec, axes: Sequence[int]) -> None:
    """Raise ShapeError unless ``axes`` are distinct axes of ``x``, at least one."""
    for axis in axes:
        if not 0 <= axis < x.rank:
            raise ShapeError(f"axis {axis} does not exist in a tensor of shape {_text(x)}.")
    if len(set(axes)) != len(axes) or not axes:
        raise ShapeError(f"the axes to reduce, {list(axes)}, must be distinct and at least one.")


def _text(x: TensorSpec) -> str:
    return shape_text(x.shape)


def _reference(function: Callable[..., Any]) -> Callable[..., list[Array]]:
    def reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
        result = function(inputs[0], axis=tuple(attrs["axes"]), keepdims=attrs["keepdims"])
        return [np.asarray(result, dtype=inputs[0].dtype)]

    return reference


def _mean(x: Array, **over: Any) -> Any:
    """Return ``np.mean``, which is slower for small arrays."""
    total = add_up(x, **over)
    return np.divide(total, total.dtype.type(x.size // max(total.size, 1)))


def _restore_axes(node: Node, value: Tensor) -> Tensor:
    """Return ``value``, of the reduced shape, with the reduced axes inserted with size 1."""
    return value if node.attrs["keepdims"] else expand_dims(value, node.attrs["axes"])


def _sum_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    return [broadcast_like(_restore_axes(node, grads[0]), node.inputs[0])]


def _mean_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    x, axes = node.inputs[0], node.attrs["axes"]
    if is_static(tuple(x.shape[axis] for axis in axes)):
        count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
        share = grads[0] * (1.0 / count)
    else:
        # Once the size is known this is the same constant as above, bit for bit.
        share = grads[0] * (1.0 / cast(size(x, axes), x.dtype))
    return [broadcast_like(_restore_axes(node, share), x)]


def _extreme_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    x, axes = node.inputs[0], node.attrs["axes"]
    chosen = cast(equal(x, _restore_axes(node, node.outputs[0])), x.dtype)
    share = _restore_axes(node, grads[0]) / reduce_sum(chosen, axes, keepdims=True)
    return [share * chosen]


def _prod_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Multiply by the product of the other elements.

    That is the product of the elements that are neither 0 nor infinite, times the infinite ones
    among the others, times the zeros: none, or one, whose value is the sum of all. With more, the
    second derivative is 0 too.
    """
    assert grads[0] is not None
    x, axes = node.inputs[0], node.attrs["axes"]

    def total(terms: Tensor) -> Tensor:
        return reduce_sum(terms, axes, keepdims=True)

    def others(condition: Tensor) -> Tensor:
        """Return how many of the other elements meet ``condition``."""
        counted = cast(condition, x.dtype)
        return total(counted) - counted

    lifted = x * 2.0 ** _lift(x)  # hardware takes the smallest numbers for 0; then this is 0, too
    is_zero, is_infinite = equal(lifted, 0.0), is_inf(x)
    zero = where(is_zero, x, 0.0)
    zeros, infinities = others(is_zero), others(is_infinite)
    rest = where(less(zeros, 0.5), 1.0, where(less(zeros, 1.5), total(zero) - zero, 0.0))
    infinite = total(where(is_infinite, absolute(x), 0.0))
    rest = rest * where(less(infinities, 0.5), 1.0, infinite)

    # The product of all may be out of range where that of the others is not, so powers of 2 are
    # taken out: they leave numbers near 1, and only the exponents are added.
    ordinary = where(is_zero, 1.0, where(is_infinite, sign(x), x))
    tiny = less(absolute(x), float(np.finfo(x.dtype).tiny))
    size = absolute(where(logical_or(is_zero, is_infinite), 1.0, where(tiny, lifted, x)))
    exponents = round(log(size) * (1 / np.log(2))) - cast(tiny, x.dtype) * _lift(x)
    exponents = stop_gradient(where(is_zero, 0.0, exponents))
    near_one = _times_power_of_2(ordinary, -exponents)
    product = _restore_axes(node, grads[0]) * reduce_prod(near_one, axes, keepdims=True)
    return [_times_power_of_2(product / near_one, total(exponents) - exponents) * rest]


def _lift(x: Tensor) -> int:
    """Return the power of 2 that makes the smallest numbers of the dtype of ``x`` normal ones."""
    return int(np.finfo(x.dtype).nmant) + 1


def _times_power_of_2(x: Tensor, exponent: Tensor) -> Tensor:
    """Return ``x * 2**exponent``, in steps whose factors are in range where the result is."""
    part = floor(exponent * 0.25)
    factor = pow(2.0, part)
    return x * factor * factor * factor * pow(2.0, exponent - part * 3.0)


def _attrs(*axes: int, keepdims: bool = False) -> dict[str, Any]:
    return {"axes": list(axes), "keepdims": keepdims}


def _samples(make: Callable[..., Array]) -> tuple[Sample, ...]:
    return (
        Sample((make(7, 5),), _attrs(0)),
        Sample((make(7, 5),), _attrs(1)),
        Sample((make(3, 4, 5),), _attrs(0, 2)),
        Sample((make(3, 4, 5),), _attrs(1, keepdims=True)),
        Sample((make(11),), _attrs(0)),
        Sample((make(2, 3, 4),), _attrs(0, 1, 2)),
        Sample((make(300, 3),), _attrs(0)),
        Sample((make(3, 300),), _attrs(1, keepdims=True)),
        Sample((make(1, 1),), _attrs(0)),
    )


_BAD_AXES = (
    InvalidSample((floats(2, 3),), _attrs(2), ShapeError, "axis 2 does not exist"),
    InvalidSample((floats(2, 3),), _attrs(1, 1), ShapeError, "must be distinct"),
)
_EMPTY = InvalidSample((floats(0, 3),), _attrs(0), ShapeError, "nothing to reduce")
_BYTES = np.arange(6, dtype=np.uint8)
# In float16 the sum of each row would end at 2,048.
_HALVES = Sample((np.ones((3, 4099), np.float16),), _attrs(1), differentiable=())

_SUM = register(
    OpDef(
        name="reduce_sum",
        infer=_infer(*NUMBERS, may_be_empty=True),
        reference=in_float32(_reference(add_up)),
        gradient=_sum_gradient,
        lower=lower_reduce_sum,
        samples=(*_samples(floats), Sample((integers(4, 6),), _attrs(1)), _HALVES),
        invalid=(
            *_BAD_AXES,
            InvalidSample((_BYTES,), _attrs(0), DTypeError, "not uint8"),
        ),
    )
)
_MEAN = register(
    OpDef(
        name="reduce_mean",
        infer=_infer(*FLOATS, may_be_empty=False),
        reference=in_float32(_reference(_mean)),
        gradient=_mean_gradient,
        lower=lower_reduce_mean,
        epilogue=True,
        samples=_samples(floats),
        invalid=(
            *_BAD_AXES,
            _EMPTY,
            InvalidSample((integers(3),), _attrs(0), DTypeError, "not int32"),
        ),
    )
)
_MAX = register(
    OpDef(
        name="reduce_max",
        infer=_infer(*NUMBERS, may_be_empty=False),
        reference=in_float32(_reference(np.maximum.reduce)),
        gradient=_extreme_gradient,
        lower=lower_reduce_max,
        samples=(*_samples(distinct), Sample((integers(4, 6),), _attrs(1))),
        invalid=(*_BAD_AXES, _EMPTY),
    )
)
_MIN = register(
    OpDef(
        name="reduce_min",
        infer=_infer(*NUMBERS, may_be_empty=False),
        reference=in_float32(_reference(np.minimum.reduce)),
        gradient=_extreme_gradient,
        lower=lower_reduce_min,
        samples=(*_samples(distinct), Sample((integers(4, 6),), _attrs(1))),
        invalid=(*_BAD_AXES, _EMPTY),
    )
)
_ZEROS = np.array([[0, 2, 3, 4], [0, 5, 0, 0.5], [0, 0, 0, 2], [1, 2, -3, 4]], np.float32)
_PROD = register(
    OpDef(
        name="reduce_prod",
        infer=_infer(*NUMBERS, may_be_empty=True),
        reference=in_float32(_reference(np.multiply.reduce)),
        gradient=_prod_gradient,
        lower=lower_reduce_prod,
        samples=(
            *_samples(lambda *shape: floats(*shape, low=0.9, high=1.1)),
            Sample((integers(4, 6, low=1),), _attrs(1)),
            Sample((_ZEROS,), _attrs(1)),
        ),
        invalid=_BAD_AXES,
    )
)
