"""Maximum pooling in a page, by kernels in WebAssembly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from playgrad.graph.opdef import Array, Attrs
from playgrad.ops.convolution.window import crop, pad_image, padded_zeros
from playgrad.wasm.max_pool import WIDTH, PoolForm, max_pool_gradient_module, max_pool_module
from playgrad.wasm.memory import address
from playgrad.wasm.page_kernels import has_page_kernels

Compute = Callable[[Sequence[Array]], Sequence[Array]]

WORTH = 1 << 12
"""Elements of the results from which a kernel is worth it, which has to be compiled."""
MOST_PIXELS = 256
"""Pixels of a window, for each of which a kernel has code: browsers compile much of it slowly."""


def pool_form(image: Sequence[int], out: Sequence[int], attrs: Attrs) -> PoolForm:
    """Return the sizes of pooling images of the shape ``image`` to ``out`` (height, width)."""
    batch, height, width, channels = image
    (top, bottom), (left, right) = attrs["padding"]
    return PoolForm(
        batch,
        channels,
        (height, width),
        (height + top + bottom, width + left + right),
        (top, left),
        (out[0], out[1]),
        tuple(attrs["pool_size"]),
        tuple(attrs["strides"]),
    )


def prepare_max_pool(form: PoolForm, dtype: str, attrs: Attrs) -> Compute | None:
    """Return a function that computes ``max_pool2d``, or None if NumPy has to."""
    run = _kernel(max_pool_module, form, dtype)
    if run is None:
        return None
    shape = (form.batch, *form.out, form.channels)

    def compute(arrays: Sequence[Array]) -> list[Array]:
        image = np.ascontiguousarray(pad_image(arrays[0], attrs["padding"], -np.inf))
        results = [np.empty(shape, np.float32), np.empty(shape, np.int32)]
        run(address(image), *map(address, results))
        return results

    return compute


def prepare_max_pool_gradient(form: PoolForm, dtype: str, attrs: Attrs) -> Compute | None:
    """Return a function that computes ``max_pool2d_gradient``, or None if NumPy has to."""
    overlaps = any(a > b for a, b in zip(form.window, form.strides, strict=True))
    run = None if overlaps else _kernel(max_pool_gradient_module, form, dtype)
    if run is None:
        return None

    def compute(arrays: Sequence[Array]) -> list[Array]:
        gradients, positions = map(np.ascontiguousarray, arrays)
        image = padded_zeros(form.batch, form.image, form.channels, attrs, np.float32)
        run(address(image), address(gradients), address(positions))
        return [crop(image, attrs["padding"], form.image)]

    return compute


def _kernel(emit: Callable[[PoolForm], bytes], form: PoolForm, dtype: str) -> Any:
    if not has_page_kernels() or dtype != "float32" or form.channels < WIDTH:
        return None
    if prod(form.window) > MOST_PIXELS:
        return None
    if form.batch * form.out[0] * form.out[1] * form.channels < WORTH:
        return None
    return _instance(emit, form)


@lru_cache(maxsize=256)
def _instance(emit: Callable[[PoolForm], bytes], form: PoolForm) -> Any:
    """Return the function of a kernel, or None without SIMD."""
    from playgrad.devices._emscripten import can_run, instantiate

    module = emit(form)
    return instantiate(module).run if can_run(module) else None
