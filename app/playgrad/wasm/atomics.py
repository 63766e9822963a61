"""Atomic instructions of WebAssembly on words of 32 bits, all sequentially consistent.

On memory that is not shared they work, too, but nothing can wait there.
"""

from __future__ import annotations

from playgrad.wasm.encoding import I32, I64, unsigned
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.scalars import number
from playgrad.wasm.values import StackValue, expect, integer

_NOTIFY, _WAIT, _LOAD, _STORE, _ADD, _EXCHANGE_IF = 0x00, 0x01, 0x10, 0x17, 0x1E, 0x48
_EVERYBODY = -1
_DROP = b"\x1a"


def _instruction(opcode: int, offset: int) -> bytes:
    return b"\xfe" + unsigned(opcode) + b"\x02" + unsigned(offset)


def _value(word: StackValue | int) -> StackValue:
    value = integer(word) if isinstance(word, int) else word
    expect(value, I32)
    return value


def atomic_load(address: StackValue, offset: int) -> StackValue:
    """Return the word at ``address`` + ``offset`` bytes."""
    return StackValue(I32, address.code + _instruction(_LOAD, offset))


def atomic_store(f: Procedure, address: StackValue, value: StackValue | int, offset: int) -> None:
    """Store a word at ``address`` + ``offset`` bytes."""
    f.emit(address.code + _value(value).code + _instruction(_STORE, offset))


def atomic_add(address: StackValue, value: StackValue | int, offset: int) -> StackValue:
    """Add to the word at ``address`` + ``offset`` bytes; return what it was."""
    return StackValue(I32, address.code + _value(value).code + _instruction(_ADD, offset))


def exchange_if(
    address: StackValue, expected: StackValue, value: StackValue, offset: int
) -> StackValue:
    """Replace the word at ``address`` + ``offset`` bytes if it is ``expected``; return what it
    was."""
    code = address.code + _value(expected).code + _value(value).code
    return StackValue(I32, code + _instruction(_EXCHANGE_IF, offset))


def wait(
    f: Procedure, address: StackValue, expected: StackValue, offset: int, seconds: int | None
) -> None:
    """Sleep until `notify`, or for so many seconds, unless the word is not ``expected``."""
    limit = number(I64, -1 if seconds is None else seconds * 1_000_000_000)
    code = address.code + _value(expected).code + limit.code
    f.emit(code + _instruction(_WAIT, offset) + _DROP)


def notify(f: Procedure, address: StackValue, offset: int) -> None:
    """Wake all that `wait` for the word."""
    f.emit(address.code + integer(_EVERYBODY).code + _instruction(_NOTIFY, offset) + _DROP)
