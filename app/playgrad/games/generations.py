"""Generations as the epochs of a training: games before each, a match after some."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Protocol

from playgrad.games.ratings import Rating
from playgrad.training.callbacks import Callback, Logs
from playgrad.training.chunk_loop import Watch


class Learner(Protocol):
    """The part of `SelfPlay` that a training needs."""

    watch: Watch | None

    def play_generation(self) -> None: ...

    def end_generation(self) -> None: ...

    def play_match(self) -> Rating | None: ...

    def state(self) -> dict[str, Any]: ...

    def take_state(self, state: Mapping[str, Any]) -> None: ...


class Generations(Callback):
    """Lets a `SelfPlay` play its games and matches between the epochs of its model's training.

    Args:
        seconds: no epoch begins after this time; None for no limit.
    """

    def __init__(self, learner: Learner, seconds: float | None) -> None:
        self.learner = learner
        self.seconds = seconds
        self._started = time.monotonic()

    def on_train_begin(self, logs: Logs) -> None:
        self.learner.watch = self.model.training_loop.watch  # type: ignore[attr-defined]

    def on_epoch_begin(self, epoch: int, logs: Logs) -> None:
        self._play_match({})  # one that a stop or a checkpoint has interrupted
        self.learner.play_generation()

    def on_epoch_end(self, epoch: int, logs: Logs) -> None:
        self.learner.end_generation()
        self._play_match(logs)
        if self.seconds is not None and time.monotonic() - self._started > self.seconds:
            self.model.stop_training = True

    def on_train_end(self, logs: Logs) -> None:
        self.learner.watch = None

    def on_train_interrupted(self, error: BaseException) -> None:
        self.learner.watch = None

    def _play_match(self, logs: Logs) -> None:
        rating = self.learner.play_match()
        if rating is None:
            return
        logs["elo"] = rating.elo
        loop = self.model.training_loop  # type: ignore[attr-defined]
        # Beside the log, because a match that a stop interrupted is played in the next epoch.
        loop.watch.hooks.emit(
            {
                "kind": "rating",
                "step": loop.done,
                "generation": rating.generation,
                "games": rating.games,
                "elo": rating.elo,
                "is_best": rating.is_best,
            }
        )

    def get_state(self) -> dict[str, Any]:
        return self.learner.state()

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.learner.take_state(state)
