"""Lowering of the operations of quantized networks that are not products."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playgrad.ops.core.kernel import KernelRequest, Lowering, input_binding, output_binding
from playgrad.ops.core.loops import Loop, nested
from playgrad.ops.lowering.item_kernel import item_kernel
from playgrad.ops.lowering.window import window_constants


def range_constants(attrs: Mapping[str, Any]) -> dict[str, int]:
    """Return the constants of ``common/requantize.wgsl``."""
    return {name.upper(): attrs[name] for name in ("zero_point", "low", "high")}


def lower_lookup(request: KernelRequest) -> Lowering:
    """Lower lookup of (x, table)."""
    return _lower_words(request, "lookup.wgsl", ("x", "table"))


def lower_rescale(request: KernelRequest) -> Lowering:
    """Lower rescale of x."""
    names = ("input_zero_point", "multiplier", "shift")
    constants: dict[str, Any] = {name.upper(): request.attrs[name] for name in names}
    constants |= range_constants(request.attrs)
    return _lower_words(request, "rescale.wgsl", ("x",), **constants)


def _lower_words(
    request: KernelRequest, kernel: str, names: tuple[str, ...], **constants: Any
) -> Lowering:
    """Lower an operation whose kernel computes a word of the result from the same one of x."""
    call = item_kernel(
        request,
        kernel,
        -(-request.outputs[0].size // 4),
        (
            *(input_binding(n, i, request.inputs[i], n == "x") for i, n in enumerate(names)),
            output_binding("result", 0, request.outputs[0]),
        ),
        constants,
        iterations=4,
        **constants,
    )
    return Lowering((call,))


def lower_quantized_softmax(request: KernelRequest) -> Lowering:
    """Lower quantized_softmax of (x, table), with an element of x in each word."""
    x = request.inputs[0]
    classes = x.static_shape[-1]
    call = item_kernel(
        request,
        "quantized_softmax.wgsl",
        x.size // classes,
        (
            input_binding("x", 0, x),
            input_binding("table", 1, request.inputs[1]),
            output_binding("result", 0, request.outputs[0]),
        ),
        {"classes": classes},
        loops=(Loop(classes),) * 3,
        CLASSES=classes,
    )
    return Lowering((call,))


def lower_quantized_max_pool2d(request: KernelRequest) -> Lowering:
    """Lower quantized_max_pool2d of images."""
    return _lower_pool(request, "quantized_max_pool2d.wgsl")


def lower_quantized_avg_pool2d(request: KernelRequest) -> Lowering:
    """Lower quantized_avg_pool2d of images."""
    attrs = request.attrs
    factors = len(attrs["multipliers"])
    return _lower_pool(
        request,
        "quantized_avg_pool2d.wgsl",
        FACTORS=factors,
        MULTIPLIERS=", ".join(map(str, attrs["multipliers"])),
        SHIFTS=", ".join(map(str, attrs["shifts"])),
        INPUT_ZERO_POINT=attrs["input_zero_point"],
        **range_constants(attrs),
    )


def _lower_pool(request: KernelRequest, kernel: str, **constants: Any) -> Lowering:
    attrs = {**request.attrs, "pool_size": request.attrs["window"]}
    _, height, width, channels = request.inputs[0].static_shape
    _, output_height, output_width, _ = request.outputs[0].static_shape
    items = request.outputs[0].size
    call = item_kernel(
        request,
        kernel,
        -(-items // 4),
        (
            input_binding("images", 0, request.inputs[0]),
            output_binding("result", 0, request.outputs[0]),
        ),
        {**request.attrs, "image": [height, width, channels]},
        loops=(nested(4, *attrs["window"]),),
        ELEMENTS=items,
        HEIGHT=height,
        WIDTH=width,
        CHANNELS=channels,
        OUTPUT_HEIGHT=output_height,
        OUTPUT_WIDTH=output_width,
        POOL_HEIGHT=attrs["window"][0],
        POOL_WIDTH=attrs["window"][1],
        store="",
        **window_constants(attrs),
        **constants,
    )
    return Lowering((call,))
