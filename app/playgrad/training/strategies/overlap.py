"""Overlapping the successive steps of one device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from playgrad.errors import GraphError
from playgrad.graph.tensor import Node
from playgrad.parallel.unroll import unroll
from playgrad.runtime.session import RepeatResult, Session
from playgrad.runtime.trace import Trace
from playgrad.training.device_data import BatchStream
from playgrad.training.recipe import DistributionKey, Recipe
from playgrad.training.step_graphs import HISTORY_ROWS, build_train_step
from playgrad.training.steps import TrainStep
from playgrad.training.strategies.base import Descriptor, Strategy, StrategyOption
from playgrad.training.variable_placement import place_variables


@dataclass(frozen=True)
class Overlap(Strategy):
    """Overlapping steps on one device: a step begins while the one before it is still running.

    Args:
        steps: the number of steps in one run.

    Raises:
        GraphError: ``steps`` is below 1.
    """

    steps: int = 4

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
        return step.extended(OverlappedStep, run_many=recipe.extra_nodes[key], count=count)


@dataclass(frozen=True)
class OverlappedStep(TrainStep):
    """A step of which several can be one run.

    Attributes:
        run_many: the node that runs ``count`` steps.
    """

    run_many: Node
    count: int

    @property
    def trace_length(self) -> int:
        return self.count

    def repeat(self, session: Session, steps: int) -> RepeatResult:
        runs, rest = divmod(steps, self.count)
        overlapped = session.repeat(self.run_many, runs)
        if overlapped.steps_done < runs:
            return RepeatResult(overlapped.steps_done * self.count, overlapped.seconds)
        single = session.repeat(self.run, rest)
        done = runs * self.count + single.steps_done
        return RepeatResult(done, overlapped.seconds + single.seconds)

    def run_traced(self, session: Session, trace: Trace, most: int = 1) -> int:
        if most < self.count:
            return super().run_traced(session, trace)
        session.run(self.run_many, trace=trace)
        return self.count
