"""The training step over arrays whose number is not a multiple of the batch.

The last batch of each round is smaller, and has a step of its own. All steps record in the same
place.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.ops.state import Variable
from playgrad.parallel.parameter_server import ParameterServer
from playgrad.runtime.session import RepeatResult, Session
from playgrad.runtime.trace import Trace
from playgrad.training.steps import TrainStep

Array = np.ndarray[Any, Any]
_LAST = "last batch"


def with_last(full: TrainStep, last: TrainStep, length: int) -> RoundStep:
    """Return ``full`` with ``last``, the step over the last batch of a round of ``length``."""
    last.join(full)
    both: RoundStep = full.extended(RoundStep, full=full, last=last, length=length)
    return both


@dataclass(frozen=True)
class RoundStep(TrainStep):
    """A training step over full batches, and a smaller one at the end of each round.

    Attributes:
        full, last: the steps over the two kinds of batches.
        length: the steps of a round.
        place: the number of steps done, and whether the latest was over a last batch.
        earlier: the number of steps before this training that belong to its first round or
            rounds.
    """

    full: TrainStep
    last: TrainStep
    length: int
    place: list[int] = field(default_factory=lambda: [0, 0])
    earlier: list[int] = field(default_factory=lambda: [0])

    @property
    def _current(self) -> TrainStep:
        """The step that ran last."""
        return self.last if self.place[1] else self.full

    @property
    def synchronizes(self) -> bool:
        return self.full.synchronizes

    @property
    def replica_flags(self) -> dict[str, Variable]:
        return self.full.replica_flags

    @property
    def parameter_server(self) -> ParameterServer | None:
        return self.full.parameter_server

    @property
    def trace_length(self) -> int:
        return self.full.trace_length

    @property
    def _left(self) -> int:
        """The number of full batches before the next smaller one."""
        return self.length - 1 - (self.earlier[0] + self.place[0]) % self.length

    def begin(self, session: Session, first: int, done: int, earlier: int = 0) -> None:
        super().begin(session, first, done, earlier)
        self.place[0], self.earlier[0] = done, earlier

    def samples_of(self, first: int, count: int) -> Array:
        steps = self.earlier[0] + first + np.arange(count)
        is_last = steps % self.length == self.length - 1
        return np.where(is_last, self.last.batch, self.full.batch)

    def _next(self, session: Session, most: int) -> tuple[TrainStep, int]:
        """Return the next step to run, and how often, at most ``most`` times."""
        count = min(most, self._left)
        step = self.full if count else self.last
        if step is not self._current:
            self._current.synchronize(session)
        self.place[1] = int(step is self.last)
        return step, count or 1

    def repeat(self, session: Session, steps: int) -> RepeatResult:
        started = time.perf_counter()
        done = 0
        while done < steps:
            step, count = self._next(session, steps - done)
            ran = step.repeat(session, count).steps_done
            self.place[0] += ran
            done += ran
            if ran < count:  # a stop came first
                break
        return RepeatResult(done, time.perf_counter() - started)

    def run_traced(self, session: Session, trace: Trace, most: int = 1) -> int:
        steps = min(most, self.trace_length)
        done = 0
        while done < steps:
            step, count = self._next(session, steps - done)
            ran = step.run_traced(session, trace, count)
            self.place[0] += ran
            done += ran
            if not ran:  # a stop came first
                break
        return done

    def synchronize(self, session: Session) -> None:
        self._current.synchronize(session)

    @property
    def replicas_agree(self) -> bool:
        return self._current.replicas_agree

    def resume_state(self) -> dict[str, int]:
        return {**self._current.resume_state(), _LAST: self.place[1]}

    def resume(self, session: Session, state: Mapping[str, int]) -> None:
        self.place[1] = state.get(_LAST, 0)
        self._current.resume(session, state)

    def finish(self) -> dict[str, Any]:
        reports = [step.finish() for step in (self.full, self.last)]
        return reports[0]
