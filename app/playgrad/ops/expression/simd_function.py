"""Expressions of large arrays in a page, computed by kernels in WebAssembly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from playgrad.graph.spec import TensorSpec
from playgrad.ops.expression.expr import DistinctExpressions, count
from playgrad.ops.expression.simd_kernel import (
    LeafForm,
    Leaves,
    as_rows,
    is_supported,
    kernel_module,
)
from playgrad.wasm.memory import address
from playgrad.wasm.page_kernels import has_page_kernels

Array = np.ndarray[Any, Any]

WORTH = 1 << 14
"""Elements times functions, from which a call of a kernel is faster than NumPy."""


def simd_function(
    key: DistinctExpressions, specs: Sequence[TensorSpec]
) -> Callable[[Sequence[Array]], list[Array]] | None:
    """Return a function from leaves of ``specs``, with known shapes, to the expressions' values.

    None outside of a page, without SIMD, for small arrays, and for what kernels cannot compute.
    """
    if not has_page_kernels():
        return None
    shapes = [spec.static_shape for spec in specs]
    shape = np.broadcast_shapes(*shapes)
    if np.prod(shape) * sum(map(count, key.exprs)) < WORTH:
        return None
    form = as_rows(shape, shapes)
    if form is None:
        return None
    rows, columns, spreads = form
    leaves = tuple((spec.dtype, spread) for spec, spread in zip(specs, spreads, strict=True))
    run = _kernel(key, leaves)
    if run is None:
        return None
    single = [spread is LeafForm.NEITHER for spread in spreads]
    outputs = range(len(key.exprs))

    def compute(arrays: Sequence[Array]) -> list[Array]:
        results = [np.empty(shape, np.float32) for _ in outputs]
        dense = [
            array.item() if is_single else np.ascontiguousarray(array)
            for array, is_single in zip(arrays, single, strict=True)
        ]
        arguments = (
            value if is_single else address(value)
            for value, is_single in zip(dense, single, strict=True)
        )
        run(rows, columns, *arguments, *map(address, results))
        return results

    return compute


@lru_cache(maxsize=256)
def _kernel(key: DistinctExpressions, leaves: Leaves) -> Any:
    """Return the function of `kernel_module`; None if there is none, or without SIMD."""
    from playgrad.devices._emscripten import can_run, instantiate

    if not is_supported(key.exprs, leaves):
        return None
    module = kernel_module(key.exprs, leaves)
    return instantiate(module).run if can_run(module) else None
