"""The emitters of ``conv2d`` and its gradients where channels are in groups."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.graph.opdef import Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.ops.convolution.emit_windows import window_form
from playgrad.ops.core.row_share import SharedRows
from playgrad.ops.core.static_kernel import static_kernel
from playgrad.wasm import grouped_convolution
from playgrad.wasm.grouped_convolution import GroupedForm
from playgrad.wasm.kernel import ArrayPlace, KernelCode


def _has_groups(specs: Sequence[TensorSpec], attrs: Attrs) -> bool:
    return "groups" in attrs


def _form(image: ArrayPlace, filters: ArrayPlace, result: ArrayPlace, attrs: Attrs) -> GroupedForm:
    height, width, channels, outputs = filters.shape
    windows = window_form(image.shape, result.shape, (height, width), attrs)
    groups = attrs["groups"]
    return GroupedForm(windows, groups, channels, outputs // groups)


@static_kernel("conv2d", only_if=_has_groups, fallback=True, shared=SharedRows(1e-8, whole=(1,)))
def _convolution(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (image, filters), (result,), f = inputs, outputs, code.f
    places = (f.copy(array.address) for array in (image, filters, result))
    grouped_convolution.convolve(f, _form(image, filters, result, attrs), *places)


@static_kernel(
    "conv2d_input_gradient",
    only_if=_has_groups,
    fallback=True,
    shared=SharedRows(1e-8, whole=(0,), rows_of=1),
)
def _image_gradient(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (filters, gradient), (image,), f = inputs, outputs, code.f
    places = (f.copy(array.address) for array in (filters, gradient, image))
    grouped_convolution.image_gradient(f, _form(image, filters, gradient, attrs), *places)


@static_kernel("conv2d_filter_gradient", only_if=_has_groups, fallback=True)
def _filter_gradient(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (image, gradient), (filters,), f = inputs, outputs, code.f
    places = (f.copy(array.address) for array in (image, gradient, filters))
    grouped_convolution.filter_gradient(f, _form(image, filters, gradient, attrs), *places)
