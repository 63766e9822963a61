"""The pixels under windows, copied to panels or added up from them, some windows at a time.

A panel is a matrix with a row for each window. It is a factor of a product, so it should stay in a
cache until it was multiplied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playgrad.wasm.encoding import F32, I32, V128
from playgrad.wasm.lanes import lanes
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.values import StackValue, integer

PANEL = 1 << 18
"""About the bytes of a panel: as many as fit in a core's cache beside the other factor."""
_UNROLLED = 128
"""The most elements that are copied without a loop."""


@dataclass(frozen=True)
class PanelForm:
    """Windows over a batch of float32 images, all sizes in bytes but for numbers.

    Attributes:
        batch, height, width: the numbers of images, and of windows of each, down and across.
        image, down, right: from one image, row of windows and window to the next.
        segments: the places of elements that lie side by side, from the begin of a window.
        length: the number of elements in each.
    """

    batch: int
    height: int
    width: int
    image: int
    down: int
    right: int
    segments: tuple[int, ...]
    length: int

    @property
    def terms(self) -> int:
        """The number of elements of a window."""
        return len(self.segments) * self.length

    @property
    def overlap(self) -> int:
        """The number of windows of a row whose segments have whole vectors in common; 1 if none do,
        or only for parts of what is between two of them."""
        count = 4 * self.length // self.right
        whole = count * self.right == 4 * self.length and self.right % 16 == 0
        return count if whole and count <= self.width else 1

    @property
    def step(self) -> tuple[int, int]:
        """The images, and the rows of windows in each, of a panel. One of them is 1, or all."""
        rows = max(1, PANEL // max(1, 4 * self.width * self.terms))
        if rows >= self.height:
            return min(self.batch, max(1, rows // max(1, self.height))), self.height
        return 1, -(-self.height // -(-self.height // rows))

    @property
    def bytes(self) -> int:
        """Those of the largest panel."""
        images, rows = self.step
        return 4 * images * rows * self.width * self.terms


def write_pack(module: Module, form: PanelForm) -> Procedure:
    """Add a procedure that copies pixels: of a panel, the begin of its first window, the number of
    images, and that of rows in each."""

    def copy(
        f: Procedure, panel: StackValue, pixel: StackValue, offset: int, kind: int, place: int
    ) -> None:
        f.store(panel, pixel.load(kind, place), offset)

    return _windows(module, form, copy)


def write_add(module: Module, form: PanelForm) -> Procedure:
    """Add a procedure with the parameters of `write_pack` that adds a panel to the pixels."""
    if form.overlap > 1:
        return _write_sums(module, form)

    def add(
        f: Procedure, panel: StackValue, pixel: StackValue, offset: int, kind: int, place: int
    ) -> None:
        part, total = panel.load(kind, offset), pixel.load(kind, place)
        f.store(pixel, lanes("add", total, part) if kind == V128 else total + part, place)

    return _windows(module, form, add)


def _write_sums(module: Module, form: PanelForm) -> Procedure:
    """Add the procedure of `write_add` for windows that overlap: what several of a row add to a
    pixel is added up before it is stored, in the order of the windows."""
    f = module.procedure([I32] * 4)
    panel, pixel, images, rows = f.arguments
    row, most, chunk = 4 * form.terms, form.overlap, form.right

    def add(window: StackValue, target: StackValue, begin: int, first: int, count: int) -> None:
        """Add chunks of ``count`` windows to one of the image. Of the first window, it is the chunk
        number ``first``, and of each following one the chunk before."""
        offsets = [begin + (first - i) * chunk + i * row for i in range(count)]

        def part(place: StackValue, source: StackValue, within: int) -> None:
            total = place.load(V128, within)
            for offset in offsets:
                total = lanes("add", total, source.load(V128, offset + within))
            f.store(place, total, within)

        if chunk * count <= 4 * _UNROLLED:
            for within in range(0, chunk, 16):
                part(target, window, within)
            return
        with f.count(integer(chunk), 16) as moved:
            part(f.copy(target + moved), f.copy(window + moved), 0)

    window, target = f.local(I32), f.local(I32)
    with f.count(images):
        with f.count(rows):
            for number, place in enumerate(form.segments):
                begin = 4 * number * form.length
                f.set(window, panel)
                f.set(target, pixel + place)
                for first in range(most - 1):
                    add(window, target, begin, first, first + 1)
                    f.add(target, chunk)
                with f.count(integer(form.width - most + 1)):
                    add(window, target, begin, most - 1, most)
                    f.add(target, chunk)
                    f.add(window, row)
                for missing in range(1, most):
                    add(window, target, begin, most - 1, most - missing)
                    f.add(target, chunk)
                    f.add(window, row)
            f.add(panel, form.width * row)
            f.add(pixel, form.down)
        f.add(pixel, integer(form.image) - rows * form.down)
    return f


def _windows(
    module: Module,
    form: PanelForm,
    visit: Callable[[Procedure, StackValue, StackValue, int, int, int], None],
) -> Procedure:
    """Add a procedure that visits vectors and elements: the row of the panel, the window, the
    offset in the row, the type, and the offset in the window."""
    f = module.procedure([I32] * 4)
    panel, pixel, images, rows = f.arguments

    def segment(begin: int, place: int) -> None:
        done = form.length // 32 * 32 if form.length > _UNROLLED else 0
        if done:
            with f.count(integer(4 * done), 4 * 32) as offset:
                row, window = f.copy(panel + offset), f.copy(pixel + offset)
                for part in range(0, 4 * 32, 16):
                    visit(f, row, window, begin + part, V128, place + part)
        while form.length - done >= 4:
            visit(f, panel, pixel, begin + 4 * done, V128, place + 4 * done)
            done += 4
        for part in range(4 * done, 4 * form.length, 4):
            visit(f, panel, pixel, begin + part, F32, place + part)

    with f.count(images):
        with f.count(rows):
            with f.count(integer(form.width)):
                for number, place in enumerate(form.segments):
                    segment(4 * number * form.length, place)
                f.add(panel, 4 * form.terms)
                f.add(pixel, form.right)
            f.add(pixel, form.down - form.width * form.right)
        f.add(pixel, integer(form.image) - rows * form.down)
    return f
