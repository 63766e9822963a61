"""Instructions of WebAssembly on four float32, four int32 or four masks."""

from __future__ import annotations

import struct

from playgrad.wasm.encoding import F32, I32, V128, unsigned
from playgrad.wasm.values import StackValue, expect

_CONSTANT = 0x0C
_SPLATS = {I32: 0x11, F32: 0x13}
_INSTRUCTIONS = {
    "i32 eq": 0x37, "eq": 0x41, "ne": 0x42, "lt": 0x43, "gt": 0x44, "le": 0x45, "ge": 0x46,
    "not": 0x4D, "and": 0x4E, "or": 0x50, "xor": 0x51, "bitselect": 0x52,
    "ceil": 0x67, "floor": 0x68, "trunc": 0x69, "nearest": 0x6A,
    "i32 add": 0xAE, "i32 sub": 0xB1,
    "abs": 0xE0, "neg": 0xE1, "sqrt": 0xE3,
    "add": 0xE4, "sub": 0xE5, "mul": 0xE6, "div": 0xE7, "min": 0xE8, "max": 0xE9,
    "i32 from f32": 0xF8, "f32 from i32": 0xFA,
}  # fmt: skip
_SHIFTS = {"i32 shl": 0xAB, "i32 shr_s": 0xAC, "i32 shr_u": 0xAD}


def lanes(name: str, *arguments: StackValue) -> StackValue:
    """Return the result of an instruction on vectors; a mask has all bits set where it holds."""
    for argument in arguments:
        expect(argument, V128)
    code = b"".join(argument.code for argument in arguments)
    return StackValue(V128, code + _simd(_INSTRUCTIONS[name]))


def shifted(name: str, vector: StackValue, bits: StackValue) -> StackValue:
    """Return four integers, shifted by a number of bits."""
    expect(vector, V128)
    expect(bits, I32)
    return StackValue(V128, vector.code + bits.code + _simd(_SHIFTS[name]))


def splat(value: StackValue) -> StackValue:
    """Return four copies of a number."""
    return StackValue(V128, value.code + _simd(_SPLATS[value.type]))


def floats(value: float) -> StackValue:
    """Return four copies of a float32 constant."""
    return StackValue(V128, _simd(_CONSTANT) + 4 * struct.pack("<f", value))


def words(value: int) -> StackValue:
    """Return four copies of the 32 bits of an integer."""
    return StackValue(V128, _simd(_CONSTANT) + 4 * struct.pack("<I", value & 0xFFFFFFFF))


def _simd(opcode: int) -> bytes:
    return b"\xfd" + unsigned(opcode)
