"""Tasks: the pieces of work of which a program that is run consists."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from playgrad.compiler.segments import Segment
from playgrad.devices.pending import Pending
from playgrad.runtime.trace import Trace


@dataclass
class Task:
    """A piece of work. ``after`` are positions of tasks in the same list that must end before."""

    name: str
    device: str
    work: Callable[[], None]
    after: tuple[int, ...] = ()
    heavy: bool = False
    kind: str = "forward"


def _nothing() -> None:
    """A segment's work is its ``steps``; and not every device needs to know that it is given up."""


@dataclass
class SegmentTask(Task):
    """A device's segment: ``steps(queued, trace)`` begins work and yields what is to be waited for
    before it goes on. It notes its own events. ``give_up`` is called when it does not come to an
    end and nobody waits for it any more.

    ``behind`` is the device's earlier segment, one of ``after``. A device does its segments in
    order, so it may be given this one when that has begun: without a trace, steps begin all of
    their work before they yield."""

    work: Callable[[], None] = _nothing
    give_up: Callable[[], None] = _nothing
    steps: Callable[[float, Trace | None], Generator[Pending, None, None]] = field(kw_only=True)
    segment: Segment | None = None
    behind: int | None = None
