"""Modules that compute operations one after another, as parts of a training step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from playgrad.wasm.encoding import I32
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.threads import ALONE, ARGUMENTS, MOST_CHUNKS, ChunkCode, ThreadProcedures
from playgrad.wasm.values import StackValue, integer

T = TypeVar("T")

SGEMM, SGEMM_PLACE, SGEMM_WORDS = "sgemm", 16, 12
"""The name of the host's product of float32 matrices, C = A B or C += A B, and the address and the
number of its arguments: 1 or 0 for each of A and B, whether it is stored transposed; the rows of C,
its columns, and the terms of a sum; then the address and the elements from one stored row to the
next of A; the same of B; 1 to add to C, or 0; and the same of C."""

(
    UNDER_WAY, FAILURE, STEPS_DONE, UNFINISHED, CONTROL, MODULE, PRIVATE, STRIDE, FIRST_POINTER
) = range(9)  # fmt: skip
"""Words of a table: the number of the operation under way; not 0 if it cannot take its inputs; the
steps that are done; 1 if the operation is to be called again to go on; the addresses of the
threads' control words, the number of the module, and the address of the memory of the second thread
and the distance to that of the next one; then addresses of arrays."""
FIRST_KEPT = CONTROL
"""The words before it are 0 when a run begins."""
_ALIGNMENT = 16

WORTH = 3e-5
"""Seconds of work on one thread from which threads share it."""
SHORTEST = 1e-5
"""Seconds of a chunk, at least."""
CHUNKS = 2
"""Chunks of a thread, at least: if one begins late, the others do what it would have done."""
LONGEST = 1e-3
"""Seconds of a chunk from which there are more of them: all wait for a thread that has to wait for
a core in the middle of one."""


def chunk_size(total: int, chunks: int, unit: int = 1) -> int:
    """Return how many of ``total`` parts each of ``chunks`` has, but the last one, which has the
    rest: a multiple of ``unit``, parts that stay together."""
    return -(-total // (chunks * unit)) * unit


class StepCode:
    """Writes runs of operations, each an exported function, into one module.

    The function ``run0``, ``run1``, ... has the parameters ``scratch``, ``block``, ``constants``,
    ``table``, all addresses, and the number of steps, that is of repetitions. It ends early if an
    operation fails.

    Args:
        relaxed: whether the host has Relaxed SIMD.
        multiplies: whether the host has `SGEMM`.
        threads: how many threads the host has.

    Attributes:
        f: the procedure to write to, of the run that was begun last.
        sgemm: calls the host's product, whose arguments are its own; None if it has none.
        squashing: cells, by their nodes, that leave their gates squashed, and their gradients,
            which have the cell's hidden state as another input.
        constants: the bytes of constants.
        scratch_bytes: the bytes that the host provides at ``scratch``.
        private_bytes: those that it provides for each other thread.
        jobs: the number of operations that threads share.
    """

    def __init__(self, relaxed: bool, multiplies: bool = False, threads: int = 1) -> None:
        self.relaxed = relaxed
        self.threads = threads
        self.squashing: Collection[Hashable] = ()
        self.private_bytes = 0
        self.jobs = 0
        self.constants = bytearray()
        self.scratch_bytes = 0
        self.f: Procedure
        self._module = Module({SGEMM: ()} if multiplies else {}, relaxed)
        self.sgemm = _sgemm(self._module) if multiplies else None
        self._shared: dict[Hashable, Any] = {}
        self._offsets: dict[bytes, int] = {}
        self._pointers: dict[int, Local] = {}
        self._runs = 0
        self._reserved = 0
        self._threads = ThreadProcedures(self._module) if threads > 1 else None

    def begin_run(self) -> int:
        """Begin a run, and return its number."""
        body = self.f = self._module.procedure([I32] * 4)
        self._pointers = {}
        run = self._module.procedure([I32] * 5, f"run{self._runs}")
        *places, steps = run.arguments
        table = places[-1]
        if self._threads is not None:
            words = (table.load(I32, 4 * word) for word in (CONTROL, MODULE, PRIVATE, STRIDE))
            run.call(self._threads.begin, *words)
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

    def chunks(self, seconds: float, units: int) -> int:
        """Return into how many chunks to cut work of about so many seconds on one thread, and of so
        many units that stay whole; 1 if sharing it costs more than it saves."""
        if self._threads is None or seconds < WORTH:
            return 1
        wanted = max(CHUNKS * self.threads, int(seconds / LONGEST))
        return max(1, min(units, wanted, int(seconds / SHORTEST), MOST_CHUNKS))

    @property
    def is_alone(self) -> StackValue:
        """Whether no other thread helps in this run."""
        return self.f.copy(self._table.load(I32, 4 * CONTROL)).load(I32, ALONE)

    def split(
        self,
        key: Hashable,
        chunks: int,
        arguments: Sequence[StackValue],
        write: Callable[[ChunkCode], None],
        private: int = 0,
    ) -> None:
        """Have threads share the current operation.

        Args:
            key: of the job, which ``write`` writes the first time.
            arguments: integers that each chunk gets.
            private: the bytes that a thread needs at `ChunkCode.scratch`.
        """
        assert self._threads is not None
        if key not in self._shared:
            number, job = self._threads.job(len(arguments))
            write(job)
            self._shared[key] = number
        scratch = self.scratch(private)
        self.private_bytes = max(self.private_bytes, private + -private % _ALIGNMENT)
        self.jobs += 1
        control = self.f.copy(self._table.load(I32, 4 * CONTROL))
        for place, value in enumerate(arguments):
            self.f.store(control, value, ARGUMENTS + 4 * place)
        which = integer(self._shared[key])
        self.f.call(self._threads.fork, control, which, integer(chunks), scratch)

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
        if self._threads is not None:
            self._threads.finish()
        return self._module.encode()


def _sgemm(module: Module) -> Procedure:
    """Add a procedure that calls the host's product."""
    f = module.procedure([I32] * SGEMM_WORDS)
    for number, value in enumerate(f.arguments):
        f.store(integer(SGEMM_PLACE), value, 4 * number)
    f.call(module.imported[SGEMM])
    return f
