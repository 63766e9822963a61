"""Typed values in WebAssembly code."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache

from playgrad.wasm.encoding import F32, I32, TYPE_NAMES, V128, signed, unsigned


def _simd(opcode: int) -> bytes:
    return b"\xfd" + unsigned(opcode)


_BINARY = {
    (I32, "+"): b"\x6a",
    (I32, "-"): b"\x6b",
    (I32, "*"): b"\x6c",
    (I32, "=="): b"\x46",
    (I32, "<"): b"\x48",
    (I32, ">="): b"\x4e",
    (I32, "&"): b"\x71",
    (F32, "+"): b"\x92",
    (F32, "-"): b"\x93",
    (F32, "*"): b"\x94",
    (V128, "+"): _simd(0xE4),
    (V128, "*"): _simd(0xE6),
}
_ALIGNED_TO_4 = b"\x02"
_LOADS = {I32: b"\x28", F32: b"\x2a", V128: _simd(0x00)}
_LOAD_SPLAT = _simd(0x09)
_RELAXED_MADD = _simd(0x105)
_SELECT = b"\x1b"


@dataclass(slots=True, unsafe_hash=True)  # made by the thousand: `frozen` would take twice as long
class StackValue:
    """Code that leaves one value of ``type`` on the stack. Each use of it repeats the code.

    It does not change.
    """

    type: int
    code: bytes

    def __add__(self, other: StackValue | int) -> StackValue:
        return self._with("+", other)

    def __sub__(self, other: StackValue | int) -> StackValue:
        return self._with("-", other)

    def __mul__(self, other: StackValue | int) -> StackValue:
        return self._with("*", other)

    def __lt__(self, other: StackValue | int) -> StackValue:
        return self._with("<", other)

    def __and__(self, other: StackValue | int) -> StackValue:
        return self._with("&", other)

    def __ge__(self, other: StackValue | int) -> StackValue:
        return self._with(">=", other)

    def equals(self, other: StackValue | int) -> StackValue:
        """Return 1 if both integers are equal, else 0."""
        return self._with("==", other)

    def _with(self, operator: str, other: StackValue | int) -> StackValue:
        right = integer(other) if isinstance(other, int) else other
        expect(right, self.type)
        return StackValue(self.type, self.code + right.code + _BINARY[self.type, operator])

    def load(self, kind: int, offset: int = 0) -> StackValue:
        """Return the value of type ``kind`` at this address + ``offset`` bytes."""
        return self._loaded(kind, _LOADS[kind], offset)

    def load_splat(self, offset: int = 0) -> StackValue:
        """Return four copies of the float32 at this address + ``offset`` bytes."""
        return self._loaded(V128, _LOAD_SPLAT, offset)

    def load_bytes(self, offset: int = 0) -> StackValue:
        """Return a vector that begins with the four bytes at this address + ``offset`` bytes; its
        other bytes are 0."""
        return self._loaded(V128, _simd(0x5C), offset, b"\x00")

    def load_long(self, offset: int = 0) -> StackValue:
        """Return a vector that begins with the eight bytes at this address + ``offset`` bytes; its
        other bytes are 0."""
        return self._loaded(V128, _simd(0x5D), offset, b"\x00")

    def load_short_splat(self, offset: int = 0) -> StackValue:
        """Return eight copies of the two bytes at this address + ``offset`` bytes."""
        return self._loaded(V128, _simd(0x08), offset, b"\x00")

    def load_byte_splat(self, offset: int = 0) -> StackValue:
        """Return sixteen copies of the byte at this address + ``offset`` bytes."""
        return self._loaded(V128, _simd(0x07), offset, b"\x00")

    def _loaded(
        self, kind: int, instruction: bytes, offset: int, alignment: bytes = _ALIGNED_TO_4
    ) -> StackValue:
        expect(self, I32)
        return StackValue(kind, self.code + instruction + alignment + unsigned(offset))


def expect(value: StackValue, kind: int) -> None:
    """Raise TypeError unless ``value`` is of type ``kind``."""
    if value.type != kind:
        raise TypeError(f"expected {TYPE_NAMES[kind]}, got {TYPE_NAMES[value.type]}")


@lru_cache(maxsize=4096)
def integer(number: int) -> StackValue:
    """Return a constant."""
    return StackValue(I32, b"\x41" + signed(number))


def number(value: float) -> StackValue:
    """Return a float32 constant."""
    return StackValue(F32, b"\x43" + struct.pack("<f", value))


def zeros() -> StackValue:
    """Return four zeros."""
    return StackValue(V128, _simd(0x0C) + bytes(16))


def smaller(a: StackValue, b: StackValue | int) -> StackValue:
    """Return the smaller one of two integers, as signed numbers."""
    other = integer(b) if isinstance(b, int) else b
    return StackValue(I32, a.code + other.code + (a < other).code + _SELECT)


def larger(a: StackValue, b: StackValue | int) -> StackValue:
    """Return the larger one of two integers, as signed numbers."""
    other = integer(b) if isinstance(b, int) else b
    return StackValue(I32, other.code + a.code + (a < other).code + _SELECT)


def multiply_add(a: StackValue, b: StackValue, c: StackValue, relaxed: bool) -> StackValue:
    """Return a * b + c of four float32 each.

    Args:
        relaxed: let the processor choose whether it rounds the product: an instruction of Relaxed
            SIMD, which most processors execute as one fused operation.
    """
    if not relaxed:
        return a * b + c
    for value in (a, b, c):
        expect(value, V128)
    return StackValue(V128, a.code + b.code + c.code + _RELAXED_MADD)
