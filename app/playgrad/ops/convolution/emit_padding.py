"""Padded images in compiled steps."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from playgrad.ops.core.row_share import RowChunks
from playgrad.wasm.padded_image import PaddedForm, write_crop, write_pad
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import StackValue

_SECONDS = 4e-10
"""About those that copying an element of a padded image takes."""


def padded_form(image: Sequence[int], padding: Sequence[Sequence[int]]) -> PaddedForm:
    """Return the form of images of the shape ``image`` with ``padding``."""
    return PaddedForm(*image, *padding[0], *padding[1])


def padded_image(
    step: StepCode, form: PaddedForm, image: StackValue, target: StackValue, value: float = 0.0
) -> StackValue:
    """Write images with pixels of ``value`` around them to ``target``, if there are any; return
    where the images are then."""
    if not form.is_padded:
        return image
    steps = (form.height * form.row, form.padded_bytes // max(form.batch, 1))
    _copy(step, ("pad", value), form, lambda f: padding(step, f, value), (image, target), steps)
    return target


def write_cropped(step: StepCode, form: PaddedForm, image: StackValue, target: StackValue) -> None:
    """Write images without their padding to ``target``."""
    steps = (form.padded_bytes // max(form.batch, 1), form.height * form.row)
    _copy(step, "crop", form, lambda f: cropping(step, f), (image, target), steps)


def padding(step: StepCode, form: PaddedForm, value: float = 0.0) -> Procedure:
    """Return the procedure that copies images and puts pixels of ``value`` around them."""
    return step.shared(("pad", form, value), lambda module: write_pad(module, form, value))


def cropping(step: StepCode, form: PaddedForm) -> Procedure:
    """Return the procedure that copies images without their padding."""
    return step.shared(("crop", form), lambda module: write_crop(module, form))


def _copy(
    step: StepCode,
    key: Hashable,
    form: PaddedForm,
    procedure: Callable[[PaddedForm], Procedure],
    places: tuple[StackValue, StackValue],
    steps: tuple[int, int],
) -> None:
    """Have threads share the images, if that is worth it.

    Args:
        steps: the bytes of an image at each place.
    """
    chunks = step.chunks(_SECONDS * form.padded_bytes / 4, form.batch)
    if chunks == 1:
        step.f.call(procedure(form), *places)
        return
    images = RowChunks(form.batch, -(-form.batch // chunks), steps)
    parts = {n: procedure(replace(form, batch=n)) for n in (images.size, images.rest)}
    images.share(
        step, (key, form), places, lambda job, n, moved, first: job.f.call(parts[n], *moved)
    )
