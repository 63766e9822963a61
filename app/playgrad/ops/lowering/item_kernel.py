"""Kernels whose invocations compute one item each, and WGSL index arithmetic for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.dtypes import dtype
from playgrad.errors import UnsupportedOpError
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.kernel import Binding, KernelCall, KernelRequest, flat_index, grid
from playgrad.ops.core.loops import Loop, innermost
from playgrad.ops.core.templates import render

WORKGROUP = 64


def item_kernel(
    request: KernelRequest,
    kernel: str,
    items: int,
    bindings: Sequence[Binding],
    params: Mapping[str, Any],
    loops: Sequence[Loop] = (),
    iterations: int | None = None,
    **constants: object,
) -> KernelCall:
    """Return a dispatch of ``kernel`` with one invocation for each item.

    Args:
        kernel: a .wgsl file that uses ``${WORKGROUP}``, ``${INDEX}`` and ``${ITEMS}``.
        items: the number of items.
        loops: the loops of an invocation.
        iterations: how often it runs its innermost loops, or does other work of that size; None to
            count ``loops``.
        constants: values of the other names in the file.
    """
    limits = request.target.limits
    workgroup = min(WORKGROUP, limits.max_compute_invocations_per_workgroup)
    code = render(
        kernel,
        WORKGROUP=workgroup,
        INDEX=flat_index(items, workgroup, limits),
        ITEMS=items,
        **constants,
    )
    return KernelCall(
        family=kernel.removesuffix(".wgsl"),
        params={"items": items, **params},
        code=code,
        bindings=tuple(bindings),
        workgroups=grid(items, workgroup, limits),
        iterations=innermost(loops) or 1 if iterations is None else iterations,
        loops=tuple(loops),
    )


def number_type(spec: TensorSpec) -> str:
    """Return the WGSL type that holds an element of ``spec``, which is not packed, in one word.

    Raises:
        UnsupportedOpError: GPUs do not have the type.
    """
    storage = dtype(spec.dtype).storage
    if storage is None:
        raise UnsupportedOpError(
            f"GPUs have no {spec.dtype} values.", hint="Use float32, or the cpu."
        )
    return storage


def strides_of(shape: Sequence[int]) -> list[int]:
    """Return the row-major strides of ``shape``, in elements."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides


def mixed_radix(index: str, sizes: Sequence[int], strides: Sequence[int], offset: int = 0) -> str:
    """Return WGSL for ``offset + sum(digit[i] * strides[i])``, with the digits of flat ``index``.

    ``sizes`` are the dimensions that ``index`` counts through. Adjacent dimensions that are
    contiguous in memory are merged. Strides and offset may be
    negative: WGSL's unsigned numbers wrap around.
    """
    merged: list[tuple[int, int]] = []
    for size, stride in zip(sizes, strides, strict=True):
        if size <= 1:  # a division by 0 does not compile, even where nothing is computed
            continue
        if merged and merged[-1][1] == stride * size:
            merged[-1] = (merged[-1][0] * size, stride)
        else:
            merged.append((size, stride))
    terms = [f"{offset % 2**32}u"] if offset else []
    inner = 1
    for position in range(len(merged) - 1, -1, -1):
        size, stride = merged[position]
        digit = index if inner == 1 else f"({index} / {inner}u)"
        if position > 0:
            digit = f"({digit} % {size}u)"
        if stride:
            terms.append(digit if stride == 1 else f"{digit} * {stride % 2**32}u")
        inner *= size
    return " + ".join(terms) or "0u"
