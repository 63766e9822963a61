"""Runs of compiled steps: compiled code and Python take turns on the same memory."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Sequence
from operator import is_

import numpy as np

from playgrad.graph.tensor import Node, Tensor
from playgrad.runtime.blas_nodes import product_writer
from playgrad.runtime.compile_steps import CompiledStep
from playgrad.runtime.interpreter import Computation, compute_of, explained
from playgrad.runtime.step_arena import Region
from playgrad.runtime.step_host import Array, SharedBlock, StepHost, copied_to, new_bytes
from playgrad.runtime.thread_choice import ThreadChoice
from playgrad.wasm.step import (
    CONTROL,
    FAILURE,
    FIRST_KEPT,
    FIRST_POINTER,
    MODULE,
    PRIVATE,
    STEPS_DONE,
    STRIDE,
    UNDER_WAY,
    UNFINISHED,
)
from playgrad.wasm.threads import ALONE

_NUMBERS = itertools.count(1)
"""Of modules that threads share."""
_ZEROS = np.zeros(FIRST_KEPT, np.int32).data
Arrays = Sequence[Array]
_Input = Callable[[Array, Arrays], Array]
"""Returns an input of a node, from the block and the arrays of a run."""
_Result = tuple[_Input, bool]
"""Returns a result, and whether that is in an array of the run's own."""


class CompiledRun:
    """A compiled step, loaded into a host.

    Args:
        block: lends memory for intermediate results.
        fetches: the tensors that a run returns.
        heavy: nodes of Python that are preceded by a check for a stop.

    Attributes:
        variables: the names of the variables, in the order in which runs take their values.
        overwritten: those of them that runs overwrite, if any.
        repeats: whether one call can compute several steps.

    Raises:
        OutOfMemoryError: there is no room for the constants.
    """

    def __init__(
        self,
        step: CompiledStep,
        host: StepHost,
        block: SharedBlock,
        fetches: Sequence[Tensor],
        heavy: Collection[Node],
    ) -> None:
        self.step = step
        self.variables = step.arena.variables
        self.overwritten = frozenset(step.order.written if step.overwrites else ())
        self.repeats = step.repeats
        self._host = host
        self._block = block
        self._constants = copied_to(
            host, np.frombuffer(step.constants, np.uint8), "constants of a step"
        )
        count = step.arena.arrays + (step.arena.results > 0)
        self._table = new_bytes(host, 4 * (FIRST_POINTER + count), "a table").view(np.int32)
        self._words = self._table.data  # of which Python reads one faster
        self._places = (host.address(self._constants), host.address(self._table))
        self._pointed: list[Array | None] = [None] * count
        first = len(step.arena.variables)
        self._fed = range(first, first + len(step.arena.fed))
        self._arrays: Arrays = ()  # of the run that the table serves
        self._held = [self.reachable(t.node.attrs["value"]) for t in step.arena.held]
        self._is_shared, self._choice = step.threads > 1, ThreadChoice()
        number = next(_NUMBERS) if self._is_shared else 0
        self._runs = host.load(step.module, step.count, number)
        self._nodes: Sequence[Node] = step.order.nodes
        self._scratch = -(-step.arena.size // 16) * 16
        self._private = self._scratch + -(-step.scratch // 16) * 16
        self._size = max(self._private + step.private * (step.threads - 1), 1)
        self._table[:] = 0
        if self._is_shared:
            self._table[CONTROL] = _word(host.address(host.control))
            self._table[MODULE], self._table[STRIDE] = number, step.private
        block.users.add(self)
        self._views: dict[int, tuple[Array, Array]] = {}  # with the block that each is a part of
        self._numbers = 0
        self._block_seen: Array | None = None
        self._block_places = (0, 0)
        self._parts: list[list[Callable[[Array, Arrays, Callable[[], bool]], None]]] = []
        for part in step.order.parts:
            self._parts.append(
                [] if part.compiled else [self._python(node, node in heavy) for node in part.nodes]
            )
        self._fetches = [self._result(tensor) for tensor in fetches]
        self._commits = {name: self._result(t) for name, t in step.commits.items()}

    def run(
        self,
        variables: Arrays,
        feeds: Arrays,
        stop: Callable[[], bool],
        steps: int = 1,
        nodes: Sequence[Node] = (),
    ) -> tuple[list[Array], dict[str, Array]]:
        """Run ``steps`` times, more than once only if `repeats`.

        Args:
            variables: the values of `variables`, in the host's memory and in C order.
            feeds: the values of the fed tensors.
            nodes: whose errors are raised in place of those of the step's, if it is the code of
                another program as well.

        Returns:
            The fetched arrays, and the new values of variables unless the step overwrites them:
            copies, or parts of an array that the run has allocated for them.

        Raises:
            KeyboardInterrupt: ``stop`` returned true between two parts.
        """
        block = self._block.take(self._size)
        try:
            arrays = self._arrays_of(variables, feeds)
            self._nodes = nodes or self._nodes
            if not self._is_shared:
                return self._run(block, arrays, variables, stop, steps)
            shares = self._choice.shares()
            self._host.control[ALONE // 4] = not shares
            started = time.perf_counter()
            results = self._run(block, arrays, variables, stop, steps)
            self._choice.measured(shares, (time.perf_counter() - started) / steps)
            return results
        finally:
            self._block.give_back(block)
            self._arrays = ()
            self._forget_arrays()

    def _arrays_of(self, variables: Arrays, feeds: Arrays) -> Arrays:
        """Return the arrays that the code works on, all in the host's memory."""
        fed = [self.reachable(array) for array in feeds]
        size = self.step.arena.results
        own = [new_bytes(self._host, size, "the results of a step")] if size else []
        return [*variables, *fed, *self._held, *own]

    def _forget_arrays(self) -> None:
        """Let go of the arrays that were fed and, if they are the run's own, of its results; also
        of the values of variables, which then get new ones."""
        for number in self._fed:
            self._pointed[number] = None
        if self.step.arena.results:
            self._pointed[-1] = None
            self._pointed[: len(self.variables)] = [None] * len(self.variables)

    def _run(
        self,
        block: Array,
        arrays: Arrays,
        variables: Arrays,
        stop: Callable[[], bool],
        steps: int,
    ) -> tuple[list[Array], dict[str, Array]]:
        if block is not self._block_seen:
            self._block_seen, begin = block, self._host.address(block)
            self._block_places = (begin + self._scratch, begin)
        places = (*self._block_places, *self._places)
        for part, runs in zip(self._parts, self.step.runs, strict=True):
            for run in runs:
                unfinished = 0
                while True:
                    if stop():
                        raise KeyboardInterrupt
                    if self._arrays is not arrays:  # also after a run within this one
                        self._point_to(arrays)
                        self._words[UNFINISHED] = unfinished
                        self._words[PRIVATE] = _word(places[1] + self._private)
                    self._call(run, places, block, arrays, steps)
                    unfinished = self._words[UNFINISHED]
                    if not unfinished:
                        break
            if part:
                # Infinity and NaN without a warning, as on a GPU.
                with np.errstate(all="ignore"):
                    for compute in part:
                        compute(block, arrays, stop)
        fetched = [self._kept(each, block, arrays) for each in self._fetches]
        commits = self._commits.items()
        if not self.step.overwrites:
            return fetched, {name: self._kept(each, block, arrays) for name, each in commits}
        for name, (value, _) in commits:
            np.copyto(variables[self.variables.index(name)], value(block, arrays))
        return fetched, {}

    def _kept(self, result: _Result, block: Array, arrays: Arrays) -> Array:
        value, is_own = result
        return value(block, arrays) if is_own else np.array(value(block, arrays))

    def forget_block(self) -> None:
        """Let go of the block that runs have used, which may be freed."""
        self._views.clear()
        self._block_seen = None

    @property
    def steps_done(self) -> int:
        """The number of steps that the last call has completed, also if it failed."""
        return self._words[STEPS_DONE]

    def _point_to(self, arrays: Arrays) -> None:
        words, pointed = self._words, self._pointed
        if not all(map(is_, arrays, pointed)):
            for number, array in enumerate(arrays):
                if pointed[number] is not array:
                    words[FIRST_POINTER + number] = _word(self._host.address(array))
                    pointed[number] = array
        words[:FIRST_KEPT] = _ZEROS
        self._arrays = arrays

    def _call(
        self, run: int, places: tuple[int, ...], block: Array, arrays: Arrays, steps: int
    ) -> None:
        scratch, begin, constants, table = places
        try:
            self._runs[run](scratch, begin, constants, table, steps)
        except Exception as error:
            if self._is_shared:
                self._host.settle()
            node = self._nodes[self._words[UNDER_WAY]]
            raise explained(error, Computation.of(node)) from None
        if self._words[FAILURE]:
            self._raise_error_of(self._words[UNDER_WAY], block, arrays)

    def _raise_error_of(self, number: int, block: Array, arrays: Arrays) -> None:
        """Raise the error that the reference of a node raises for its inputs."""
        node, inputs = self._nodes[number], self.step.order.nodes[number].inputs
        values = [self._value(tensor)(block, arrays) for tensor in inputs]
        try:
            with np.errstate(all="ignore"):
                node.op.reference(values, node.attrs)
        except Exception as error:
            raise explained(error, Computation.of(node)) from None
        raise RuntimeError(f"the code of '{node.name}' refused inputs that its reference takes.")

    def reachable(self, array: Array) -> Array:
        """Return ``array``, or a copy if the code cannot read it."""
        if array.flags.c_contiguous and self._host.reachable(array):
            return array
        return copied_to(self._host, array, "a value that is fed")

    # Nodes of Python

    def _python(
        self, node: Node, is_heavy: bool
    ) -> Callable[[Array, Arrays, Callable[[], bool]], None]:
        """Return a function of the block, the arrays and ``stop`` that computes ``node``."""
        computation = Computation.of(node)
        inputs = [self._value(tensor) for tensor in node.inputs]
        outputs = [self._value(tensor, writable=True) for tensor in node.outputs]
        is_users = node.op.source is not None  # the user's code may keep the arrays
        compute: Callable[[Sequence[Array]], Sequence[Array]] | None = None
        write = product_writer(node)

        def work(block: Array, arrays: Arrays, stop: Callable[[], bool]) -> None:
            nonlocal compute
            if is_heavy and stop():
                raise KeyboardInterrupt
            values = [value(block, arrays) for value in inputs]
            try:
                if write is not None:
                    write(values, outputs[0](block, arrays))
                    return
                compute = compute or compute_of(computation)
                results = compute([np.array(x) for x in values] if is_users else values)
            except Exception as error:
                raise explained(error, computation) from None
            for value, result in zip(outputs, results, strict=True):
                np.copyto(value(block, arrays), result)

        return work

    def _result(self, tensor: Tensor) -> _Result:
        place = self.step.arena.places[self.step.order.root(tensor)]
        is_own = place.region is Region.RESULTS
        return self._value(tensor, writable=is_own), is_own

    def _value(self, tensor: Tensor, writable: bool = False) -> _Input:
        """Return a function of the block and the arrays to a view of ``tensor``, read-only unless
        it is a result of Python."""
        order = self.step.order
        root = order.root(tensor)
        place = self.step.arena.places[root]
        shape, kind = tensor.spec.static_shape, np.dtype(tensor.dtype)
        if place.region is Region.CONSTANT:
            constant = np.asarray(root.node.attrs["value"]).reshape(shape)
            return lambda block, arrays: constant
        if place.region is Region.ARRAY:
            number = place.offset
            return lambda block, arrays: _read_only(arrays[number].reshape(shape))
        start, size = place.offset, tensor.spec.size * kind.itemsize
        if place.region is Region.RESULTS:

            def part(block: Array, arrays: Arrays) -> Array:
                result: Array = np.ndarray(shape, kind, arrays[-1], start)
                return result if writable else _read_only(result)

            return part
        number = self._numbers = self._numbers + 1

        def view(block: Array, arrays: Arrays) -> Array:
            kept = self._views.get(number)
            if kept is None or kept[0] is not block:
                part = block[start : start + size].view(kind).reshape(shape)
                kept = self._views[number] = block, part if writable else _read_only(part)
            return kept[1]

        return view


def _read_only(view: Array) -> Array:
    view.flags.writeable = False
    return view


def _word(address: int) -> int:
    """Return an address as a signed number of 32 bits."""
    return address - (1 << 32) if address >= 1 << 31 else address
