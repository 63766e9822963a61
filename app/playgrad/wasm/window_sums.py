"""Sums of float32 windows at places that overlap, such as the gradient of a convolution's image."""

from __future__ import annotations

from playgrad.wasm.encoding import F32, I32, V128
from playgrad.wasm.lanes import lanes
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Procedure


def window_sums_module() -> bytes:
    """Return a module with ``run(windows, length, parts, places, target)``.

    It adds the row number i of ``parts``, of ``length`` elements, to those at ``target`` +
    ``places[i]`` bytes, for each of so many windows; ``places`` is int32.
    """
    module = Module()
    write_window_sums(module, "run")
    return module.encode()


def write_window_sums(module: Module, export: str | None = None) -> Procedure:
    """Add the function of `window_sums_module`."""
    f = module.procedure([I32] * 5, export)
    windows, length, parts, places, target = f.arguments
    whole = f.copy(length & -4)
    with f.count(windows):
        place = f.copy(target + places.load(I32))
        with f.count(whole, 4):
            f.store(place, lanes("add", place.load(V128), parts.load(V128)))
            f.add(place, 16)
            f.add(parts, 16)
        with f.count(length - whole):
            f.store(place, place.load(F32) + parts.load(F32))
            f.add(place, 4)
            f.add(parts, 4)
        f.add(places, 4)
    return f
