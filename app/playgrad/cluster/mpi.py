"""The members of a run over MPI."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI

from playgrad.cluster.differences import differing_calls, differing_runs, out_of_step
from playgrad.cluster.mpi_clocks import clock_name, clocks_ahead
from playgrad.cluster.mpi_comparison import CALL, RUN, MemberComparison
from playgrad.cluster.mpi_driver import NAP, Driven, Driver
from playgrad.cluster.mpi_exchange import exchanged
from playgrad.cluster.mpi_transport import TAGS, MpiTransport, as_bytes, empty, longest_piece
from playgrad.compiler.split import TensorChannel
from playgrad.devices.kinds import index_of, kind_of
from playgrad.devices.machines import full_name
from playgrad.errors import DeviceError, GraphError, MembersDifferError
from playgrad.runtime.members import Held
from playgrad.runtime.run_digest import RunDigest
from playgrad.runtime.transport import NewArray, Transport

Array = np.ndarray[Any, Any]
V = TypeVar("V")
_ALARM = 1
"""The tag of the message, without content, that a part of the run has failed."""
_LEFT = 76
"""The exit code of a member that must not go on. The supervisor notices its end."""
_LONGEST_CALL = 120
_SPINS = 200
_LONG_NAP = 1e-3


class PartFailedError(Exception):
    """Another member's part of the run has failed. All members will raise the error of that."""


class MpiMembers:
    """The processes of ``MPI.COMM_WORLD``; see `playgrad.runtime.members.Members`.

    A member that waits polls and sleeps in turn: MPI's own waiting would keep a core busy that
    another member may need. Each waits for the others only in its main thread, but receives tensors
    in the threads of its devices.
    """

    def __init__(self) -> None:
        world = MPI.COMM_WORLD
        self.rank, self.size = world.rank, world.size
        self.piece = longest_piece(world)
        self._control = world.Dup()
        self._alarm = world.Dup()
        self.tensors = world.Dup()
        self._groups: dict[tuple[int, ...], MPI.Comm] = {}
        self._driver = Driver()
        self._thread = threading.get_ident()
        self._next_tag = 0
        self._run = RunDigest(0, "nothing")
        self._start: MemberComparison | None = None
        self._difference: MembersDifferError | None = None
        self._abandoned: list[Any] = []  # of failed runs: MPI may still read their buffers

    def owner(self, device: str) -> int:
        number = index_of(device)
        if number >= self.size:
            raise DeviceError(
                f"there is no {device}: the run has {self.size} members with a device each, up to "
                f"{full_name(f'{kind_of(device).name}:{self.size - 1}')}.",
                hint="Name fewer devices, or more processes with --hosts.",
            )
        return number

    # Tensors

    def new_transport(self, channels: Sequence[TensorChannel], new_array: NewArray) -> Transport:
        first = self._next_tag
        self._next_tag = (first + len(channels)) % TAGS
        return MpiTransport(self, channels, first, new_array)

    def share(self, arrays: Sequence[Held]) -> list[Array]:
        results: list[Array] = []
        if arrays:
            self._meet(f"share {[(held.holder, held.spec) for held in arrays]}")
        for holder, spec, array in arrays:
            buffer = empty(spec) if array is None else np.array(array, order="C")
            self.wait(self._control.Ibcast(as_bytes(buffer), holder))
            results.append(buffer)
        return results

    def begin_sum(self, ranks: tuple[int, ...], term: Array, total: Array) -> Driven:
        """Begin to add up the terms of the members ``ranks``. A thread drives MPI until the sum is
        there, while this one computes. Collective among these members."""
        request = self._groups[ranks].Iallreduce(term, total, MPI.SUM)
        return self._driver.drive(Driven(request, (term, total)))

    def end_sum(self, driven: Driven) -> float:
        """Wait until a sum is there; return since when.

        Raises:
            PartFailedError: another member's part of the run has failed.
        """
        self._poll(lambda: self._driver.is_done(driven), driven)
        assert driven.end is not None
        return driven.end

    def prepare_sums(self, ranks: tuple[int, ...]) -> None:
        """Prepare sums of the terms of the members ``ranks``. Collective among them."""
        if ranks not in self._groups and self.rank in ranks:
            group = MPI.COMM_WORLD.Get_group().Incl(ranks)
            self._groups[ranks] = MPI.COMM_WORLD.Create_group(group)

    # Agreement

    def begin_run(self, run: RunDigest) -> None:
        self._check()
        self._run = run
        feeds = run.all_feeds
        self._start = MemberComparison(self._control, RUN, str(run.program), feeds, -feeds)

    def agree(self, error: BaseException | None = None, stop: bool = False) -> bool:
        if error is not None and not isinstance(error, PartFailedError):
            for other in range(self.size):
                if other != self.rank:
                    self._alarm.Isend([np.empty(0, np.uint8), MPI.BYTE], other, _ALARM)
        self._check_start()
        failed, stops = self._meet("agree", error is not None, stop)
        if failed:
            raise self._first_error(error)
        return bool(stops)

    def _check_start(self) -> None:
        """Wait until the run has begun at all members.

        Raises:
            MembersDifferError: they compute different things.
        """
        start, self._start = self._start, None
        if start is None:
            return
        self._poll(start.is_done, None)
        if not start.differs:
            return
        if not start.is_one_kind:
            raise self._ended_by(out_of_step(f"a run of {self._run.text}"))
        raise self._ended_by(differing_runs(self.all_of(self._run)))

    def _meet(self, call: str, *numbers: int) -> tuple[int, int]:
        """Wait until all members are here, and return the largest of each of two numbers.

        Every collective call begins so, since MPI takes data of one call for another's.

        Args:
            call: what is called, the same at all members.

        Raises:
            MembersDifferError: it is not.
            GraphError: another thread than the program's calls.
        """
        self._check()
        met = MemberComparison(self._control, CALL, call, *numbers)
        self._poll(met.is_done, None)
        if met.differs:
            text = call if len(call) <= _LONGEST_CALL else f"{call[:_LONGEST_CALL]}…"
            if not met.is_one_kind:
                raise self._ended_by(out_of_step(text))
            raise self._ended_by(differing_calls(self.all_of(text)))
        return met.numbers

    def _ended_by(self, error: MembersDifferError) -> MembersDifferError:
        """Return ``error``, which any later call raises again: programs and channels of members
        that have once done different things no longer belong together."""
        self._difference = error
        return error

    def _check(self) -> None:
        """Check that this member can take part in a call of all.

        Raises:
            MembersDifferError: members have done different things before.
            GraphError: another thread than the program's calls.
        """
        if self._difference is not None:
            raise self._difference
        if threading.get_ident() != self._thread:
            raise GraphError(
                "a run of several processes trains and computes in the program's main thread only.",
                hint="Leave the threads out, or train with one process.",
            )

    def _first_error(self, error: BaseException | None) -> BaseException:
        """Return the error of the first member that failed; begin again with new channels."""
        own = None if isinstance(error, PartFailedError) else error
        errors = [_unpacked(each) for each in self._gathered(_packed(own), "errors")]
        self.abandon((self.tensors, self._groups))
        self._driver.forget_all()
        self.tensors, self._groups = MPI.COMM_WORLD.Dup(), {}
        failed = [rank for rank, each in enumerate(errors) if each is not None]
        for rank in failed:
            if rank != self.rank:
                self._alarm.Recv([np.empty(0, np.uint8), MPI.BYTE], rank, _ALARM)
        if own is not None and failed[0] == self.rank:
            return own
        first = errors[failed[0]]
        assert first is not None
        return first

    def first_of(self, value: V) -> V:
        content = pickle.dumps(value) if self.rank == 0 else b""
        size, _ = self._meet(_caller(), len(content))
        buffer = bytearray(content if self.rank == 0 else size)
        self.wait(self._control.Ibcast([buffer, MPI.BYTE], 0))
        result: V = pickle.loads(buffer)
        return result

    def all_of(self, value: V) -> list[V]:
        return [pickle.loads(each) for each in self._gathered(pickle.dumps(value), _caller())]

    def exchange(self, outgoing: Sequence[Any]) -> list[Any]:
        self._meet(_caller())
        return exchanged(self._control, outgoing, self.wait)

    def clocks_ahead(self) -> list[float]:
        names = self.all_of(clock_name())
        return self.first_of(clocks_ahead(self._control, names, self.wait))

    def give_up(self, error: BaseException) -> None:
        text = f"member {self.rank} failed while variables changed, and ends: {error}"
        print(f"playgrad: {text}", file=sys.stderr, flush=True)
        os._exit(_LEFT)

    def abandon(self, item: object) -> None:
        """Keep what belongs to a run that failed: MPI may still use its memory."""
        self._abandoned.append(item)

    def _gathered(self, content: bytes, call: str) -> list[bytes]:
        """Return the contents of all members, filled up to equal sizes: pickles know their end."""
        size, _ = self._meet(call, len(content))
        own = np.zeros(size, np.uint8)
        own[: len(content)] = np.frombuffer(content, np.uint8)
        everything = np.empty((self.size, size), np.uint8)
        self.wait(self._control.Iallgather(as_bytes(own), as_bytes(everything)))
        return [each.tobytes() for each in everything]

    def wait(self, request: MPI.Request, heeds_alarm: bool = False) -> None:
        """Wait until ``request`` is done.

        Args:
            heeds_alarm: whether to end the wait when another member's part of the run fails.

        Raises:
            PartFailedError: it did.
        """
        self._poll(request.Test, request if heeds_alarm else None)

    def _poll(self, is_done: Callable[[], bool], heeding: object | None) -> None:
        """Wait until ``is_done`` returns true.

        Args:
            heeding: what is abandoned when another member's part of the run fails; None to wait
                all the same.

        Raises:
            PartFailedError: it did.
        """
        turns = 0
        while not is_done():
            turns += 1
            if turns < _SPINS:
                os.sched_yield()
                continue
            if heeding is not None and self._is_hopeless():
                self.abandon(heeding)
                raise PartFailedError
            time.sleep(NAP if turns < 20 * _SPINS else _LONG_NAP)

    def _is_hopeless(self) -> bool:
        """Return whether this run cannot end well: a part has failed, or members differ."""
        if self._alarm.Iprobe(MPI.ANY_SOURCE, _ALARM):
            return True
        start = self._start
        return start is not None and start.is_done() and start.differs


def _caller() -> str:
    """Return a collective call in words: the method, and the function that calls it."""
    method, caller = sys._getframe(1).f_code, sys._getframe(2).f_code
    return f"{method.co_name} in {caller.co_qualname}"


def _packed(error: BaseException | None) -> bytes:
    try:
        return pickle.dumps(error)
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))


def _unpacked(content: bytes) -> BaseException | None:
    try:
        error: BaseException | None = pickle.loads(content)
    except Exception as problem:
        return RuntimeError(f"a member failed with an error that cannot be shown here: {problem}")
    return error
