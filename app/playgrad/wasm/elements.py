"""Elements of arrays in memory: how each dtype is loaded, computed with and stored."""

from __future__ import annotations

from dataclasses import dataclass

from playgrad.wasm.encoding import F32, F64, I32, unsigned
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.values import StackValue, expect


@dataclass(frozen=True)
class Element:
    """A dtype.

    Attributes:
        kind: the type in which it is computed.
        size: its bytes.
        prefix: the names of its instructions begin with it.
        sign: the suffix of those that depend on it.
        load, store: opcode and alignment.
    """

    kind: int
    size: int
    prefix: str
    sign: str
    load: bytes
    store: bytes


ELEMENTS = {
    "float32": Element(F32, 4, "f32", "", b"\x2a\x02", b"\x38\x02"),
    "float64": Element(F64, 8, "f64", "", b"\x2b\x03", b"\x39\x03"),
    "int32": Element(I32, 4, "i32", "_s", b"\x28\x02", b"\x36\x02"),
    "uint32": Element(I32, 4, "i32", "_u", b"\x28\x02", b"\x36\x02"),
    "int8": Element(I32, 1, "i32", "_s", b"\x2c\x00", b"\x3a\x00"),
    "uint8": Element(I32, 1, "i32", "_u", b"\x2d\x00", b"\x3a\x00"),
    "bool": Element(I32, 1, "i32", "_u", b"\x2d\x00", b"\x3a\x00"),
}
"""By name of the dtype."""
BITS = {
    1: ELEMENTS["uint8"],
    2: Element(I32, 2, "i32", "_u", b"\x2f\x01", b"\x3b\x01"),
    4: ELEMENTS["uint32"],
    8: ELEMENTS["float64"],
}
"""To move elements of so many bytes, whatever they mean."""


def load(element: Element, address: StackValue, offset: int = 0) -> StackValue:
    """Return the element at ``address`` + ``offset`` bytes."""
    expect(address, I32)
    return StackValue(element.kind, address.code + element.load + unsigned(offset))


def store(
    f: Procedure, element: Element, address: StackValue, value: StackValue, offset: int = 0
) -> None:
    """Store ``value`` at ``address`` + ``offset`` bytes."""
    expect(address, I32)
    expect(value, element.kind)
    f.emit(address.code + value.code + element.store + unsigned(offset))
