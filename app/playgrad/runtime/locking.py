"""Objects that several threads share, one at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class HasLock(Protocol):
    """An object with a reentrant lock."""

    @property
    def lock(self) -> AbstractContextManager[Any]: ...


S = TypeVar("S", bound=HasLock)
P = ParamSpec("P")
R = TypeVar("R")


def exclusive(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Decorate a method that holds its object's ``lock``."""

    @wraps(method)
    def locked(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.lock:
            return method(self, *args, **kwargs)

    return locked
