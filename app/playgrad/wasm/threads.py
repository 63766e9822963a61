"""Work that several threads share: chunks of a job, each of which one of them takes.

One thread runs a step. At a job it notes what is to be done in *control words*, which all threads
see, and takes chunks like the others until none is left: a thread that comes late, or never, costs
nothing but its help. Chunks write to different places and none adds to another's results, so that
the number of threads changes no bit.

Control words are 64 bytes apart, so that no cache line is fought over. ``LIMIT`` has the number of
chunks in its lowest eight bits, ``NEXT`` the chunk that is taken next, and both the number of the
job above: a thread takes a chunk by raising ``NEXT`` with compare-and-exchange, which fails once
the job is another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.wasm.atomics import atomic_add, atomic_load, atomic_store, exchange_if, notify, wait
from playgrad.wasm.encoding import I32
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.scalars import scalar
from playgrad.wasm.values import StackValue, integer

_LINE = 64
MODULE, LIMIT, NEXT, DONE, SLEEPING, TRAPPED, JOB = (_LINE * line for line in range(7))
"""Offsets of control words: the number of the module that runs, 0 for none; the job and its chunks;
the chunk that is next; the chunks that are done; the threads that sleep; whether code of one has
trapped; which job it is."""
PRIVATE, STRIDE, ALONE, ARGUMENTS = JOB + 4, JOB + 8, JOB + 12, JOB + 16
"""The memory of the second thread, the distance to that of the third one, whether the first thread
does all work by itself, and the job's values."""
MOST_ARGUMENTS = 64
CONTROL_BYTES = ARGUMENTS + 4 * MOST_ARGUMENTS
MOST_CHUNKS = 255

_SPINS = 40_000
"""How often a thread looks before it sleeps, some tens of microseconds."""
_PATIENCE = 60
"""Seconds after which a chunk that does not come to an end is given up."""


@dataclass(frozen=True)
class ChunkCode:
    """A procedure that computes a chunk, being written.

    Attributes:
        arguments: the values that the job was started with.
        chunk: the number of the chunk.
        scratch: the address of memory that only this thread uses.
    """

    f: Procedure
    arguments: Sequence[Local]
    chunk: Local
    scratch: Local


class ThreadProcedures:
    """The procedures of jobs, in ``module``.

    Attributes:
        begin: has threads run this module: of the control words, the module's number, and the
            address and distance of their memory.
        fork: does a job: of the control words, its number, the number of chunks, and the address of
            memory of this thread.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._jobs: list[Procedure] = []
        self._dispatch = module.procedure([I32] * 4)
        self._take = self._write_take(module.procedure([I32] * 4))
        self.begin = _write_begin(module.procedure([I32] * 4))
        self.fork = self._write_fork(module.procedure([I32] * 4))
        self._write_work(module.procedure([I32] * 3, "work"))

    def job(self, count: int) -> tuple[int, ChunkCode]:
        """Add a job of so many arguments, to be written; return it with its number."""
        f = self._module.procedure([I32] * 3)
        control, chunk, scratch = f.arguments
        arguments = [f.copy(control.load(I32, ARGUMENTS + 4 * place)) for place in range(count)]
        self._jobs.append(f)
        return len(self._jobs) - 1, ChunkCode(f, arguments, chunk, scratch)

    def finish(self) -> None:
        """Write what needs all jobs."""
        f = self._dispatch
        number, *rest = f.arguments
        for place, job in enumerate(self._jobs):
            with f.when(number.equals(place)):
                f.call(job, *rest)
                f.leave()

    def _write_take(self, f: Procedure) -> Procedure:
        """Write what takes chunks of the current job: of the control words, the number of the
        module, that of the thread, and the memory of the first thread."""
        control, module, thread, scratch = f.arguments
        limit, ticket, more = f.local(I32), f.local(I32), f.copy(integer(1))
        with f.repeat_while(more):
            f.set(limit, atomic_load(control, LIMIT))
            # The job that `limit` names is this module's if the module is so afterwards.
            with f.when(scalar("i32.ne", atomic_load(control, MODULE), module)):
                f.leave()
            f.set(ticket, atomic_load(control, NEXT))
            is_current = _job_of(ticket).equals(_job_of(limit))
            is_left = scalar("i32.lt_u", ticket, limit)
            f.set(more, is_current & is_left)
            with f.when(more):
                seen = exchange_if(control, ticket, ticket + 1, NEXT)
                with f.when(seen.equals(ticket)):
                    chunk, place = ticket & MOST_CHUNKS, f.copy(scratch)
                    with f.when(thread):
                        # Not before the chunk is taken: until then another run may move it.
                        distance = control.load(I32, STRIDE) * (thread - 1)
                        f.set(place, control.load(I32, PRIVATE) + distance)
                    f.call(self._dispatch, control.load(I32, JOB), control, chunk, place)
                    done = f.copy(atomic_add(control, 1, DONE) + 1)
                    with f.when(done.equals(limit & MOST_CHUNKS)):
                        notify(f, control, DONE)
        return f

    def _write_fork(self, f: Procedure) -> Procedure:
        control, job, chunks, scratch = f.arguments
        with f.when(control.load(I32, ALONE)):
            with f.count(chunks) as chunk:
                f.call(self._dispatch, job, control, chunk, scratch)
            f.leave()
        f.store(control, job, JOB)
        atomic_store(f, control, 0, DONE)
        current = f.copy((_job_of(atomic_load(control, LIMIT)) + 1) * (MOST_CHUNKS + 1))
        atomic_store(f, control, current, NEXT)
        atomic_store(f, control, current + chunks, LIMIT)
        with f.when(atomic_load(control, SLEEPING)):
            notify(f, control, LIMIT)
        module = f.copy(atomic_load(control, MODULE))
        f.call(self._take, control, module, integer(0), scratch)
        done, spins, naps = f.local(I32), f.copy(integer(0)), f.copy(integer(0))
        f.set(done, atomic_load(control, DONE))
        with f.repeat_while(scalar("i32.ne", done, chunks)):
            f.add(spins, 1)
            with f.when(scalar("i32.gt_s", spins, _SPINS)):
                wait(f, control, done, DONE, 1)
                f.add(naps, 1)
                with f.when(scalar("i32.gt_s", naps, _PATIENCE)):
                    f.trap()
            f.set(done, atomic_load(control, DONE))
        with f.when(atomic_load(control, TRAPPED)):
            atomic_store(f, control, 0, TRAPPED)
            f.trap()
        return f

    def _write_work(self, f: Procedure) -> Procedure:
        """Write what another thread runs, until a module with another number runs: of the control
        words, the number of this module, and that of the thread, from 1 on."""
        control, module, thread = f.arguments
        limit, spins, seen = f.copy(integer(0)), f.local(I32), f.local(I32)
        with f.repeat_while(atomic_load(control, MODULE).equals(module)):
            f.set(spins, integer(0))
            f.set(seen, atomic_load(control, LIMIT))
            with f.repeat_while(seen.equals(limit)):
                f.add(spins, 1)
                with f.when(scalar("i32.gt_s", spins, _SPINS)):
                    f.emit(atomic_add(control, 1, SLEEPING).code + b"\x1a")
                    wait(f, control, limit, LIMIT, None)
                    f.emit(atomic_add(control, -1, SLEEPING).code + b"\x1a")
                f.set(seen, atomic_load(control, LIMIT))
            f.set(limit, seen)
            f.call(self._take, control, module, thread, integer(0))
        return f


def _write_begin(f: Procedure) -> Procedure:
    control, module, private, stride = f.arguments
    f.store(control, private, PRIVATE)
    f.store(control, stride, STRIDE)
    with f.when(scalar("i32.ne", atomic_load(control, MODULE), module)):
        atomic_store(f, control, module, MODULE)
        # A job without chunks, for the threads to see that the module is another one.
        empty = f.copy((_job_of(atomic_load(control, LIMIT)) + 1) * (MOST_CHUNKS + 1))
        atomic_store(f, control, empty, NEXT)
        atomic_store(f, control, empty, LIMIT)
        notify(f, control, LIMIT)
    return f


def _job_of(word: StackValue) -> StackValue:
    return scalar("i32.shr_u", word, 8)
