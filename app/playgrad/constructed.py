"""Objects that remember the arguments of their constructors, so that files can describe them."""

from __future__ import annotations

import inspect
from typing import Any, Self


class _Recorded:
    """Keeps what a constructor was called with."""

    _passed: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        self._passed = args, kwargs
        return self

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name; those left out are not among them."""
        args, kwargs = self._passed
        signature = inspect.signature(type(self).__init__)
        parameters = list(signature.parameters.values())
        bound = dict(list(signature.bind(self, *args, **kwargs).arguments.items())[1:])
        more = next((p.name for p in parameters if p.kind == p.VAR_KEYWORD), "")
        return bound | bound.pop(more, {})


class Constructed(_Recorded):
    """Base class of objects that remember the arguments of their constructors."""

    def __init__(self) -> None:
        """Take no arguments, unless a subclass does."""
