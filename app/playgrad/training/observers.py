"""Observers of trainings, which are called between a fit's chunks of steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from playgrad.runtime.options import get_options
from playgrad.training.callbacks import Callback

TrainingLoop = Any
"""The class in ``training_loop``, which imports this module."""


class Observer(Protocol):
    """Watches trainings between their chunks of steps, and must not change them."""

    def begin(self, loop: TrainingLoop) -> None:
        """Begin to watch a fit."""

    def between_chunks(self, loop: TrainingLoop) -> None:
        """Examine the training, which may be paused."""

    def lost(self, loop: TrainingLoop) -> bool:
        """Learn that a loss was not finite. Return whether to pause before the error."""
        ...

    def end(self, loop: TrainingLoop, completed: bool) -> None:
        """Learn that the fit has ended."""


class Observers:
    """Several observers, which are told everything in their order."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = tuple(observers)

    @classmethod
    def of(cls, callbacks: Sequence[Callback]) -> Observers:
        """Return the observers of a fit, from the options and from its callbacks."""
        everything = [get_options().observer, *(callback.observer for callback in callbacks)]
        return cls([observer for observer in everything if observer is not None])

    def begin(self, loop: TrainingLoop) -> None:
        """Begin to watch a fit."""
        for observer in self._observers:
            observer.begin(loop)

    def between_chunks(self, loop: TrainingLoop) -> None:
        """Examine the training, which may be paused."""
        for observer in self._observers:
            observer.between_chunks(loop)

    def lost(self, loop: TrainingLoop) -> bool:
        """Learn that a loss was not finite. Return whether any of them pauses before the error."""
        answers = [observer.lost(loop) for observer in self._observers]  # all of them are told
        return any(answers)

    def end(self, loop: TrainingLoop, completed: bool) -> None:
        """Learn that the fit has ended."""
        for observer in self._observers:
            observer.end(loop, completed)
