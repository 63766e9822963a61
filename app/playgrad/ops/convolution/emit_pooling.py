"""The emitters of ``max_pool2d`` and its gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, prod

from playgrad.graph.tensor import Node
from playgrad.ops.convolution.emit_padding import cropping, padded_form, padding
from playgrad.ops.convolution.simd_pooling import MOST_PIXELS, pool_form
from playgrad.ops.core.row_share import SharedRows
from playgrad.ops.emitters import Operand, emitter
from playgrad.wasm.max_pool import WIDTH, PoolForm, write_max_pool, write_max_pool_gradient
from playgrad.wasm.padded_image import PaddedForm
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import StackValue

_SHARED = SharedRows(1e-9)


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


def _covers(form: PoolForm) -> bool:
    """Return whether each pixel is in one window."""
    tiles = zip(form.out, form.strides, form.window, form.padded, strict=True)
    return all(stride == size and count * size == whole for count, stride, size, whole in tiles)


@dataclass(frozen=True)
class _Pooling:
    """A pooling of some images of a batch.

    Attributes:
        padded: the images and their padding.
    """

    form: PoolForm
    padded: PaddedForm

    @staticmethod
    def of(node: Node, image: Operand, result: Operand) -> _Pooling:
        form = pool_form(image.shape, result.shape[1:3], node.attrs)
        return _Pooling(form, padded_form(image.shape, node.attrs["padding"]))

    def of_images(self, count: int) -> _Pooling:
        """Return the same pooling of so many images."""
        return _Pooling(replace(self.form, batch=count), replace(self.padded, batch=count))

    @property
    def scratch(self) -> int:
        """The bytes of scratch memory that it needs."""
        return self.padded.padded_bytes if self.padded.is_padded else 0


_Call = Callable[[Procedure, Sequence[StackValue], StackValue], None]
"""Writes a pooling to a procedure: from its operands, with the address of scratch memory."""


def _emit(
    step: StepCode,
    node: Node,
    inputs: Sequence[Operand],
    outputs: Sequence[Operand],
    pooling: _Pooling,
    written: Callable[[_Pooling], _Call],
) -> None:
    """Have threads share the images, if that is worth it.

    Args:
        written: returns what writes the code of a pooling.
    """
    places = [operand.address for operand in (*inputs, *outputs)]
    given, results = ([operand.spec for operand in each] for each in (inputs, outputs))
    chunks = _SHARED.chunks(step, given, results, node.attrs)
    if chunks is None:
        written(pooling)(step.f, places, step.scratch(pooling.scratch))
        return
    parts = {count: written(pooling.of_images(count)) for count in (chunks.size, chunks.rest)}
    chunks.share(
        step,
        (node.op.name, pooling),
        places,
        lambda job, count, moved, first: parts[count](job.f, moved, job.scratch),
        private=pooling.of_images(chunks.size).scratch,
    )


@emitter("max_pool2d", supports=_fits)
def emit_max_pool(
    step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> None:
    """Find the maximum of each window, four channels at once."""
    if not prod(outputs[0].shape):
        return

    def written(pooling: _Pooling) -> _Call:
        form, padded = pooling.form, pooling.padded
        pool = step.shared(("max_pool", form), lambda module: write_max_pool(module, form))
        pad = padding(step, padded, -inf) if padded.is_padded else None

        def call(f: Procedure, places: Sequence[StackValue], scratch: StackValue) -> None:
            image, *results = places
            if pad is not None:
                f.call(pad, image, scratch)
            f.call(pool, image if pad is None else scratch, *results)

        return call

    _emit(step, node, inputs, outputs, _Pooling.of(node, inputs[0], outputs[0]), written)


@emitter("max_pool2d_gradient", supports=_gradient_fits)
def emit_max_pool_gradient(
    step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> None:
    """Write, or add where windows overlap, each gradient to the pixel of its maximum."""
    if not prod(outputs[0].shape):
        return
    adds = _overlaps(node)

    def written(pooling: _Pooling) -> _Call:
        form, padded = pooling.form, pooling.padded
        write = step.shared(
            ("max_pool_gradient", form, adds),
            lambda module: write_max_pool_gradient(module, form, adds=adds),
        )
        crop = cropping(step, padded) if padded.is_padded else None

        def call(f: Procedure, places: Sequence[StackValue], scratch: StackValue) -> None:
            gradient, positions, image = places
            target = f.copy(image if crop is None else scratch)
            if not _covers(form):
                f.fill_bytes(target, 0, padded.padded_bytes)
            if prod(inputs[0].shape):
                f.call(write, target, gradient, positions)
            if crop is not None:
                f.call(crop, target, image)

        return call

    _emit(step, node, inputs, outputs, _Pooling.of(node, outputs[0], inputs[0]), written)
