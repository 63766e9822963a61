"""Whether the call of a layer is part of a training step, for the layers that it calls."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Context(threading.local):
    training: bool | None = None


_context = _Context()


@contextmanager
def training_context(training: bool | None) -> Iterator[bool]:
    """Make ``training`` the default of calls within the block.

    Yields:
        The default in use: ``training``, or for None the default outside of the block.
    """
    before = _context.training
    _context.training = bool(before if training is None else training)
    try:
        yield _context.training
    finally:
        _context.training = before


def call_arguments(call: Any, training: bool, options: dict[str, Any]) -> dict[str, Any]:
    """Return ``options`` for a method ``call``, with ``training`` if it takes that."""
    return {**options, "training": training} if _takes_training(call.__func__) else options


@functools.cache
def _takes_training(function: Any) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == "training" or p.kind is p.VAR_KEYWORD for p in parameters)
