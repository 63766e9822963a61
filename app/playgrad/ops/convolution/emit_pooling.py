"""The emitters of ``max_pool2d`` and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

from playgrad.graph.tensor import Node
from playgrad.ops.convolution.emit_padding import padded_form, padded_image, write_cropped
from playgrad.ops.convolution.simd_pooling import MOST_PIXELS, pool_form
from playgrad.ops.emitters import Operand, emitter
from playgrad.wasm.max_pool import WIDTH, PoolForm, write_max_pool, write_max_pool_gradient
from playgrad.wasm.step import StepCode


def _fits(node: Node) -> bool:
    channels = node.outputs[0].spec.static_shape[3]
    pixels = prod(node.attrs["pool_size"])
    return node.inputs[0].dtype == "float32" and channels >= WIDTH and pixels <= MOST_PIXELS


def _overlaps(node: Node) -> bool:
    pairs = zip(node.attrs["pool_size"], node.attrs["strides"], strict=True)
    return any(size > stride for size, stride in pairs)


def _gradient_fits(node: Node) -> bool:
    whole = node.outputs[0].spec.static_shape[3] % WIDTH == 0
    return _fits(node) and (whole or not _overlaps(node))


@emitter("max_pool2d", supports=_fits)
def emit_max_pool(
    step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> None:
    """Find the maximum of each window, four channels at once."""
    (image,) = inputs
    if not prod(outputs[0].shape):
        return
    form = pool_form(image.shape, outputs[0].shape[1:3], node.attrs)
    padded = padded_form(image.shape, node.attrs["padding"])
    target = step.scratch(padded.padded_bytes if padded.is_padded else 0)
    pixels = padded_image(step, padded, image.address, target, -inf)
    pool = step.shared(("max_pool", form), lambda module: write_max_pool(module, form))
    step.f.call(pool, pixels, *(output.address for output in outputs))


@emitter("max_pool2d_gradient", supports=_gradient_fits)
def emit_max_pool_gradient(
    step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> None:
    """Write, or add where windows overlap, each gradient to the pixel of its maximum."""
    gradient, positions = inputs
    (image,) = outputs
    if not prod(image.shape):
        return
    form: PoolForm = pool_form(image.shape, gradient.shape[1:3], node.attrs)
    padded = padded_form(image.shape, node.attrs["padding"])
    scratch = step.scratch(padded.padded_bytes if padded.is_padded else 0)
    target = scratch if padded.is_padded else image.address
    step.f.fill_bytes(target, 0, padded.padded_bytes)
    adds = _overlaps(node)
    write = step.shared(
        ("max_pool_gradient", form, adds),
        lambda module: write_max_pool_gradient(module, form, adds=adds),
    )
    if prod(gradient.shape):
        step.f.call(write, target, gradient.address, positions.address)
    if padded.is_padded:
        write_cropped(step, padded, target, image.address)
