"""The range of the numbers in a tensor, as far as its operations tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from playgrad.dtypes import dtype
from playgrad.graph.tensor import Node, Tensor

Range = tuple[float, float]
"""The least and the largest number that a tensor may hold; NaN is left out."""
ANY: Range = (-math.inf, math.inf)
_MOST_NODES = 200
"""The most nodes that are visited for one tensor."""
_MOVES = frozenset({
    "broadcast_like", "broadcast_to", "concat", "concat_part", "copy", "cross_replica_mean",
    "expand_dims", "identity", "merge_axes", "receive", "reduce_max", "reduce_min", "reshape",
    "reshape_like", "roll", "slice", "slice_like", "split_batch", "squeeze", "stack_rows",
    "stop_gradient", "strided_slice", "transpose", "unstack_rows",
})  # fmt: skip
"""Operations whose results are elements of their inputs, or lie between them."""
_BITS = frozenset({
    "equal", "greater", "greater_equal", "is_finite", "is_inf", "is_nan", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal", "one_hot",
})  # fmt: skip


def range_of(tensor: Tensor) -> Range:
    """Return the range of the numbers in ``tensor``, whose shape is known."""
    return _Ranges().of(tensor)


class _Ranges:
    def __init__(self) -> None:
        self.known: dict[Tensor, Range] = {}

    def of(self, tensor: Tensor) -> Range:
        if tensor not in self.known:
            if len(self.known) >= _MOST_NODES:
                return ANY
            self.known[tensor] = ANY  # until it is known
            self.known[tensor] = self._found(tensor.node)
        return self.known[tensor]

    def _found(self, node: Node) -> Range:
        name, inputs, attrs = node.op.name, node.inputs, node.attrs
        if name in _BITS:
            return 0.0, 1.0
        if name == "constant":
            values = attrs["value"]
            return (float(np.min(values)), float(np.max(values))) if values.size else (0.0, 0.0)
        if name == "fill":
            return float(attrs["value"]), float(attrs["value"])
        if name == "ones_like":
            return 1.0, 1.0
        if name == "zeros_like":
            return 0.0, 0.0
        if name in ("argmax", "argmin", "argsort"):
            axis = attrs.get("axis", -1)
            return 0.0, float((inputs[0].spec.static_shape[axis] or 1) - 1)
        if name == "batch_indices":
            return 0.0, attrs["count"] - 1.0
        if name in ("gather", "take_along_axis"):
            return self.of(inputs[0])
        if name == "where":
            return _union([self.of(x) for x in inputs[1:]])
        if name in _MOVES and inputs:
            return _union([self.of(x) for x in (inputs if name == "concat" else inputs[:1])])
        if name == "cast":
            return _of_cast(self.of(inputs[0]), inputs[0].dtype, node.outputs[0].dtype)
        if name == "cumsum":
            count = inputs[0].spec.static_shape[attrs["axis"]]
            terms = (0.0, count - 1.0) if attrs["exclusive"] else (1.0, float(count))
            return _products([terms, self.of(inputs[0])])
        if name == "mod":
            least, most = self.of(inputs[1])
            return (0.0, most - (not dtype(inputs[0].dtype).floating)) if least > 0 else ANY
        rule = _ARITHMETIC.get(name)
        if rule is None:
            return ANY
        low, high = rule([self.of(x) for x in inputs])
        kind = node.outputs[0].dtype
        wraps = name in _GROW and not dtype(kind).floating
        if math.isnan(low + high) or (wraps and not _fits(low, high, kind)):
            return ANY
        return low, high


def _union(ranges: Sequence[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _of_cast(found: Range, before: str, after: str) -> Range:
    if after == "bool":
        return 0.0, 1.0
    if dtype(after).floating or before == "bool":
        return found
    low, high = (math.trunc(x) if math.isfinite(x) else x for x in found)
    return (float(low), float(high)) if _fits(low, high, after) else ANY


def _fits(low: float, high: float, kind: str) -> bool:
    """Return whether no number of the range wraps around as an integer of dtype ``kind``."""
    limits = np.iinfo(dtype(kind).numpy)
    return bool(low >= limits.min and high <= limits.max)


def _products(ranges: Sequence[Range]) -> Range:
    (a, b), (c, d) = ranges
    corners = [x * y for x in (a, b) for y in (c, d)]
    return min(corners), max(corners)


def _clipped(ranges: Sequence[Range]) -> Range:
    (low, high), (least, least_high), (most_low, most) = ranges
    return min(max(low, least), most_low), min(max(high, least_high), most)


_ARITHMETIC: dict[str, Callable[[Sequence[Range]], Range]] = {
    "add": lambda r: (r[0][0] + r[1][0], r[0][1] + r[1][1]),
    "sub": lambda r: (r[0][0] - r[1][1], r[0][1] - r[1][0]),
    "mul": _products,
    "neg": lambda r: (-r[0][1], -r[0][0]),
    "maximum": lambda r: (max(r[0][0], r[1][0]), max(r[0][1], r[1][1])),
    "minimum": lambda r: (min(r[0][0], r[1][0]), min(r[0][1], r[1][1])),
    "clip": _clipped,
    "floor": lambda r: (math.floor(r[0][0]), math.floor(r[0][1])) if _finite(r[0]) else r[0],
    "round": lambda r: (math.floor(r[0][0]), math.ceil(r[0][1])) if _finite(r[0]) else r[0],
    "trunc": lambda r: r[0],
    "sigmoid": lambda r: (0.0, 1.0),
    "relu": lambda r: (max(r[0][0], 0.0), max(r[0][1], 0.0)),
}
_GROW = frozenset({"add", "sub", "mul", "neg"})
"""Operations whose results may be beyond the integers, and wrap around."""


def _finite(found: Range) -> bool:
    return math.isfinite(found[0]) and math.isfinite(found[1])
