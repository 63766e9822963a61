"""Numbers and types as WebAssembly encodes them."""

from __future__ import annotations

from collections.abc import Sequence

I32, I64, F32, F64, V128 = 0x7F, 0x7E, 0x7D, 0x7C, 0x7B
"""Types: integers, of which those of 32 bits are also addresses; floats; 16 bytes in lanes."""
TYPE_NAMES = {I32: "i32", I64: "i64", F32: "f32", F64: "f64", V128: "v128"}


_SINGLE = [bytes([number]) for number in range(0x80)]


def unsigned(number: int) -> bytes:
    """Return ``number`` ≥ 0 in LEB128."""
    if number < 0x80:
        return _SINGLE[number]
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


def signed(number: int) -> bytes:
    """Return ``number`` in signed LEB128."""
    encoded = bytearray()
    while not -0x40 <= number < 0x40:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number & 0x7F])


def vector(items: Sequence[bytes]) -> bytes:
    """Return encoded ``items`` after their number."""
    return unsigned(len(items)) + b"".join(items)


def sized(content: bytes) -> bytes:
    """Return ``content`` after its number of bytes."""
    return unsigned(len(content)) + content
