"""``Resize`` of ONNX, of which playgrad's `ops.resize` is the most common case.

Along an axis, resizing takes pixels by their number, or mixes them by the rows of a matrix.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from playgrad import ops
from playgrad.graph.tensor import Tensor
from playgrad.interchange.onnx.importing.call import (
    NotApplicableError,
    OperatorCall,
    translates,
)

Array = np.ndarray[Any, Any]


@translates("Resize")
def _resize(call: OperatorCall) -> Tensor:
    call.expect("antialias", 0)
    call.expect("keep_aspect_ratio_policy", "stretch")
    mode = call.get("mode", "nearest")
    x, targets = call.x, _targets(call)
    if _is_playgrads(call, targets):
        area = [targets[2][0], targets[3][0]]
        method = "nearest" if mode == "nearest" else "bilinear"
        moved = ops.resize(ops.transpose(x, [0, 2, 3, 1]), area, method)
        return ops.transpose(moved, [0, 3, 1, 2])
    for axis, (size, scale) in targets.items():
        length = x.shape[axis] or 0
        if mode == "nearest":
            positions = _positions(call, length, size, scale)
            numbers = np.clip(_rounded(call, positions), 0, length - 1)
            x = ops.take(x, ops.constant(numbers.astype(np.int32)), axis)
        else:
            call.budget.spend(length * size)
            mixing = _mixing(call, length, size, scale).astype(x.dtype)
            moved = ops.matmul(ops.moveaxis(x, axis, -1), ops.constant(mixing.T))
            x = ops.moveaxis(moved, -1, axis)
    return x


def _targets(call: OperatorCall) -> dict[int, tuple[int, float]]:
    """Return the size and scale of each axis that changes."""
    scales, sizes = call.numbers(2), call.value(3)
    axes = call.get("axes") or range(call.x.spec.rank)
    targets: dict[int, tuple[int, float]] = {}
    for i, axis in enumerate(axes):
        length = call.x.shape[axis]
        if sizes:
            if sizes[i] is None or sizes[i] == length:
                continue  # None is the batch
        elif scales[i] == 1:
            continue
        if length is None:
            raise NotApplicableError("resizing of the batch, or of images of unknown size")
        size = int(sizes[i] if sizes else math.floor(length * scales[i]))
        call.budget.spend(size)
        if size < 1:
            raise NotApplicableError("images without pixels")
        targets[axis] = size, float(size / length if sizes else scales[i])
    return targets


def _is_playgrads(call: OperatorCall, targets: dict[int, tuple[int, float]]) -> bool:
    """True for images whose pixels are areas, as in `ops.resize`."""
    sizes = call.x.shape
    exact = all(size == (sizes[axis] or 0) * scale for axis, (size, scale) in targets.items())
    areas = call.get("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    nearest = call.get("nearest_mode", "round_prefer_floor") == "round_prefer_ceil"
    mode = call.get("mode", "nearest")
    known = mode == "linear" or (mode == "nearest" and nearest)
    fits = call.x.spec.rank == 4 and set(targets) == {2, 3}
    return exact and areas and known and fits and call.x.dtype in ("float32", "float64")


def _positions(call: OperatorCall, length: int, size: int, scale: float) -> Array:
    """Return where the new pixels lie among the old ones."""
    how = call.get("coordinate_transformation_mode", "half_pixel")
    numbers = np.arange(size)
    if how == "asymmetric":
        return numbers / scale
    if how == "align_corners":
        last = scale * length - 1
        return numbers * (length - 1) / last if last > 0 else np.zeros(size)
    if how == "pytorch_half_pixel" and size == 1:
        return np.zeros(1)
    centres = (numbers + 0.5) / scale - 0.5
    if how == "half_pixel_symmetric":
        return centres + length / 2 * (1 - size / (scale * length))
    if how in ("half_pixel", "pytorch_half_pixel"):
        return centres
    raise NotApplicableError(f"coordinate_transformation_mode={how}")


def _rounded(call: OperatorCall, positions: Array) -> Array:
    mode = call.get("nearest_mode", "round_prefer_floor")
    if mode == "round_prefer_floor":
        return np.ceil(positions - 0.5)
    if mode == "round_prefer_ceil":
        return np.floor(positions + 0.5)
    if mode in ("floor", "ceil"):
        return np.floor(positions) if mode == "floor" else np.ceil(positions)
    raise NotApplicableError(f"nearest_mode={mode}")


def _mixing(call: OperatorCall, length: int, size: int, scale: float) -> Array:
    """Return the share of each old pixel (columns) in each new one (rows)."""
    positions = _positions(call, length, size, scale)
    first = np.floor(positions)
    part = positions - first
    if call.get("mode") == "linear":
        shares = {0: 1 - part, 1: part}
    elif call.get("mode") == "cubic":
        a = float(call.get("cubic_coeff_a", -0.75))
        shares = {tap: _cubic(np.abs(part - tap), a) for tap in (-1, 0, 1, 2)}
    else:
        raise NotApplicableError(f"mode={call.get('mode')}")
    matrix = np.zeros((size, length))
    rows = np.arange(size)
    for tap, share in shares.items():
        columns = (first + tap).astype(int)
        if call.get("exclude_outside", 0):
            share = np.where((columns >= 0) & (columns < length), share, 0.0)
        np.add.at(matrix, (rows, np.clip(columns, 0, length - 1)), share)
    return matrix / matrix.sum(1, keepdims=True) if call.get("exclude_outside", 0) else matrix


def _cubic(distance: Array, a: float) -> Array:
    """Return the share of a pixel at ``distance`` (Keys 1981)."""
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = a * (((distance - 5) * distance + 8) * distance - 4)
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
