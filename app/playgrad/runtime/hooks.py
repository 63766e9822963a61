"""Hooks by which a training loop communicates with its observer: the page or the command line."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.errors import CheckpointError, DeviceLostError
from playgrad.runtime.trace import Trace

Array = np.ndarray[Any, Any]
Event = dict[str, Any]
Request = dict[str, Any]


class Hooks:
    """Hooks that do nothing. Training calls its hooks between chunks of steps."""

    def emit(self, event: Event) -> None:
        """Receive an event, such as ``{"kind": "progress", ...}``."""

    def figure(self, figure: dict[str, Any]) -> bool:
        """Show a figure of the program. Return whether that is possible here."""
        return False

    def before_training(self) -> None:
        """Called before anything is prepared for a fit; raises an error if none may begin now."""

    def preparing(self, program: Program, policy: Policy) -> None:
        """Called before a session compiles ``program``, whose operations ``policy`` places."""

    def ran(self, session: Any, program: Program, feeds: Mapping[str, Array]) -> None:
        """Called after ``session`` has run ``program``, with the arrays that were fed, by name."""

    def closing(self, session: Any) -> None:
        """Called before a session is closed: its variables still have values."""

    def fitting(self, model: Any) -> None:
        """Called before ``model``, which is compiled and has its variables, is trained."""

    def playing(self, player: Any) -> None:
        """Called when a program has made ``player``, which learns a game by playing itself."""

    def looping(self, model: Any) -> None:
        """Called before a function of a program's own loop first writes variables of ``model``."""

    def trial_pool(self, function: Callable[..., Any]) -> Any:
        """Called when a sweep of ``function`` begins. Return what runs its trials in place of
        processes; None if processes can."""
        return None

    def poll(self) -> list[Request]:
        """Return the requests that have arrived, such as ``{"kind": "pause"}``, without waiting."""
        return []

    def wait(self, timeout: float) -> None:
        """Wait up to ``timeout`` seconds for a request to arrive."""
        time.sleep(timeout)

    def stopped(self) -> bool:
        """Return whether training should end. Also called between steps on the device."""
        return False

    def interrupts(self) -> bool:
        """Return whether a stop should end the program's work outside of training. Called between
        the operations of a run."""
        return False

    def interrupted(self) -> None:
        """Called when KeyboardInterrupt has been raised, after which `interrupts` is False: what
        the program then does to end, such as to save its weights, is not interrupted again."""

    def new_trace(self) -> Trace | None:
        """Return a trace for the next step, or None. Called before each chunk of steps.

        Where several steps run together, all of them are traced.
        """
        return None

    def traced(self, trace: Trace, steps: int, seconds: float) -> None:
        """Receive ``trace``, which `new_trace` returned, with the events of ``steps`` steps."""

    def unsaved(self, error: CheckpointError) -> None:
        """Called when a checkpoint of a run could not be saved, and training continues."""

    def continues(self, error: DeviceLostError) -> bool:
        """Return whether training continues by itself, from the step that ``error`` names."""
        return False

    def serve(self, request: Request) -> None:
        """Answer a request that does not concern training, such as a prediction."""


_current = Hooks()


def get_hooks() -> Hooks:
    """Return the current hooks."""
    return _current


def set_hooks(hooks: Hooks) -> Hooks:
    """Set the current hooks; return the previous ones."""
    global _current
    previous, _current = _current, hooks
    return previous
