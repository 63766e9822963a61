"""``conv2d`` and its gradients by the host's product of matrices, of panels of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from playgrad.graph.opdef import Attrs
from playgrad.ops.convolution.window import dilations_of
from playgrad.wasm.encoding import I32
from playgrad.wasm.module import Module
from playgrad.wasm.padded_image import PaddedForm
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import StackValue, integer, smaller
from playgrad.wasm.window_panels import PanelForm, write_add, write_pack

WORTH = 1 << 20
"""Multiplications from which panels are worth it."""


def panel_form(
    image: PaddedForm, size: Sequence[int], out: Sequence[int], attrs: Attrs
) -> PanelForm:
    """Return the windows of ``size`` over padded images; ``out`` has their numbers."""
    (down, right), (skip_y, skip_x) = attrs["strides"], dilations_of(attrs)
    row, pixel = image.padded_row, 4 * image.channels
    columns = range(1) if skip_x == 1 else range(size[1])
    return PanelForm(
        image.batch, out[0], out[1],
        (image.top + image.height + image.bottom) * row, down * row, right * pixel,
        tuple(y * skip_y * row + x * skip_x * pixel for y, x in product(range(size[0]), columns)),
        image.channels * size[1] // len(columns),
    )  # fmt: skip


def emit_panels(
    step: StepCode,
    kind: str,
    form: PanelForm,
    outputs: int,
    image: StackValue,
    filters: StackValue,
    result: StackValue,
    panel: StackValue,
) -> None:
    """Write a convolution or a gradient of it, which is the last one of its three arrays.

    Args:
        kind: ``result``, ``filters`` or ``image``: the array that is written; to ``image`` the
            gradient is added, by filters that are transposed.
        outputs: the channels of the result.
        panel: the address of ``form.bytes`` bytes.
    """
    sgemm = step.sgemm
    assert sgemm is not None

    def write(module: Module) -> Procedure:
        return _write(module, sgemm, pack_or_add, kind, form, outputs)

    rows = write_add if kind == "image" else write_pack
    pack_or_add = step.shared((rows, form), lambda module: rows(module, form))
    step.f.call(step.shared((kind, form, outputs), write), image, filters, result, panel)


def _write(
    module: Module, sgemm: Procedure, rows: Procedure, kind: str, form: PanelForm, outputs: int
) -> Procedure:
    f = module.procedure([I32] * 4)
    image, filters, result, panel = f.arguments
    terms, depth = integer(form.terms), integer(outputs)
    flat, flipped = integer(0), integer(1)
    images_at_once, rows_at_once = form.step
    with f.count(integer(form.batch), images_at_once) as first:
        images = f.copy(smaller(integer(form.batch) - first, images_at_once))
        with f.count(integer(form.height), rows_at_once) as top:
            height = f.copy(smaller(integer(form.height) - top, rows_at_once))
            windows = f.copy(images * height * form.width)
            outcome = f.copy(result + (first * form.height + top) * (4 * form.width * outputs))
            pixel = f.copy(image + first * form.image + top * form.down)
            operands: tuple[StackValue, ...]
            if kind != "image":
                f.call(rows, panel, pixel, images, height)
            if kind == "result":
                operands = (panel, terms, filters, depth, flat, outcome, depth)
                f.call(sgemm, flat, flat, windows, depth, terms, *operands)
            elif kind == "filters":
                adds = flipped - (first + top).equals(0)
                operands = (panel, terms, outcome, depth, adds, filters, depth)
                f.call(sgemm, flipped, flat, terms, depth, windows, *operands)
            else:
                operands = (outcome, depth, filters, terms, flat, panel, terms)
                f.call(sgemm, flat, flat, windows, terms, depth, *operands)
                f.call(rows, panel, pixel, images, height)
    return f
