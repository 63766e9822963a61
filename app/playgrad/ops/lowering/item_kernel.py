"""Kernels in which each invocation makes one item: what all their lowerings have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.dtypes import dtype
from playgrad.errors import UnsupportedOpError
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.kernel import Binding, KernelCall, KernelRequest, flat_index, grid
from playgrad.ops.core.templates import render

WORKGROUP = 64


def item_kernel(
    request: KernelRequest,
    kernel: str,
    items: int,
    bindings: Sequence[Binding],
    params: Mapping[str, Any],
    iterations: int = 1,
    **constants: object,
) -> KernelCall:
    """A dispatch of `kernel` (a .wgsl file using WORKGROUP, INDEX, ITEMS) over `items` items.

    Args:
        iterations: rounds of its innermost loop that an invocation makes.
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
        iterations=iterations,
    )


def number_type(spec: TensorSpec, what: str) -> str:
    """The WGSL type that holds `spec` one element a word.

    Raises:
        UnsupportedOpError: the elements are packed bytes.
    """
    if spec.dtype == "uint8":
        raise UnsupportedOpError(f"{what} cannot take uint8 on a GPU.", hint="Cast to int32.")
    storage = dtype(spec.dtype).storage
    if storage is None:
        raise UnsupportedOpError(f"no GPU holds {spec.dtype} values.", hint="Use float32, or cpu.")
    return storage


def strides_of(shape: Sequence[int]) -> list[int]:
    """Row-major strides, in elements."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides


def mixed_radix(index: str, sizes: Sequence[int], strides: Sequence[int], offset: int = 0) -> str:
    """WGSL for `offset + sum(digit[i] * strides[i])`, the digits being those of `index` by `sizes`.

    Neighbouring dimensions that lie as one in memory are taken as one.
    """
    merged: list[tuple[int, int]] = []
    for size, stride in zip(sizes, strides, strict=True):
        if size == 1:
            continue
        if merged and merged[-1][1] == stride * size:
            merged[-1] = (merged[-1][0] * size, stride)
        else:
            merged.append((size, stride))
    terms = [f"{offset}u"] if offset else []
    inner = 1
    for position in range(len(merged) - 1, -1, -1):
        size, stride = merged[position]
        digit = index if inner == 1 else f"({index} / {inner}u)"
        if position > 0:
            digit = f"({digit} % {size}u)"
        if stride:
            terms.append(digit if stride == 1 else f"{digit} * {stride}u")
        inner *= size
    return " + ".join(terms) or "0u"
