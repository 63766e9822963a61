"""Modules that compute operations one after another, as parts of a training step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from playgrad.wasm.encoding import I32
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue, integer

T = TypeVar("T")

SGEMM = ("sgemm", (I32,) * 12)
"""The name and the parameters of the host's product of float32 matrices, C = A B or C += A B: 1 or
0 for each of A and B, whether it is stored transposed; the rows of C, its columns, and the terms of
a sum; then the address and the elements from one stored row to the next of A; the same of B; 1 to
add to C, or 0; and the same of C."""

UNDER_WAY, FAILURE, STEPS_DONE, UNFINISHED, FIRST_POINTER = range(5)
"""Words of a table: the number of the operation under way; not 0 if it cannot take its inputs; the
steps that are done; 1 if the operation is to be called again to go on; then addresses of arrays."""
_ALIGNMENT = 16


class StepCode:
    """Writes runs of operations, each an exported function, into one module.

    The function ``run0``, ``run1``, ... has the parameters ``scratch``, ``block``, ``constants``,
    ``table``, all addresses, and the number of steps, that is of repetitions. It ends early if an
    operation fails.

    Args:
        relaxed: whether the host has Relaxed SIMD.
        multiplies: whether the host has `SGEMM`.

    Attributes:
        f: the procedure to write to, of the run that was begun last.
        sgemm: the host's product; None if it has none.
        squashing: cells, by their nodes, that leave their gates squashed, and their gradients.
        constants: the bytes of constants.
        scratch_bytes: the bytes that the host provides at ``scratch``.
    """

    def __init__(self, relaxed: bool, multiplies: bool = False) -> None:
        self.relaxed = relaxed
        self.squashing: Collection[Hashable] = ()
        self.constants = bytearray()
        self.scratch_bytes = 0
        self.f: Procedure
        self._module = Module(dict([SGEMM]) if multiplies else {}, relaxed)
        self.sgemm = self._module.imported.get(SGEMM[0])
        self._shared: dict[Hashable, Any] = {}
        self._offsets: dict[bytes, int] = {}
        self._pointers: dict[int, Local] = {}
        self._runs = 0
        self._reserved = 0

    def begin_run(self) -> int:
        """Begin a run, and return its number."""
        body = self.f = self._module.procedure([I32] * 4)
        self._pointers = {}
        run = self._module.procedure([I32] * 5, f"run{self._runs}")
        *places, steps = run.arguments
        table = places[-1]
        with run.count(steps):
            run.call(body, *places)
            for word in (FAILURE, UNFINISHED):
                with run.when(table.load(I32, 4 * word)):
                    run.leave()
            run.store(table, table.load(I32, 4 * STEPS_DONE) + 1, 4 * STEPS_DONE)
        self._runs += 1
        return self._runs - 1

    def begin_operation(self, number: int) -> None:
        """Note in the table, when this is reached, that the operation ``number`` is under way."""
        self.f.store(self._table, integer(number), 4 * UNDER_WAY)

    def end_if_failed(self) -> None:
        """Return from the run if something was stored at `failure`."""
        with self.f.when(self.failure.load(I32)):
            self.f.leave()

    # For emitters

    def shared(self, key: Hashable, write: Callable[[Module], T]) -> T:
        """Return the procedure, or the procedures, of ``key``, which ``write`` adds to the module
        the first time."""
        if key not in self._shared:
            self._shared[key] = write(self._module)
        result: T = self._shared[key]
        return result

    def constant(self, array: np.ndarray[Any, Any]) -> StackValue:
        """Return the address of a copy of ``array`` in C order, which the code must not change."""
        return self.in_constants(self.add_constant(array))

    def scratch(self, size: int) -> StackValue:
        """Return the address of at least ``size`` bytes for the current operation alone: the same
        at each call."""
        self.scratch_bytes = max(self.scratch_bytes, self._reserved + size)
        return self.in_scratch(self._reserved)

    @contextmanager
    def reserved(self, size: int) -> Iterator[int]:
        """Reserve at least ``size`` bytes, whose offset `in_scratch` is returned, for an operation
        that consists of others: these get scratch memory beyond them."""
        before = self._reserved
        self._reserved += size + -size % _ALIGNMENT
        self.scratch_bytes = max(self.scratch_bytes, self._reserved)
        try:
            yield before
        finally:
            self._reserved = before

    @property
    def unfinished(self) -> StackValue:
        """The address of a word: see `playgrad.ops.emitters.Emitter.returns_early`."""
        return self._table + 4 * UNFINISHED

    @property
    def failure(self) -> StackValue:
        """The address of a word. Code that finds inputs that the operation cannot take stores
        something other than 0 there, and writes nothing further."""
        return self._table + 4 * FAILURE

    # Places of arrays

    def add_constant(self, array: np.ndarray[Any, Any]) -> int:
        """Add the bytes of ``array`` to the constants, unless they are there already; return their
        offset, a multiple of 16."""
        content = array.tobytes()
        if content not in self._offsets:
            self._offsets[content] = len(self.constants)
            self.constants += content
            self.constants += bytes(-len(self.constants) % _ALIGNMENT)
        return self._offsets[content]

    def in_constants(self, offset: int) -> StackValue:
        """Return the address of ``offset`` bytes in the constants."""
        return self.f.arguments[2] + offset

    def in_scratch(self, offset: int) -> StackValue:
        """Return the address of ``offset`` bytes in the scratch memory."""
        return self.f.arguments[0] + offset

    def in_block(self, offset: int) -> StackValue:
        """Return the address of ``offset`` bytes in the block of intermediate results."""
        return self.f.arguments[1] + offset

    def pointer(self, number: int) -> StackValue:
        """Return the address that is the pointer ``number`` of the table."""
        if number not in self._pointers:
            pointer = self._table.load(I32, 4 * (FIRST_POINTER + number))
            self._pointers[number] = self.f.copy(pointer)
        return self._pointers[number]

    @property
    def _table(self) -> Local:
        return self.f.arguments[3]

    def encode(self) -> bytes:
        """Return the bytes of the module."""
        return self._module.encode()
