"""Tasks, the units of work that the executor schedules, and the table of what they wait for."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from playgrad.compiler.segments import Segment
from playgrad.devices.pending import Delay, Pending
from playgrad.runtime.trace import Trace, delay_event

Attend = Callable[[], bool]
"""Serves other devices meanwhile. Returns whether to stop."""

Coroutine = Callable[[float, "Trace | None", Attend], Generator[Pending, None, None]]
"""``coroutine(queued, trace, attend)`` begins work and yields each `Pending` that must be done
before it continues. ``queued`` is when the task became ready; the coroutine adds its own events to
``trace``. Without a trace, it begins all of its work before it yields. While it computes on the
thread that runs it, it calls ``attend`` now and then."""


def never() -> bool:
    """An `Attend` for a thread that nobody else waits for."""
    return False


@dataclass
class Task:
    """A unit of work.

    Attributes:
        after: positions of the tasks in the same list that must end before this one begins.
        heavy: worth handing over to another thread.
        kind: the kind of its event in a trace.
        final: it changes variables. Once such a task has begun, a run is completed as far as
            possible.
    """

    name: str
    device: str
    work: Callable[[], None]
    after: tuple[int, ...] = ()
    heavy: bool = False
    kind: str = "forward"
    final: bool = field(default=False, kw_only=True)


def _nothing() -> None:
    """Do nothing."""


@dataclass
class SegmentTask(Task):
    """A segment of a device.

    Attributes:
        coroutine: does the work, in the place of ``work``.
        give_up: called when the task does not end and nothing waits for it any more.
        previous: position of the device's previous segment, one of ``after``. A device runs its
            segments in order, so this one may be queued as soon as that one has begun.
        here: whether the coroutine computes on the thread that runs it. Others begin work
            elsewhere.
    """

    work: Callable[[], None] = _nothing
    give_up: Callable[[], None] = _nothing
    coroutine: Coroutine = field(kw_only=True)
    segment: Segment | None = None
    previous: int | None = None
    here: bool = False


def delayed(
    task: SegmentTask, seconds: float, queued: float, trace: Trace | None, attend: Attend
) -> Generator[Pending, None, None]:
    """Run the coroutine of ``task`` after a delay, which is an event of ``trace``, too."""
    if seconds:
        start = time.perf_counter()
        yield Delay(seconds)
        if trace is not None:
            trace.events.append(delay_event(task.name, task.device, start, time.perf_counter()))
    yield from task.coroutine(queued, trace, attend)


class ReadyTable:
    """The number of predecessors that each task, real or simulated, still waits for.

    Args:
        after: for each task the positions of the tasks that must end before it.

    Attributes:
        left: number of tasks that have not ended.
    """

    def __init__(self, after: Sequence[Sequence[int]]) -> None:
        self._missing = [len(set(before)) for before in after]
        self._followers: list[list[int]] = [[] for _ in after]
        for number, before in enumerate(after):
            for earlier in set(before):
                self._followers[earlier].append(number)
        self.left = len(after)

    def first(self) -> list[int]:
        """Return the tasks without predecessors."""
        return [number for number, missing in enumerate(self._missing) if missing == 0]

    def finished(self, number: int) -> list[int]:
        """Note that a task has ended; return the tasks that this makes ready."""
        self.left -= 1
        return [follower for follower in self._followers[number] if self._one_less(follower)]

    def remove_edge(self, number: int, follower: int) -> bool:
        """Make ``follower`` stop waiting for task ``number``, which has not ended; return whether
        ``follower`` is ready now."""
        self._followers[number].remove(follower)
        return self._one_less(follower)

    def _one_less(self, follower: int) -> bool:
        self._missing[follower] -= 1
        return self._missing[follower] == 0
