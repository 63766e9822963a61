"""The emitters of ``conv2d`` and its gradients where channels are in groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.graph.opdef import Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.ops.convolution.emit_windows import window_form
from playgrad.ops.core.row_share import PART, PartChunks, SharedRows
from playgrad.ops.core.static_kernel import static_kernel
from playgrad.wasm import grouped_convolution
from playgrad.wasm.grouped_convolution import GroupedForm
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.step import StepCode, chunk_size


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


@dataclass(frozen=True)
class _SharedPlaces:
    """That threads share the places of the window, of which each has weights of its own."""

    def chunks(
        self,
        step: StepCode,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        attrs: Attrs,
    ) -> PartChunks | None:
        """Return how to cut a gradient by filters; None to leave it whole."""
        height, width, channels, results = outputs[0].static_shape
        if results == attrs["groups"]:  # a thread would read more than it computes
            return None
        seconds = 4e-10 * inputs[1].size * height * width * channels
        # One for each thread: each reads the image and the slopes as a whole.
        chunks = min(step.chunks(seconds, height * width), step.threads)
        if chunks == 1:
            return None
        size = chunk_size(height * width, chunks)
        steps = (0, 0, 4 * channels * results)
        return PartChunks(height * width, size, steps, repeats=True)


@static_kernel("conv2d_filter_gradient", only_if=_has_groups, fallback=True, shared=_SharedPlaces())
def _filter_gradient(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (image, gradient), (filters,), f = inputs, outputs, code.f
    a, b, target = (f.copy(array.address) for array in (image, gradient, filters))
    form = _form(image, filters, gradient, attrs)
    if PART in attrs:
        places = code.first, attrs[PART]
        grouped_convolution.gradient_of_places(f, form, a, b, target, *places)
    else:
        grouped_convolution.filter_gradient(f, form, a, b, target)
