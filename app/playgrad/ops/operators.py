"""The operators of tensors, such as ``+`` and ``@``, and the methods that NumPy's arrays have."""

from __future__ import annotations

import math
from typing import Any

from playgrad.graph.tensor import OPERATORS, Tensor
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.arrays.shape import reshape, squeeze
from playgrad.ops.arrays.transpose import transpose
from playgrad.ops.elementwise import definitions as elementwise
from playgrad.ops.products.matmul import matmul
from playgrad.ops.reductions.argmax import argmax, argmin
from playgrad.ops.reductions.reduce import reduce_max, reduce_mean, reduce_min, reduce_sum


def _numbers(x: Tensor, dtype: str) -> Tensor:
    return elementwise.cast(x, dtype) if x.dtype == "bool" else x


def _with_batch(x: Tensor, sizes: Any) -> Any:
    """Return ``sizes`` with the size that -1 means, if the first is an unknown batch size."""
    rest = [size for size in x.shape[1:] if size is not None]
    if not isinstance(sizes, (list, tuple)) or -1 not in sizes or len(rest) != x.spec.rank - 1:
        return sizes
    if x.spec.rank == 0 or x.shape[0] is not None or sizes[0] is not None:
        return sizes
    others = math.prod(size for size in sizes[1:] if size != -1)
    return (None, *[math.prod(rest) // others if size == -1 else size for size in sizes[1:]])


def _sizes(values: tuple[Any, ...]) -> Any:
    """Return one sequence, which methods of NumPy also take as several arguments."""
    return values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values


OPERATORS.update(
    {
        "add": elementwise.add,
        "sub": elementwise.sub,
        "mul": elementwise.mul,
        "div": elementwise.div,
        "floor_divide": elementwise.floor_divide,
        "mod": elementwise.mod,
        "pow": elementwise.pow,
        "neg": elementwise.neg,
        "abs": elementwise.absolute,
        "less": elementwise.less,
        "less_equal": elementwise.less_equal,
        "greater": elementwise.greater,
        "greater_equal": elementwise.greater_equal,
        "logical_and": elementwise.logical_and,
        "logical_or": elementwise.logical_or,
        "logical_xor": elementwise.logical_xor,
        "logical_not": elementwise.logical_not,
        "matmul": matmul,
        "getitem": getitem,
        "sum": lambda x, *args, **options: reduce_sum(_numbers(x, "int32"), *args, **options),
        "mean": lambda x, *args, **options: reduce_mean(_numbers(x, "float32"), *args, **options),
        "max": reduce_max,
        "min": reduce_min,
        "argmax": argmax,
        "argmin": argmin,
        "reshape": lambda x, *shape: reshape(x, _with_batch(x, _sizes(shape))),
        "transpose": lambda x, *axes: transpose(x, _sizes(axes) or None),
        "squeeze": squeeze,
        "astype": elementwise.cast,
    }
)
