"""Instructions of WebAssembly on single numbers."""

from __future__ import annotations

import struct

from playgrad.wasm.encoding import F32, F64, I32, I64, signed, unsigned
from playgrad.wasm.values import StackValue, expect, integer

_INTEGER_COMPARISONS = (
    "eq", "ne", "lt_s", "lt_u", "gt_s", "gt_u", "le_s", "le_u", "ge_s", "ge_u",
)  # fmt: skip
_INTEGER = (
    "add", "sub", "mul", "div_s", "div_u", "rem_s", "rem_u", "and", "or", "xor", "shl", "shr_s",
    "shr_u", "rotl", "rotr",
)  # fmt: skip
_FLOAT_COMPARISONS = ("eq", "ne", "lt", "gt", "le", "ge")
_FLOAT_UNARY = ("abs", "neg", "ceil", "floor", "trunc", "nearest", "sqrt")
_FLOAT_BINARY = ("add", "sub", "mul", "div", "min", "max", "copysign")
_CONVERSIONS = {
    "i32.wrap_i64": (b"\xa7", I64, I32),
    "i64.extend_i32_s": (b"\xac", I32, I64),
    "i64.extend_i32_u": (b"\xad", I32, I64),
    "f32.convert_i32_s": (b"\xb2", I32, F32),
    "f32.convert_i32_u": (b"\xb3", I32, F32),
    "f32.convert_i64_s": (b"\xb4", I64, F32),
    "f32.demote_f64": (b"\xb6", F64, F32),
    "f64.convert_i32_s": (b"\xb7", I32, F64),
    "f64.convert_i32_u": (b"\xb8", I32, F64),
    "f64.promote_f32": (b"\xbb", F32, F64),
    "i32.reinterpret_f32": (b"\xbc", F32, I32),
    "f32.reinterpret_i32": (b"\xbe", I32, F32),
    "i64.reinterpret_f64": (b"\xbd", F64, I64),
    "f64.reinterpret_i64": (b"\xbf", I64, F64),
    "i32.extend8_s": (b"\xc0", I32, I32),
    "i32.trunc_sat_f32_s": (b"\xfc\x00", F32, I32),
    "i32.trunc_sat_f32_u": (b"\xfc\x01", F32, I32),
    "i32.trunc_sat_f64_s": (b"\xfc\x02", F64, I32),
    "i32.trunc_sat_f64_u": (b"\xfc\x03", F64, I32),
    "i64.trunc_sat_f32_s": (b"\xfc\x04", F32, I64),
    "i64.trunc_sat_f64_s": (b"\xfc\x06", F64, I64),
}
_EQUALS_ZERO = b"\x45"
_SELECT = b"\x1b"


def _instructions() -> dict[str, tuple[bytes, tuple[int, ...], int]]:
    table: dict[str, tuple[bytes, tuple[int, ...], int]] = {}

    def add(
        prefix: str, kind: int, first: int, names: tuple[str, ...], arity: int, to: int
    ) -> None:
        for number, name in enumerate(names):
            table[f"{prefix}.{name}"] = (bytes([first + number]), (kind,) * arity, to)

    for prefix, kind, comparisons, arithmetic in (
        ("i32", I32, 0x46, 0x6A),
        ("i64", I64, 0x51, 0x7C),
    ):
        add(prefix, kind, comparisons, _INTEGER_COMPARISONS, 2, I32)
        add(prefix, kind, arithmetic, _INTEGER, 2, kind)
    for prefix, kind, comparisons, arithmetic in (
        ("f32", F32, 0x5B, 0x8B),
        ("f64", F64, 0x61, 0x99),
    ):
        add(prefix, kind, comparisons, _FLOAT_COMPARISONS, 2, I32)
        add(prefix, kind, arithmetic, _FLOAT_UNARY, 1, kind)
        add(prefix, kind, arithmetic + len(_FLOAT_UNARY), _FLOAT_BINARY, 2, kind)
    for name, (opcode, source, to) in _CONVERSIONS.items():
        table[name] = (opcode, (source,), to)
    return table


_TABLE = _instructions()


def scalar(name: str, *arguments: StackValue | int) -> StackValue:
    """Return the result of an instruction, such as ``"f32.add"``; an int is an i32 constant."""
    opcode, kinds, result = _TABLE[name]
    values = [integer(a) if isinstance(a, int) else a for a in arguments]
    for value, kind in zip(values, kinds, strict=True):
        expect(value, kind)
    return StackValue(result, b"".join(value.code for value in values) + opcode)


def number(kind: int, value: float) -> StackValue:
    """Return a constant of a type; an i32 modulo 2**32."""
    if kind == I64:
        return StackValue(I64, b"\x42" + signed(int(value)))
    if kind == F32:
        return StackValue(F32, b"\x43" + struct.pack("<f", value))
    if kind == F64:
        return StackValue(F64, b"\x44" + struct.pack("<d", value))
    return integer((int(value) + (1 << 31)) % (1 << 32) - (1 << 31))


def is_zero(value: StackValue) -> StackValue:
    """Return 1 if an i32 is 0, else 0."""
    expect(value, I32)
    return StackValue(I32, value.code + _EQUALS_ZERO)


def choose(condition: StackValue, a: StackValue, b: StackValue) -> StackValue:
    """Return ``a`` if ``condition`` is not 0, else ``b``. Both are computed."""
    expect(condition, I32)
    expect(b, a.type)
    return StackValue(a.type, a.code + b.code + condition.code + _SELECT)


def copy_bytes(target: StackValue, source: StackValue, count: StackValue) -> bytes:
    """Return the instructions that copy bytes, whose places may overlap."""
    return target.code + source.code + count.code + b"\xfc\x0a\x00\x00"


def fill_bytes(target: StackValue, byte: StackValue, count: StackValue) -> bytes:
    """Return the instructions that set bytes."""
    return target.code + byte.code + count.code + b"\xfc\x0b" + unsigned(0)
