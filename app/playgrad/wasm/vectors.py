"""Vectors of four 32-bit elements along a row of any length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playgrad.wasm.encoding import F32, I32, V128, unsigned
from playgrad.wasm.lanes import floats
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.values import StackValue, expect, integer

WIDTH = 4
_LOAD_LANE, _STORE_LANE = 0x56, 0x5A
_EXTRACT = {I32: 0x1B, F32: 0x1F}


@dataclass(frozen=True)
class VectorPlace:
    """Some elements of a row: those from ``offset`` bytes on, four of them, or the last ones."""

    offset: StackValue
    count: int

    def load(self, row: StackValue, fill: float = 0.0, before: int = 0) -> StackValue:
        """Return the elements of the row at address ``row`` + ``before`` bytes; other lanes are
        ``fill``."""
        place = self._place(row)
        if self.count == WIDTH:
            return place.load(V128, before)
        vector = floats(fill)
        for lane in range(self.count):
            code = place.code + vector.code + _lane(_LOAD_LANE, lane, before)
            vector = StackValue(V128, code)
        return vector

    def store(self, f: Procedure, row: StackValue, vector: StackValue, before: int = 0) -> None:
        """Store the elements of the row at address ``row`` + ``before`` bytes."""
        place = self._place(row)
        if self.count == WIDTH:
            f.store(place, vector, before)
            return
        value = f.copy(vector)
        for lane in range(self.count):
            f.emit(place.code + value.code + _lane(_STORE_LANE, lane, before))

    def _place(self, row: StackValue) -> StackValue:
        return row if self.offset == integer(0) else row + self.offset


def _lane(opcode: int, lane: int, before: int) -> bytes:
    return b"\xfd" + unsigned(opcode) + b"\x02" + unsigned(before + 4 * lane) + bytes([lane])


def across(f: Procedure, length: int, body: Callable[[VectorPlace], None]) -> None:
    """Write ``body`` for whole vectors of a row of ``length`` elements, in a loop, and the rest."""
    whole, rest = length - length % WIDTH, length % WIDTH
    if whole:
        with f.count(integer(4 * whole), 4 * WIDTH) as offset:
            body(VectorPlace(offset, WIDTH))
    if rest:
        body(VectorPlace(integer(4 * whole), rest))


def extract(vector: StackValue, lane: int, kind: int = F32) -> StackValue:
    """Return one lane as a number."""
    expect(vector, V128)
    return StackValue(kind, vector.code + b"\xfd" + bytes([_EXTRACT[kind], lane]))
