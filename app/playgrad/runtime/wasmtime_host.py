"""Compiled steps on the desktop: a memory and a compiler of wasmtime, one for each session.

A call by wasmtime's Python API looks up and converts every argument, which takes longer than the
step of a small network. Here arguments are written to an array and the C function is called.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import wasmtime
from wasmtime import _ffi as ffi

from playgrad.runtime.sgemm import Product, product
from playgrad.runtime.step_host import ALIGNMENT, Array, Run, new_control
from playgrad.wasm.step import SGEMM_PLACE, SGEMM_WORDS

_PAGE = 1 << 16
LARGEST = (1 << 32) - _PAGE
"""Bytes of a memory: addresses have 32 bits."""
_GROWTH = 1 << 24
"""The least bytes by which a memory grows."""
_FIRST = SGEMM_PLACE + 4 * SGEMM_WORDS
"""The least address of an array."""


_starting = threading.Lock()


def _engine() -> wasmtime.Engine:
    """Return the compiler, which is one for all hosts, in whichever threads they are created."""
    with _starting:
        return _started_engine()


@cache
def _started_engine() -> wasmtime.Engine:
    """Return the compiler: addresses are reserved, so that a memory grows where it is."""
    config = wasmtime.Config()
    config.memory_reservation = 1 << 32
    config.memory_may_move = False
    return wasmtime.Engine(config)


_modules: weakref.WeakValueDictionary[bytes, wasmtime.Module] = weakref.WeakValueDictionary()


def _module(code: bytes) -> wasmtime.Module:
    """Return a compiled module, which hosts with the same code share."""
    module = _modules.get(code)
    if module is None:
        module = _modules[code] = wasmtime.Module(_engine(), code)
    return module


class _Place(weakref.ref[Any]):
    """A reference to an array, with the addresses of its bytes."""

    begin: int
    end: int


class WasmtimeHost:
    """Memory of up to ``size`` bytes, of which freed arrays are used again.

    It belongs to one session, whose runs follow each other, in any thread.

    Attributes:
        relaxed: whether to use Relaxed SIMD.
        multiplies: whether compiled code calls BLAS.
        threads: how many threads a step is written for; all of its work is done by one.

    Raises:
        MemoryError: the process may not reserve addresses for the memory.
    """

    def __init__(self, size: int = LARGEST, relaxed: bool = True, multiplies: bool = True) -> None:
        self.relaxed = relaxed
        self.multiplies = multiplies
        self.threads = 1
        self._store = wasmtime.Store(_engine())
        pages = -(-size // _PAGE)
        kind = wasmtime.MemoryType(wasmtime.Limits(1, pages))
        try:
            self._memory = wasmtime.Memory(self._store, kind)
        except wasmtime.WasmtimeError:
            raise MemoryError from None
        begin = ctypes.cast(self._memory.data_ptr(self._store), ctypes.c_void_p).value
        assert begin is not None
        self._begin, self._end, self._most = begin, _PAGE, pages * _PAGE
        self._gaps = [(_FIRST, _PAGE)]
        self._free: dict[int, list[int]] = {}
        self._places: dict[int, _Place] = {}
        self._freed: deque[_Place] = deque()
        self._taken = 0
        self._products = _Products(self._store, begin) if multiplies else None

    @property
    def allocated(self) -> int:
        """The bytes of arrays that exist."""
        self._note_freed()
        return self._taken

    def empty(self, size: int) -> Array:
        """Return ``size`` bytes whose contents are undefined, aligned.

        Raises:
            MemoryError: there is no room for them.
        """
        taken = max(-(-size // ALIGNMENT), 1) * ALIGNMENT
        self._note_freed()
        begin = free.pop() if (free := self._free.get(taken)) else self._cut(taken)
        self._taken += taken
        # A buffer of its own: an array of it is its owner, and the base of all of its views. It
        # keeps the memory. What is called when it ends is no Python function: an error that the
        # handler of a signal raises in one is lost, and so would the place be.
        owner: Any = (ctypes.c_uint8 * size).from_address(self._begin + begin)
        owner.host = self
        held = self._places[begin] = _Place(owner, self._freed.append)
        held.begin, held.end = begin, begin + taken
        return np.frombuffer(owner, np.uint8)

    def _note_freed(self) -> None:
        """Have the places of freed arrays used again by arrays of the same size."""
        while self._freed:
            freed = self._freed.popleft()
            del self._places[freed.begin]
            size = freed.end - freed.begin
            self._taken -= size
            self._free.setdefault(size, []).append(freed.begin)

    def _cut(self, size: int) -> int:
        """Cut ``size`` bytes from a gap; return where they begin."""
        self._collect()
        gap = next((gap for gap in self._gaps if gap[1] - gap[0] >= size), None)
        if gap is None:
            gap = self._grown(size)
        begin, place = gap[0], self._gaps.index(gap)
        self._gaps[place : place + 1] = [(begin + size, gap[1])] if gap[1] - begin > size else []
        return begin

    def _collect(self) -> None:
        """Add what was freed to the gaps."""
        freed = [(begin, begin + size) for size, row in self._free.items() for begin in row]
        if not freed:
            return
        self._free.clear()
        self._gaps = sorted([*self._gaps, *freed])
        merged: list[tuple[int, int]] = []
        for gap in self._gaps:
            if merged and merged[-1][1] == gap[0]:
                merged[-1] = (merged[-1][0], gap[1])
            else:
                merged.append(gap)
        self._gaps = merged

    def _grown(self, size: int) -> tuple[int, int]:
        """Grow the memory by a gap of at least ``size`` bytes, and return it."""
        begin = self._end
        if self._gaps and self._gaps[-1][1] == begin:
            begin = self._gaps[-1][0]
        missing = begin + size - self._end
        room = self._most - self._end
        if missing > room:
            raise MemoryError
        growth = min(max(missing, _GROWTH), room)
        try:
            self._memory.grow(self._store, -(-growth // _PAGE))
        except wasmtime.WasmtimeError:
            raise MemoryError from None
        if begin < self._end:
            self._gaps.pop()
        self._end += -(-growth // _PAGE) * _PAGE
        self._gaps.append((begin, self._end))
        return self._gaps[-1]

    def reachable(self, array: Array) -> bool:
        """Return whether ``array`` lies in the memory."""
        return 0 < self.address(array) < self._end

    def address(self, array: Array) -> int:
        """Return where ``array`` begins in the memory."""
        place: int = array.__array_interface__["data"][0]
        return place - self._begin

    @cached_property
    def control(self) -> Array:
        """The control words of threads."""
        return new_control(self)

    def settle(self) -> None:
        """Do nothing: there is one thread."""

    def load(self, module: bytes, count: int, number: int = 0) -> Sequence[Run]:
        """Return the functions ``run0``, ``run1``, ... of a module."""
        compiled = _module(module)
        imports: list[Any] = [self._memory]
        if self._products is not None:
            imports.append(self._products.function)
        exports = wasmtime.Instance(self._store, compiled, imports).exports(self._store)
        return [self._run(exports[f"run{number}"], compiled) for number in range(count)]

    def _run(self, exported: Any, module: wasmtime.Module) -> Run:
        # Five numbers of 32 bits, each in the first word of 16 bytes.
        values = (ctypes.c_int32 * 20)()
        trap = ctypes.POINTER(ffi.wasm_trap_t)()
        # Pointers that are converted once. They are valid as long as the store, which is kept here.
        store, context = self._store, ctypes.cast(self._store._context(), ctypes.c_void_p)
        products = self._products
        arguments = (
            context,
            ctypes.cast(ctypes.pointer(exported._func), ctypes.c_void_p),
            ctypes.cast(values, ctypes.c_void_p),
            ctypes.c_size_t(5),
            ctypes.cast(ctypes.pointer(trap), ctypes.c_void_p),
        )
        call = _call_unchecked()

        def run(scratch: int, block: int, constants: int, table: int, steps: int) -> None:
            if products is not None and products.is_running:
                with products.nested():
                    return run(scratch, block, constants, table, steps)
            values[0] = scratch
            values[4] = block
            values[8] = constants
            values[12] = table
            values[16] = steps
            error = call(*arguments)
            if error or trap:
                _raise(error, trap, [] if products is None else products.interrupts)

        run.kept = (store, exported, module)  # type: ignore[attr-defined]
        return run


@cache
def _call_unchecked() -> Callable[..., int | None]:
    """Return wasmtime's C function, which gets its arguments as they are."""
    pointer = ctypes.c_void_p
    function = ctypes.CFUNCTYPE(pointer, pointer, pointer, pointer, ctypes.c_size_t, pointer)
    return function(("wasmtime_func_call_unchecked", ffi.dll))


class _Products:
    """The function `SGEMM` on the memory that begins at the address ``begin``.

    Nothing may be raised out of a callback: its result would be undefined, and C follow it. A
    function would raise a pending signal before its first line; a generator waits within ``try``.

    Attributes:
        function: what modules import. It is valid as long as this object.
        interrupts: what was raised in it.
    """

    def __init__(self, store: wasmtime.Store, begin: int) -> None:
        self.interrupts: list[BaseException] = []
        self._begin, self._multiply = begin, product()
        self._words: Any = (ctypes.c_uint32 * SGEMM_WORDS).from_address(begin + SGEMM_PLACE)
        self._resume: Any = partial(int)
        self._current: Any
        self._use(self._generator())
        pointer, function = ctypes.c_void_p, ffi.wasmtime_func_t()
        # Of the callback's four arguments, it takes the first, which is NULL.
        kind = ctypes.CFUNCTYPE(ctypes.c_size_t, pointer)
        self._callback = kind(self._resume)
        signature = wasmtime.FuncType([], [])
        create = ctypes.CFUNCTYPE(None, pointer, pointer, kind, pointer, pointer, pointer)
        create(("wasmtime_func_new_unchecked", ffi.dll))(
            ctypes.cast(store._context(), pointer),
            ctypes.cast(signature.ptr(), pointer),
            self._callback,
            None,
            None,
            ctypes.cast(ctypes.byref(function), pointer),
        )
        self.function = wasmtime.Func._from_raw(function)

    @property
    def is_running(self) -> bool:
        """Whether this is within a product, as a handler of a signal is."""
        running: bool = self._current.gi_running
        return running

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Have products within a product, which goes on afterwards."""
        outer, words = self._current, self._words[:]
        self._use(self._generator())
        try:
            yield
        finally:
            self._use(outer)
            self._words[:] = words

    def _use(self, generator: Generator[int, None, None]) -> None:
        self._current = generator
        self._resume.__setstate__((generator.send, (), {}, {}))

    def _generator(self) -> Generator[int, None, None]:
        generator = _multiplying(self._multiply, self._begin, self._words, self.interrupts)
        next(generator)
        return generator


def _multiplying(
    multiply: Product, begin: int, words: Any, interrupts: list[BaseException]
) -> Generator[int, None, None]:
    """Multiply each time it is resumed, and yield 0, or a trap if something was raised."""
    message, trap = b"interrupted", 0
    while True:
        try:
            while True:
                yield trap
                trap = 0
                multiply(begin, *words[:])
        except GeneratorExit:
            return
        except BaseException as error:  # also that of a signal
            trap = _new_trap()(message, len(message)) or 0
            interrupts.append(error)


@cache
def _new_trap() -> Callable[[bytes, int], int | None]:
    """Return wasmtime's C function that makes a trap of a message and its length."""
    kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)
    return kind(("wasmtime_trap_new", ffi.dll))


def _raise(error: int | None, trap: Any, interrupts: list[BaseException]) -> None:
    """Raise what a call returned, or what was raised within it."""
    returned: Exception
    if error:
        returned = wasmtime.WasmtimeError._from_ptr(
            ctypes.cast(error, ctypes.POINTER(ffi.wasmtime_error_t))
        )
    else:
        pointer = ctypes.POINTER(ffi.wasm_trap_t).from_buffer_copy(trap)
        ctypes.memset(ctypes.addressof(trap), 0, ctypes.sizeof(trap))
        returned = wasmtime.Trap._from_ptr(pointer)
    raise interrupts.pop() if interrupts else returned
