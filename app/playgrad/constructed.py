"""Objects that remember the arguments of their constructors, so that files can describe them."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Self


def _show_signature(cls: type) -> None:
    """Have `inspect.signature` return what ``__init__`` of a class takes.

    Python before 3.11.7 prefers ``__new__``, in whichever base class that is defined.
    """
    if sys.version_info < (3, 11, 7):
        signature = inspect.signature(cls.__init__)  # type: ignore[misc]
        own = list(signature.parameters.values())[1:]
        cls.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]


class Recorded:
    """Keeps what a constructor was called with. A class below it has the ``__init__``."""

    _passed: tuple[tuple[Any, ...], dict[str, Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _show_signature(cls)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        self._passed = args, kwargs
        return self


class Constructed(Recorded):
    """Base class of objects that remember the arguments of their constructors."""

    def __init__(self) -> None:
        """Take no arguments, unless a subclass does."""

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name, without omitted ones."""
        args, kwargs = self._passed
        signature = inspect.signature(type(self).__init__)
        parameters = list(signature.parameters.values())
        bound = dict(list(signature.bind(self, *args, **kwargs).arguments.items())[1:])
        more = next((p.name for p in parameters if p.kind == p.VAR_KEYWORD), "")
        return bound | bound.pop(more, {})
