"""Elements of any dtype in memory, as vectors of four 32-bit values, a bool as a mask.

Integers of 8 bits have their value in 32 bits, float16 are float32.
"""

from __future__ import annotations

from playgrad.wasm.encoding import V128
from playgrad.wasm.lanes import floats, lanes, shifted, words
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue, integer

SIZES = {
    "float32": 4, "int32": 4, "uint32": 4, "bool": 1, "uint8": 1, "int8": 1, "float16": 2,
}  # fmt: skip
"""Bytes of an element."""
_LARGEST_FINITE_HALF = 0x477FF000
"""The bits of 65520, from which on float32 are rounded to infinity."""


def loaded(f: Procedure, address: StackValue, name: str, whole: bool) -> StackValue:
    """Return four elements, or four copies of one."""
    match SIZES[name]:
        case 4:
            return address.load(V128) if whole else address.load_splat()
        case 2:
            vector = address.load_long() if whole else address.load_short_splat()
            return from_half(f, f.copy(lanes("i32 extend_low_u", vector)))
    if whole:
        sign = "s" if name == "int8" else "u"
        wide = lanes(f"i16 extend_low_{sign}", address.load_bytes())
        value = lanes(f"i32 extend_low_{sign}", wide)
    else:
        value = wrapped(address.load_byte_splat(), "uint8" if name == "bool" else name)
    return lanes("i32 ne", value, words(0)) if name == "bool" else value


def stored(f: Procedure, address: StackValue, value: Local, name: str, whole: bool) -> None:
    """Store four elements, or the first of them."""
    match SIZES[name]:
        case 4:
            if whole:
                f.store(address, value)
            else:
                f.store_lane(address, value)
        case 2:
            bits = f.copy(to_half(f, value))
            if whole:
                narrow = lanes("i16 narrow_u", bits, bits)
                f.store_lane(address, narrow, 8)
            else:
                f.store_lane(address, bits, 2)
        case _:
            bits = f.copy(lanes("and", value, words(1 if name == "bool" else 0xFF)))
            if whole:
                narrow = lanes("i16 narrow_u", bits, bits)
                f.store_lane(address, lanes("i8 narrow_u", narrow, narrow))
            else:
                f.store_lane(address, bits, 1)


def wrapped(value: StackValue, name: str) -> StackValue:
    """Return integers of 32 bits as those of a dtype, of which they keep the last bits."""
    if name == "int8":
        high = shifted("i32 shl", value, integer(24))
        return shifted("i32 shr_s", high, integer(24))
    return lanes("and", value, words(0xFF)) if name == "uint8" else value


def from_half(f: Procedure, bits: Local) -> StackValue:
    """Return float16, whose bits these are, as float32."""
    sign = shifted("i32 shl", lanes("and", bits, words(0x8000)), integer(16))
    size = f.copy(shifted("i32 shl", lanes("and", bits, words(0x7FFF)), integer(13)))
    # The exponents differ by 112; a product also normalizes the numbers below 2**-14.
    number = f.copy(lanes("mul", size, floats(2.0**112)))
    special = lanes("i32 ge_u", size, words(0x7C00 << 13))
    value = lanes("bitselect", lanes("or", size, words(0x7F800000)), number, special)
    return lanes("or", value, sign)


def to_half(f: Procedure, value: Local) -> StackValue:
    """Return the bits of the float16 nearest to float32, of two the even one."""
    sign = shifted("i32 shr_u", lanes("and", value, words(0x80000000)), integer(16))
    size = f.copy(lanes("and", value, words(0x7FFFFFFF)))
    last = lanes("and", shifted("i32 shr_u", size, integer(13)), words(1))
    rounded = lanes("i32 add", lanes("i32 add", size, words(0xFFF - 0x38000000)), last)
    bits = f.copy(shifted("i32 shr_u", rounded, integer(13)))
    # Below 2**-14, multiples of 2**-24.
    small = lanes("i32 from f32", lanes("nearest", lanes("mul", size, floats(2.0**24))))
    f.set(bits, lanes("bitselect", small, bits, lanes("i32 lt_u", size, words(0x38800000))))
    beyond = lanes("i32 ge_u", size, words(_LARGEST_FINITE_HALF))
    f.set(bits, lanes("bitselect", words(0x7C00), bits, beyond))
    is_nan = lanes("i32 gt_u", size, words(0x7F800000))
    f.set(bits, lanes("bitselect", words(0x7E00), bits, is_nan))
    return lanes("or", bits, sign)
