"""Instructions of WebAssembly on four float32, four int32 or four masks."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from playgrad.wasm.encoding import F32, I32, V128, unsigned
from playgrad.wasm.procedure import Local
from playgrad.wasm.values import StackValue, expect

_CONSTANT = 0x0C
_SPLATS = {I32: 0x11, F32: 0x13}
_INSTRUCTIONS = {
    "i32 eq": 0x37, "i32 ne": 0x38, "i32 lt_s": 0x39, "i32 lt_u": 0x3A, "i32 gt_s": 0x3B,
    "i32 gt_u": 0x3C, "i32 le_s": 0x3D, "i32 le_u": 0x3E, "i32 ge_s": 0x3F, "i32 ge_u": 0x40,
    "eq": 0x41, "ne": 0x42, "lt": 0x43, "gt": 0x44, "le": 0x45, "ge": 0x46,
    "not": 0x4D, "and": 0x4E, "or": 0x50, "xor": 0x51, "bitselect": 0x52,
    "i8 narrow_s": 0x65, "i8 narrow_u": 0x66,
    "ceil": 0x67, "floor": 0x68, "trunc": 0x69, "nearest": 0x6A,
    "i16 narrow_s": 0x85, "i16 narrow_u": 0x86, "i16 extend_low_s": 0x87, "i16 extend_low_u": 0x89,
    "i32 abs": 0xA0, "i32 neg": 0xA1, "i32 extend_low_s": 0xA7, "i32 extend_low_u": 0xA9,
    "i32 add": 0xAE, "i32 sub": 0xB1, "i32 mul": 0xB5, "i32 min_s": 0xB6, "i32 min_u": 0xB7,
    "i32 max_s": 0xB8, "i32 max_u": 0xB9,
    "abs": 0xE0, "neg": 0xE1, "sqrt": 0xE3,
    "add": 0xE4, "sub": 0xE5, "mul": 0xE6, "div": 0xE7, "min": 0xE8, "max": 0xE9,
    "pmin": 0xEA, "pmax": 0xEB,
    "f64 from low i32": 0xFE, "f64 from low u32": 0xFF, "i32 from f64": 0xFC, "u32 from f64": 0xFD,
    "i64 add": 0xCE, "i64 sub": 0xD1,
    "f64 from low f32": 0x5F, "f32 from f64": 0x5E, "f64 nearest": 0x94, "f64 abs": 0xEC,
    "f64 neg": 0xED, "f64 sqrt": 0xEF, "f64 add": 0xF0, "f64 sub": 0xF1, "f64 mul": 0xF2,
    "f64 div": 0xF3, "f64 min": 0xF4, "f64 max": 0xF5, "f64 eq": 0x47, "f64 ne": 0x48,
    "f64 lt": 0x49, "f64 gt": 0x4A, "f64 le": 0x4B, "f64 ge": 0x4C, "f64 floor": 0x75,
    "i32 from f32": 0xF8, "u32 from f32": 0xF9, "f32 from i32": 0xFA, "f32 from u32": 0xFB,
}  # fmt: skip
_SHIFTS = {
    "i32 shl": 0xAB, "i32 shr_s": 0xAC, "i32 shr_u": 0xAD, "i64 shl": 0xCB, "i64 shr_u": 0xCD,
}  # fmt: skip


def lanes(name: str, *arguments: StackValue) -> StackValue:
    """Return the result of an instruction on vectors; a mask has all bits set where it holds."""
    for argument in arguments:
        expect(argument, V128)
    code = b"".join([argument.code for argument in arguments])
    return StackValue(V128, code + _ENCODED[name])


def any_true(mask: StackValue) -> StackValue:
    """Return 1 if a bit of ``mask`` is set, else 0."""
    expect(mask, V128)
    return StackValue(I32, mask.code + _simd(0x53))


def shifted(name: str, vector: StackValue, bits: StackValue) -> StackValue:
    """Return four integers, shifted by a number of bits."""
    expect(vector, V128)
    expect(bits, I32)
    return StackValue(V128, vector.code + bits.code + _simd(_SHIFTS[name]))


def lane(vector: StackValue, number: int) -> StackValue:
    """Return a float32 of the four of ``vector``."""
    expect(vector, V128)
    return StackValue(F32, vector.code + _simd(0x1F) + bytes([number]))


def replaced(vector: StackValue, number: int, value: StackValue) -> StackValue:
    """Return ``vector`` with another number, an i32 or float32, in one lane."""
    expect(vector, V128)
    opcode = {I32: 0x1C, F32: 0x20}[value.type]
    return StackValue(V128, vector.code + value.code + _simd(opcode) + bytes([number]))


def shuffled(a: StackValue, b: StackValue, order: Sequence[int]) -> StackValue:
    """Return four words of the eight of ``a`` and ``b``, by their numbers."""
    expect(a, V128)
    expect(b, V128)
    places = bytes(4 * number + byte for number in order for byte in range(4))
    return StackValue(V128, a.code + b.code + _simd(0x0D) + places)


def horizontal_sum(vector: Local) -> StackValue:
    """Return the sum of the four float32 of ``vector``: of the first two, plus of the others."""
    return (lane(vector, 0) + lane(vector, 1)) + (lane(vector, 2) + lane(vector, 3))


def splat(value: StackValue) -> StackValue:
    """Return four copies of a number."""
    return StackValue(V128, value.code + _simd(_SPLATS[value.type]))


def floats(value: float) -> StackValue:
    """Return four copies of a float32 constant."""
    return StackValue(V128, _simd(_CONSTANT) + 4 * struct.pack("<f", value))


def doubles(value: float) -> StackValue:
    """Return two copies of a float64 constant."""
    return StackValue(V128, _simd(_CONSTANT) + 2 * struct.pack("<d", value))


def long_words(value: int) -> StackValue:
    """Return two copies of the 64 bits of an integer of at least 0."""
    return StackValue(V128, _simd(_CONSTANT) + 2 * struct.pack("<Q", value))


def numbers() -> StackValue:
    """Return the integers 0, 1, 2, 3."""
    return StackValue(V128, _simd(_CONSTANT) + struct.pack("<4I", 0, 1, 2, 3))


def words(value: int) -> StackValue:
    """Return four copies of the 32 bits of an integer."""
    return StackValue(V128, _simd(_CONSTANT) + 4 * struct.pack("<I", value & 0xFFFFFFFF))


def _simd(opcode: int) -> bytes:
    return b"\xfd" + unsigned(opcode)


_ENCODED = {name: _simd(opcode) for name, opcode in _INSTRUCTIONS.items()}
