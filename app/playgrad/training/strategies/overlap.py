"""Overlapping the successive steps of one device."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Self

from playgrad.errors import GraphError
from playgrad.graph.tensor import Node
from playgrad.parallel.unroll import unroll
from playgrad.runtime.session import RepeatResult, Session
from playgrad.runtime.trace import Trace
from playgrad.training.device_data import BatchStream
from playgrad.training.recipe import DistributionKey, Recipe, Speeds
from playgrad.training.step_graphs import HISTORY_ROWS, build_train_step
from playgrad.training.steps import TrainStep
from playgrad.training.strategies.base import Descriptor, Strategy, StrategyOption
from playgrad.training.variable_placement import place_variables


@dataclass(frozen=True)
class Overlap(Strategy):
    """Overlapping steps on one device: a step begins while the one before it is still running.

    On many devices steps are faster one after the other. So the first steps of a training are run
    in both ways in turn, and the others in the faster one, which the model remembers. The numbers
    are the same to the last bit.

    Args:
        steps: the number of steps in one run.
        always: overlap steps even where that is slower.

    Raises:
        GraphError: ``steps`` is below 1.
    """

    steps: int = 4
    always: bool = False

    descriptor = Descriptor(
        "overlap",
        "Overlapped steps",
        "The input of the next step is prepared while this one is computed. The result is the "
        "same.",
        (StrategyOption("every", "steps in one run of overlap"),),
    )

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise GraphError(f"steps must be ≥ 1, got {self.steps}.")

    @classmethod
    def from_options(cls, devices: int, every: int = 8, **options: Any) -> Self:
        return cls(every, **options)

    def build(self, recipe: Recipe, stream: BatchStream) -> TrainStep:
        step = build_train_step(recipe, stream)
        if stream.first is None:  # otherwise they are in place
            place_variables(recipe.network)
        count = min(self.steps, HISTORY_ROWS)
        key = DistributionKey(step.run, self)
        if key not in recipe.extra_nodes:
            recipe.extra_nodes[key] = unroll(step.run, count)
        speeds = None if self.always else recipe.speeds.setdefault(key, Speeds())
        return step.extended(
            OverlappedStep, run_many=recipe.extra_nodes[key], count=count, speeds=speeds
        )


@dataclass(frozen=True)
class OverlappedStep(TrainStep):
    """A step of which several can be one run.

    Attributes:
        run_many: the node that runs ``count`` steps.
        speeds: the speeds of ``count`` steps one after the other, and of ``run_many``; None always
            overlaps.
    """

    run_many: Node
    count: int
    speeds: Speeds | None

    @property
    def overlaps(self) -> bool:
        """True if steps overlap, as far as has been measured."""
        return self.speeds is None or self.speeds.chosen != 0

    @property
    def trace_length(self) -> int:
        return self.count if self.overlaps else 1

    def repeat(self, session: Session, steps: int) -> RepeatResult:
        measured, stopped = self._measure(session, steps)
        if stopped:
            return measured
        runs, rest = divmod(steps - measured.steps_done, self.count)
        if not self.overlaps:
            runs, rest = 0, steps - measured.steps_done
        overlapped = session.repeat(self.run_many, runs)
        done = measured.steps_done + overlapped.steps_done * self.count
        seconds = measured.seconds + overlapped.seconds
        if overlapped.steps_done < runs:
            return RepeatResult(done, seconds)
        single = session.repeat(self.run, rest)
        return RepeatResult(done + single.steps_done, seconds + single.seconds)

    def _measure(self, session: Session, steps: int) -> tuple[RepeatResult, bool]:
        """Run up to ``steps`` steps in both ways in turn, until one is chosen.

        Returns:
            The steps done, and whether a stop was requested.
        """
        done, seconds = 0, 0.0
        while self.speeds is not None and self.speeds.chosen is None and steps - done >= self.count:
            way = self.speeds.next_measured
            started = time.perf_counter()
            if way:
                run = session.repeat(self.run_many, 1)
                run_steps = run.steps_done * self.count
            else:
                run = session.repeat(self.run, self.count)
                run_steps = run.steps_done
            session.value(self.healthy)  # a GPU may still be at work
            elapsed = time.perf_counter() - started
            done, seconds = done + run_steps, seconds + elapsed
            if run_steps < self.count:
                return RepeatResult(done, seconds), True
            self.speeds.add(way, session.members.first_of(elapsed))
        return RepeatResult(done, seconds), False

    def finish(self) -> dict[str, Any]:
        if self.speeds is None or self.speeds.chosen is None:
            return {}
        alone, together = map(min, self.speeds.seconds)
        return {"overlap": f"{alone / together:.2f} × the speed of one step after the other"}

    def run_traced(self, session: Session, trace: Trace, most: int = 1) -> int:
        if most < self.count or not self.overlaps:
            return super().run_traced(session, trace)
        session.run(self.run_many, trace=trace)
        return self.count
