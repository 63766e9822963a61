"""1-D convolution of sequences, by ``conv2d`` of images of one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.errors import ShapeError
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.shape import expand_dims, squeeze
from playgrad.ops.convolution.conv2d import conv2d
from playgrad.ops.core.build import as_tensors, expect_rank, one_or_more, whole


def conv1d(
    x: Any,
    filters: Any,
    strides: int = 1,
    padding: str | Sequence[int] = "valid",
    dilation_rate: int = 1,
    groups: int = 1,
    name: str | None = None,
) -> Tensor:
    """Return the 1-D convolution of a batch of sequences with a set of filters.

    Args:
        x: sequences of shape (batch, steps, in channels), float16, float32 or float64.
        filters: shape (filter steps, in channels / groups, out channels), of the same dtype.
        strides: distance between windows in steps.
        padding: zeros around each sequence. "valid" adds none; "same" adds as many as make output =
            ceil(input / stride); "causal" adds them before the sequence only, so that no result
            depends on later steps; (before, after) adds those numbers.
        dilation_rate: distance between the steps that meet neighbouring weights of a filter.
        groups: as in ``conv2d``.

    Returns:
        A tensor of shape (batch, out steps, out channels) and the dtype of ``x``.

    Raises:
        ShapeError: an operand does not have 3 dimensions, the channels differ or cannot be divided
            into groups, a filter is longer than the padded sequence, or another argument is not
            valid.
        DTypeError: the operands are not of one floating dtype.
    """
    sequence, kernel = as_tensors(x, filters)
    expect_rank(sequence.spec, 3, "the sequence of conv1d, (batch, steps, channels),")
    expect_rank(kernel.spec, 3, "the filters of conv1d, (steps, in, out),")
    stride, dilation = _step(strides, "strides"), _step(dilation_rate, "dilation_rate")
    sides: Any = padding
    if padding == "causal":
        sides = ((0, 0), ((kernel.spec.static_shape[0] - 1) * dilation, 0))
    elif not isinstance(padding, str):
        sides = ((0, 0), tuple(padding))
    if padding not in ("valid", "same", "causal") and (
        isinstance(sides, str) or len(sides[1]) != 2
    ):
        raise ShapeError(
            f'padding must be "valid", "same", "causal" or (before, after), not {padding!r}.'
        )
    rows = conv2d(
        expand_dims(sequence, 1),
        expand_dims(kernel, 0),
        (1, stride),
        sides,
        (1, dilation),
        groups,
        name=name,
    )
    return squeeze(rows, 1)


def _step(value: Any, what: str) -> int:
    numbers = one_or_more(value)
    if len(numbers) != 1:
        raise ShapeError(f"{what} of conv1d must be one number, not {value!r}.")
    return whole(numbers[0], what)
