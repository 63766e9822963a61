"""``pad``: a tensor with elements added around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.gather import gather
from playgrad.ops.arrays.pad_slice import pad_constant
from playgrad.ops.arrays.shape import identity
from playgrad.ops.core.build import as_tensor

_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def pad(
    x: Any,
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    mode: str = "constant",
    constant_values: float | None = None,
    name: str | None = None,
) -> Tensor:
    """Return ``x`` with elements added around it, as ``numpy.pad`` does.

    Args:
        x: a tensor of any shape and dtype.
        pad_width: a pair (before, after) for each dimension: the number of elements to add at its
            beginning and end. One pair, or one number, is for all.
        mode: their values: "constant"; "edge", the nearest element; "reflect", mirrored at the
            nearest element; "symmetric", mirrored behind it; or "wrap", taken from the other end.
        constant_values: the value for "constant", which the dtype of ``x`` must be able to hold;
            it may be infinite. None means 0.

    Returns:
        A tensor of the dtype of ``x``, each dimension ``before + after`` larger.

    Raises:
        ShapeError: ``pad_width`` does not fit ``x`` or is negative; there is no such mode; or a
            mode other than "constant" pads a dimension of size 0 or of unknown size, or is given
            ``constant_values``.
        DTypeError: the dtype of ``x`` cannot hold ``constant_values``.
    """
    tensor = as_tensor(x)
    pairs = _pairs(pad_width, tensor)
    if mode == "constant":
        return pad_constant(tensor, pairs, constant_values or 0, name=name)
    if mode not in _MODES:
        raise ShapeError(f"pad: mode must be one of {', '.join(_MODES)}, got {mode!r:.60}.")
    if constant_values is not None:
        raise ShapeError(f"pad: constant_values has no meaning for mode {mode!r}.")
    result = tensor
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            dim = tensor.shape[axis]
            if not dim:
                raise ShapeError(
                    f"pad: mode {mode!r} cannot pad axis {axis} of the shape "
                    f"{shape_text(tensor.shape)}, whose size is "
                    f"{'unknown' if dim is None else 'zero'}."
                )
            places: Any = np.pad(np.arange(dim, dtype=np.int32), (before, after), mode)  # type: ignore[call-overload]
            result = gather(result, places, axis)
    return identity(result, name=name) if result is tensor else result


def _pairs(pad_width: Any, x: Tensor) -> list[list[int]]:
    """Return a pair for each dimension of ``x``.

    Raises:
        ShapeError: they do not fit, or are not whole numbers ≥ 0.
    """
    try:
        widths = np.asarray(pad_width)
        pairs = np.broadcast_to(widths if widths.size else widths.reshape(0, 2), (x.spec.rank, 2))
    except ValueError:
        pairs = None
    if pairs is None or (pairs.size and (pairs.dtype.kind not in "iu" or pairs.min() < 0)):
        raise ShapeError(
            f"pad: expected one pair of numbers ≥ 0 for each dimension of the shape "
            f"{shape_text(x.shape)}, got {pad_width!r:.60}."
        )
    result: list[list[int]] = pairs.tolist()
    return result
