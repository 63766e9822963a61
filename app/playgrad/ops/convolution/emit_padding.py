"""Padded images in compiled steps."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.wasm.padded_image import PaddedForm, write_crop, write_pad
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import StackValue


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
    pad = step.shared(("pad", form, value), lambda module: write_pad(module, form, value))
    step.f.call(pad, image, target)
    return target


def write_cropped(step: StepCode, form: PaddedForm, image: StackValue, target: StackValue) -> None:
    """Write images without their padding to ``target``."""
    step.f.call(step.shared(("crop", form), lambda m: write_crop(m, form)), image, target)
