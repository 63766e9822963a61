"""Programs that are run with checkpoints, and resumed from them as by a new interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.graph.graph import reset_default_graph
from playgrad.runtime.hooks import Event, Hooks, set_hooks
from playgrad.runtime.options import Options, options_set
from playgrad.training.checkpoints import schedule as checkpoint_schedule
from playgrad.training.checkpoints.record import Checkpoint
from playgrad.training.checkpoints.run_record import RunRecord

Array = np.ndarray[Any, Any]


@dataclass
class Outcome:
    """The weights that a program has trained, and the checkpoints and events that it sent.

    Attributes:
        histories: of each fit.
        weights: of each model, at the end.
    """

    histories: list[pg.History]
    weights: list[dict[str, Array]]
    checkpoints: list[bytes] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


@dataclass
class Trained:
    """The result of a program: its models and the histories of its fits."""

    models: Sequence[Any]
    histories: list[pg.History]


Program = Callable[[], Trained]


class Listener(Hooks):
    """Hooks that record events, and stop training after a number of steps."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.events: list[Event] = []
        self.stop_at = stop_at

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def stopped(self) -> bool:
        steps = sum(len(event["points"]) for event in self.events if event["kind"] == "progress")
        return self.stop_at is not None and steps >= self.stop_at


def run(program: Program, resumed: bytes | None = None, stop_at: int | None = None) -> Outcome:
    """Run a program from the start, in a graph of its own; stop after ``stop_at`` steps."""
    checkpoint = None if resumed is None else Checkpoint.decode(resumed)
    sent: list[bytes] = []
    record = RunRecord(lambda each: sent.append(each.encode()), checkpoint)
    listener = Listener(stop_at)
    before = set_hooks(listener)
    reset_default_graph()
    try:
        with options_set(Options(record=record)):
            trained = program()
        record.flush()
    except KeyboardInterrupt:
        record.flush()
        return Outcome([], [], sent, listener.events)
    finally:
        set_hooks(before)
    weights = [model.named_weights() for model in trained.models]
    for model in trained.models:
        model.close()
    return Outcome(trained.histories, weights, sent, listener.events)


def expect_same(outcome: Outcome, undisturbed: Outcome) -> None:
    """Check that losses, metrics and weights are equal bit for bit."""
    assert len(outcome.histories) == len(undisturbed.histories)
    for one, other in zip(outcome.histories, undisturbed.histories, strict=True):
        assert one.names == other.names
        assert np.array_equal(one.steps, other.steps)
        assert one.history == other.history
        assert one.epoch == other.epoch
    for weights, expected in zip(outcome.weights, undisturbed.weights, strict=True):
        assert weights.keys() == expected.keys()
        for name, array in weights.items():
            assert np.array_equal(array, expected[name]), name


def often(patch: pytest.MonkeyPatch) -> None:
    """Send a checkpoint before every chunk of steps and after every fit."""
    patch.setattr(checkpoint_schedule, "FIRST_SECONDS", 0.0)
    patch.setattr(checkpoint_schedule, "INTERVAL_SECONDS", 0.0)
    patch.setattr(checkpoint_schedule, "LARGEST_SHARE", 1e9)
