"""Hosts of compiled steps: memory that NumPy and compiled code share, and what loads the code.

In a page, Python's own memory is shared with the code, so that arrays stay where they are. Anywhere
else a host has a memory of its own; tests have one in wasmtime.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from threading import RLock
from typing import Any, Protocol
from weakref import WeakSet

import numpy as np

from playgrad.errors import DeviceTimeoutError, OutOfMemoryError
from playgrad.wasm.memory import address
from playgrad.wasm.module import Module
from playgrad.wasm.threads import CONTROL_BYTES, MODULE

Array = np.ndarray[Any, Any]
Run = Callable[[int, int, int, int, int], None]
"""``run(scratch, block, constants, table, steps)``: see `playgrad.wasm.step.StepCode`."""
ALIGNMENT = 16
"""Of the arrays that hosts provide, in bytes."""


class StepHost(Protocol):
    """Memory and a compiler.

    Attributes:
        relaxed: whether it has Relaxed SIMD.
        multiplies: whether its code can call `playgrad.wasm.step.SGEMM`.
        threads: how many threads can work on a step.
        control: their control words; see `playgrad.wasm.threads`.
    """

    relaxed: bool
    multiplies: bool
    threads: int

    @property
    def control(self) -> Array: ...

    def empty(self, size: int) -> Array:
        """Return ``size`` bytes whose contents are undefined, aligned, as uint8.

        Raises:
            MemoryError: there is no room for them.
        """

    def reachable(self, array: Array) -> bool:
        """Return whether ``array`` lies in the memory of the code."""

    def address(self, array: Array) -> int:
        """Return where ``array``, which must be reachable, begins in the memory of the code."""

    def load(self, module: bytes, count: int, number: int = 0) -> Sequence[Run]:
        """Return the functions ``run0``, ``run1``, ... of a module.

        Args:
            number: by which threads know the module; 0 for one that they do not share.
        """

    def settle(self) -> None:
        """Wait until no other thread works on a step that has ended with an error."""


class PageHost:
    """The memory of the Python in a page, which other threads see if the browser lets them.

    Attributes:
        relaxed: whether the browser has Relaxed SIMD.
        multiplies: False, as NumPy has no BLAS here.
        threads: how many threads can work on a step, this one included.
    """

    multiplies = False

    def __init__(self, relaxed: bool, threads: int = 1) -> None:
        self.relaxed = relaxed
        self.threads = threads

    @cached_property
    def control(self) -> Array:
        """The threads' control words."""
        return new_control(self)

    def empty(self, size: int) -> Array:
        """Return ``size`` bytes."""
        return np.empty(size, np.uint8)

    def reachable(self, array: Array) -> bool:
        """Return True: the code has the memory of Python."""
        return True

    def address(self, array: Array) -> int:
        """Return where ``array`` begins."""
        return address(array)

    def load(self, module: bytes, count: int, number: int = 0) -> Sequence[Run]:
        """Return the functions of a module, and have threads load it if it has a number."""
        from playgrad.devices._emscripten import instantiate

        exports = instantiate(module)
        if number:
            from playgrad.devices._browser.threads import share_module

            # A thread that is up before a program runs would not learn that one does.
            if not self.control[MODULE // 4]:
                self.control[MODULE // 4] = number
            share_module(self.threads - 1, address(self.control), number, module)
        return [getattr(exports, f"run{number}") for number in range(count)]

    def settle(self) -> None:
        """Wait until other threads have done the chunks that they have taken."""
        from playgrad.devices._browser.threads import settle

        settle(address(self.control))


class BlockUser(Protocol):
    """A program whose runs use a `SharedBlock`."""

    def forget_block(self) -> None:
        """Let go of all views of the block."""


class SharedBlock:
    """Memory for intermediate results and scratch, lent to one run after the other.

    Runs of different programs reuse it: nothing in it outlives a run.

    Attributes:
        users: what may keep views of the block, and lets go of them when a larger one is needed.
    """

    def __init__(self, host: StepHost) -> None:
        self.users: WeakSet[BlockUser] = WeakSet()
        self._host = host
        self._free: Array | None = None
        self._in_use = RLock()

    def take(self, size: int) -> Array:
        """Return at least ``size`` bytes for a run, until `give_back`. A run within a run gets
        bytes of its own.

        Raises:
            OutOfMemoryError: there is no room for them.
            DeviceTimeoutError: another thread still runs code, for a run that was given up.
        """
        if not self._in_use.acquire(blocking=False):
            raise DeviceTimeoutError(
                "part of an earlier run, which took too long, is still being computed.",
                hint="Try again later, or create a new session.",
            )
        try:
            return self._taken(size)
        except BaseException:
            self._in_use.release()
            raise

    def give_back(self, block: Array) -> None:
        """Take ``block`` back, whose run has ended, for the next one."""
        if self._free is None or len(self._free) < len(block):
            self._free = block
        self._in_use.release()

    def _taken(self, size: int) -> Array:
        block, self._free = self._free, None
        if block is None or len(block) < size:
            block = None  # freed before the larger one is allocated
            for user in self.users:
                user.forget_block()
            block = new_bytes(self._host, size, "the results of a step")
        return block


def new_control(host: StepHost) -> Array:
    """Return control words of threads in the memory of ``host``."""
    line = 64
    room = host.empty(CONTROL_BYTES + line)
    begin = -host.address(room) % line
    control = room[begin : begin + CONTROL_BYTES].view(np.int32)
    control[:] = 0
    return control


def new_bytes(host: StepHost, size: int, what: str) -> Array:
    """Return ``size`` bytes of the memory of ``host`` for ``what``.

    Raises:
        OutOfMemoryError: there is no room for them.
    """
    try:
        return host.empty(size)
    except MemoryError:
        raise OutOfMemoryError(
            f"there is no room for {size:,} bytes of {what}.",
            hint="Use a smaller batch or a smaller network.",
        ) from None


def copied_to(host: StepHost, array: Array, what: str) -> Array:
    """Return a copy of ``array`` in the memory of ``host``, in C order.

    Raises:
        OutOfMemoryError: there is no room for it.
    """
    copy = new_bytes(host, max(array.nbytes, 1), what)[: array.nbytes].view(array.dtype)
    copy = copy.reshape(array.shape)
    np.copyto(copy, array)
    return copy


@cache
def page_host() -> StepHost | None:
    """Return the host of a page; None elsewhere, and in browsers without SIMD."""
    if sys.platform != "emscripten":
        return None
    from playgrad.devices._emscripten import can_run

    for relaxed in (True, False):
        if can_run(_probe(relaxed)):
            return PageHost(relaxed, _page_threads())
    return None


def _page_threads() -> int:
    """Return how many threads a page can have for steps: 1 if it may not share memory."""
    try:
        import playgrad_host  # type: ignore[import-not-found]
    except ImportError:
        playgrad_host = None
    if not hasattr(playgrad_host, "most_threads"):  # the worker of another processor
        return 1
    from playgrad.devices._browser.threads import most_threads

    return most_threads()


def _probe(relaxed: bool) -> bytes:
    """Return a module with the instructions that compiled steps need."""
    from playgrad.wasm.encoding import I32, V128
    from playgrad.wasm.values import multiply_add

    module = Module()
    f = module.procedure([I32])
    (place,) = f.arguments
    vector = f.copy(place.load(V128))
    f.store(place, multiply_add(vector, vector, vector, relaxed))
    f.fill_bytes(place, 0, 16)
    return module.encode()


_hosts: list[StepHost | None] = []


def step_host() -> StepHost | None:
    """Return what compiles the steps of all sessions here, or None."""
    return _hosts[-1] if _hosts else page_host()


def is_host_chosen() -> bool:
    """Return whether this is within `using_step_host`."""
    return bool(_hosts)


@contextmanager
def using_step_host(host: StepHost | None) -> Iterator[None]:
    """Have programs that are loaded within the block compiled for ``host``, or not if None."""
    _hosts.append(host)
    try:
        yield
    finally:
        _hosts.pop()
