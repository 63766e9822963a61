"""Images with pixels around them, and images without these pixels, of 32-bit elements."""

from __future__ import annotations

from dataclasses import dataclass

from playgrad.wasm.encoding import I32
from playgrad.wasm.lanes import floats
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.values import integer, number


@dataclass(frozen=True)
class PaddedForm:
    """The sizes of a batch of images (height, width, channels), and their padding in pixels."""

    batch: int
    height: int
    width: int
    channels: int
    top: int
    bottom: int
    left: int
    right: int

    @property
    def is_padded(self) -> bool:
        """Whether there is any padding."""
        return self.top + self.bottom + self.left + self.right > 0

    @property
    def row(self) -> int:
        """The bytes of a row without padding."""
        return 4 * self.width * self.channels

    @property
    def padded_row(self) -> int:
        """The bytes of a row with padding."""
        return 4 * (self.left + self.width + self.right) * self.channels

    @property
    def padded_bytes(self) -> int:
        """The bytes of all images with padding."""
        return self.batch * (self.top + self.height + self.bottom) * self.padded_row


def write_pad(module: Module, form: PaddedForm, value: float) -> Procedure:
    """Add a procedure that copies images from one address to another one, and pads them."""
    f = module.procedure([I32] * 2)
    _, target = f.arguments
    if value:
        place, count = f.copy(target), form.padded_bytes // 4
        with f.count(integer(count // 4)):
            f.store(place, floats(value))
            f.add(place, 16)
        with f.count(integer(count % 4)):
            f.store(place, number(value))
            f.add(place, 4)
    else:
        f.fill_bytes(target, 0, form.padded_bytes)
    _copy_rows(f, form, pads=True)
    return f


def write_crop(module: Module, form: PaddedForm) -> Procedure:
    """Add a procedure that copies padded images from one address to another one, without their
    padding."""
    f = module.procedure([I32] * 2)
    _copy_rows(f, form, pads=False)
    return f


def _copy_rows(f: Procedure, form: PaddedForm, pads: bool) -> None:
    source, target = f.arguments
    padded, plain = (target, source) if pads else (source, target)
    f.add(padded, form.top * form.padded_row + 4 * form.left * form.channels)
    with f.count(integer(form.batch)):
        with f.count(integer(form.height)):
            f.copy_bytes(target, source, form.row)
            f.add(padded, form.padded_row)
            f.add(plain, form.row)
        f.add(padded, (form.top + form.bottom) * form.padded_row)
