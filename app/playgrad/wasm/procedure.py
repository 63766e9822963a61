"""Functions of a WebAssembly module, statement by statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from playgrad.wasm.encoding import F32, I32, V128, sized, unsigned, vector
from playgrad.wasm.values import StackValue, expect, integer

_BLOCK, _LOOP, _IF, _ELSE, _END = b"\x02", b"\x03", b"\x04", b"\x05", b"\x0b"
_BRANCH, _BRANCH_IF, _CALL, _SET = b"\x0c", b"\x0d", b"\x10", b"\x21"
_RETURN, _UNREACHABLE = b"\x0f", b"\x00"
_COPY_BYTES, _FILL_BYTES = b"\xfc\x0a\x00\x00", b"\xfc\x0b\x00"
_NO_RESULT = b"\x40"
_NOT = b"\x45"
_STORE_LANES = {
    1: b"\xfd\x58\x00", 2: b"\xfd\x59\x01", 4: b"\xfd\x5a\x02", 8: b"\xfd\x5b\x03",
}  # fmt: skip
_STORES = {I32: b"\x36\x02", F32: b"\x38\x02", V128: b"\xfd\x0b\x02"}


@dataclass(slots=True, unsafe_hash=True)
class Local(StackValue):
    """A variable of a function. As a value it is its content."""

    number: int


class Procedure:
    """A function.

    Args:
        number: its number in the module.
        parameters: their types.
        result: the type of its result; None for a function without one.
        relaxed: whether the host has Relaxed SIMD.
    """

    def __init__(
        self,
        number: int,
        parameters: Sequence[int],
        result: int | None = None,
        relaxed: bool = False,
    ) -> None:
        self.number = number
        self.relaxed = relaxed
        self.parameters = tuple(parameters)
        self.result = result
        self.arguments = tuple(map(self._local, range(len(parameters)), parameters))
        self._types: list[int] = []
        self._code: list[bytes] = []

    def local(self, kind: int) -> Local:
        """Return a new variable, which is 0."""
        self._types.append(kind)
        return self._local(len(self.parameters) + len(self._types) - 1, kind)

    def copy(self, value: StackValue) -> Local:
        """Return a new variable with ``value``."""
        variable = self.local(value.type)
        self.set(variable, value)
        return variable

    def set(self, variable: Local, value: StackValue) -> None:
        expect(value, variable.type)
        self._code.append(value.code + _SET + unsigned(variable.number))

    def add(self, variable: Local, value: StackValue | int) -> None:
        """Add ``value`` to ``variable``."""
        self.set(variable, variable + value)

    def store(self, address: StackValue, value: StackValue, offset: int = 0) -> None:
        """Store ``value`` at ``address`` + ``offset`` bytes."""
        expect(address, I32)
        self._code.append(address.code + value.code + _STORES[value.type] + unsigned(offset))

    def emit(self, code: bytes) -> None:
        """Append instructions that leave nothing on the stack."""
        self._code.append(code)

    def give(self, value: StackValue) -> None:
        """End the function with its result."""
        assert self.result is not None
        expect(value, self.result)
        self._code.append(value.code)

    def store_lane(self, address: StackValue, vector: StackValue, size: int = 4) -> None:
        """Store the first ``size`` bytes, 1, 2, 4 or 8, of ``vector`` at ``address``."""
        expect(address, I32)
        expect(vector, V128)
        self._code.append(address.code + vector.code + _STORE_LANES[size] + b"\x00\x00")

    def call(self, function: Procedure, *arguments: StackValue) -> None:
        assert function.result is None
        self._code.append(_call(function, arguments))

    def result_of(self, function: Procedure, *arguments: StackValue) -> Local:
        """Return a new variable with the result of a call."""
        assert function.result is not None
        return self.copy(StackValue(function.result, _call(function, arguments)))

    def leave(self) -> None:
        """Return from the function."""
        self._code.append(_RETURN)

    def trap(self) -> None:
        """End all code that runs here with an error."""
        self._code.append(_UNREACHABLE)

    def copy_bytes(self, target: StackValue, source: StackValue, size: StackValue | int) -> None:
        """Copy ``size`` bytes, which may overlap, from one address to another."""
        self._bulk(_COPY_BYTES, target, source, size)

    def fill_bytes(
        self, target: StackValue, value: StackValue | int, size: StackValue | int
    ) -> None:
        """Set ``size`` bytes to the lowest byte of ``value``."""
        self._bulk(_FILL_BYTES, target, value, size)

    def _bulk(self, instruction: bytes, *arguments: StackValue | int) -> None:
        values = [integer(each) if isinstance(each, int) else each for each in arguments]
        for value in values:
            expect(value, I32)
        self._code.append(b"".join(value.code for value in values) + instruction)

    @contextmanager
    def count(self, stop: StackValue, step: int = 1) -> Iterator[Local]:
        """Repeat a block with a variable that is 0, ``step``, 2 ``step``, ... below ``stop``."""
        variable = self.copy(integer(0))
        self._code.append(_BLOCK + _NO_RESULT + _LOOP + _NO_RESULT)
        self._code.append((variable < stop).code + _NOT + _BRANCH_IF + unsigned(1))
        yield variable
        self.add(variable, step)
        self._code.append(_BRANCH + unsigned(0) + _END + _END)

    @contextmanager
    def repeat_while(self, condition: StackValue) -> Iterator[None]:
        """Repeat a block as long as ``condition``, computed before each time, is not 0."""
        expect(condition, I32)
        self._code.append(_BLOCK + _NO_RESULT + _LOOP + _NO_RESULT)
        self._code.append(condition.code + _NOT + _BRANCH_IF + unsigned(1))
        yield
        self._code.append(_BRANCH + unsigned(0) + _END + _END)

    @contextmanager
    def when(self, condition: StackValue) -> Iterator[None]:
        """Execute a block if ``condition`` is not 0."""
        expect(condition, I32)
        self._code.append(condition.code + _IF + _NO_RESULT)
        yield
        self._code.append(_END)

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """Execute a block if the block of `when` just before was not executed."""
        assert self._code[-1] == _END
        self._code[-1] = _ELSE
        yield
        self._code.append(_END)

    @property
    def body(self) -> bytes:
        """Its entry in the code section."""
        types = [unsigned(1) + bytes([kind]) for kind in self._types]
        return sized(vector(types) + b"".join(self._code) + _END)

    def _local(self, number: int, kind: int) -> Local:
        return Local(kind, b"\x20" + unsigned(number), number)


def _call(function: Procedure, arguments: Sequence[StackValue]) -> bytes:
    for argument, kind in zip(arguments, function.parameters, strict=True):
        expect(argument, kind)
    return b"".join(argument.code for argument in arguments) + _CALL + unsigned(function.number)
