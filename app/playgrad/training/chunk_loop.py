"""Running steps in chunks, short enough that requests are answered soon."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playgrad.errors import DTypeError
from playgrad.optim import Optimizer, checked_rate
from playgrad.runtime.hooks import get_hooks
from playgrad.runtime.options import get_options
from playgrad.runtime.session import RepeatResult, Session
from playgrad.runtime.trace import Trace

CHUNK_SECONDS = 0.08
"""The most that a chunk of steps should take; requests are answered between chunks."""
ENDLESS = sys.maxsize
"""The number of steps if the end is not known beforehand."""
_GROWTH = 4
_IDLE_SECONDS = 0.05


class Watch:
    """Answers requests between chunks: pause, resume, step, stop, set the learning rate.

    Attributes:
        between_chunks: called before each chunk of steps, and now and then during a pause.
        epoch_left: returns the number of steps to the end of the running epoch, or of the next one.
        steps_done: returns the number of steps of the fit that are done.
        longest_chunk: returns the most steps that the next chunk may have.
    """

    def __init__(self, session: Session, optimizer: Optimizer | None) -> None:
        self.session = session
        self.optimizer = optimizer
        self.hooks = get_hooks()
        self.paused = False
        self.steps_allowed = 0
        self.seconds_paused = 0.0
        self.between_chunks: Callable[[], None] = lambda: None
        self.epoch_left: Callable[[], int] = lambda: 1
        self.steps_done: Callable[[], int] = lambda: 0
        self.longest_chunk: Callable[[], int] = lambda: ENDLESS
        if optimizer is not None and get_options().start_paused:
            self._pause(True)

    @contextmanager
    def over_session(self) -> Iterator[None]:
        """Have the session check for a stop between steps on the device as well."""
        before = self.session.stop_check
        self.session.stop_check = self.hooks.stopped
        try:
            with self.session.work_in_progress():
                yield
        finally:
            self.session.stop_check = before

    def attend(self, waits: bool = True) -> None:
        """Answer the requests that have arrived; wait here while paused.

        Args:
            waits: whether to wait. The evaluation at the end of an epoch does not: it belongs to
                the last step.

        Raises:
            KeyboardInterrupt: a stop was requested.
        """
        started = time.perf_counter()
        while True:
            for request in self.hooks.poll():
                self._answer(request)
            if any(self.session.members.all_of(self.hooks.stopped())):
                raise KeyboardInterrupt("training was stopped")
            self.between_chunks()
            if not (self.paused and waits) or self.steps_allowed:
                break
            self.hooks.wait(_IDLE_SECONDS)
            self.seconds_paused += time.perf_counter() - started
            started = time.perf_counter()

    def _answer(self, request: dict[str, Any]) -> None:
        kind = request.get("kind")
        if kind == "pause":
            self._pause(True)
        elif kind == "resume":
            self._pause(False)
        elif kind == "step":
            self._pause(True)
            self._allow(request.get("unit"))
        elif kind == "set_learning_rate":
            self._set_learning_rate(request.get("value"))
        else:
            self.hooks.serve(request)

    def _allow(self, unit: Any) -> None:
        if unit == "epoch":
            self.steps_allowed = max(self.steps_allowed, self.epoch_left())
        else:
            self.steps_allowed += 1

    def epoch_ended(self) -> None:
        """End a step that was to last until now: the length of the epoch was not known."""
        if self.epoch_left() == ENDLESS:
            self.steps_allowed = 0

    def _pause(self, paused: bool) -> None:
        if not paused:
            self.steps_allowed = 0
        if paused != self.paused:
            self.paused = paused
            self.hooks.emit({"kind": "status", "state": "paused" if paused else "running"})

    def pause(self) -> None:
        """Pause before the next chunk, until a request to continue."""
        self._pause(True)

    def _set_learning_rate(self, value: Any) -> None:
        if self.optimizer is None:
            return
        variable = self.optimizer.learning_rate
        before = float(self.session.value(variable))
        try:
            self.session.assign({variable: checked_rate(value)})
        except (ValueError, DTypeError) as error:
            self.hooks.emit({"kind": "stderr", "text": f"{error}\n"})
            return
        after = float(self.session.value(variable))
        if after != before:
            setting = {"name": "learning rate", "before": before, "after": after}
            self.hooks.emit({"kind": "setting", "step": self.steps_done(), **setting})

    def allowance(self, steps: int) -> int:
        """Return how many of ``steps`` steps may be run now: while paused, the requested ones."""
        return min(steps, self.steps_allowed or steps)

    def used(self, steps: int) -> None:
        """Count ``steps`` training steps that were run."""
        self.steps_allowed = max(0, self.steps_allowed - steps)


class ChunkSizer:
    """Sizes chunks by measured speed: from 1 step, growing while they are short enough."""

    def __init__(self, largest: int, seconds: float = CHUNK_SECONDS) -> None:
        self.largest = largest
        self.seconds = seconds
        self.size = 1

    def measured(self, steps: int, seconds: float) -> None:
        """Set the next size after a chunk of ``steps`` steps took ``seconds``."""
        fitting = int(self.seconds * steps / max(seconds, 1e-9))
        self.size = max(1, min(fitting, _GROWTH * self.size, self.largest))


def _new_trace(watch: Watch) -> Trace | None:
    """Return a trace if a hook of the first member asks for one."""
    trace = watch.hooks.new_trace()
    return (trace or Trace()) if watch.session.members.first_of(trace is not None) else None


def run_steps(
    watch: Watch,
    sizer: ChunkSizer,
    repeat: Callable[[int], RepeatResult],
    steps: int,
    after: Callable[[int], None],
    training: bool,
    run_traced: Callable[[Trace, int], int] | None = None,
    ended: Callable[[], bool] = lambda: False,
) -> None:
    """Run ``steps`` steps in chunks.

    Args:
        repeat: runs a number of steps.
        after: is called with the number of steps of each chunk.
        run_traced: traces up to the given number of steps if a hook asks for it, and
            returns how many.
        ended: whether to end before ``steps`` steps, asked before each chunk.

    Raises:
        KeyboardInterrupt: a stop was requested.
    """
    done = 0
    while done < steps and not ended():
        watch.attend(waits=training or watch.optimizer is None)
        size = min(sizer.size, steps - done)
        if training:
            size = min(watch.allowance(size), watch.longest_chunk())
        trace = _new_trace(watch) if run_traced is not None else None
        started = time.perf_counter()
        if run_traced is not None and trace is not None:
            chunk = run_traced(trace, watch.allowance(steps - done))
        else:
            chunk = repeat(size).steps_done
        after(chunk)
        seconds = watch.session.members.first_of(time.perf_counter() - started)
        if trace is None:
            sizer.measured(max(chunk, 1), seconds)
        elif chunk:  # otherwise a stop came first
            watch.hooks.traced(trace, chunk, seconds)
        done += chunk
        if training:
            watch.used(chunk)
