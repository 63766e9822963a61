"""What a sweep trains: a program, or a function."""

from __future__ import annotations

import base64
import hashlib
import inspect
import sys
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from playgrad.errors import GraphError
from playgrad.sweeps.program_settings import with_settings
from playgrad.sweeps.space import Value


@dataclass(frozen=True)
class Subject:
    """What is trained.

    Attributes:
        name: in words.
        program: the path of a program; None for a function.
        source: the program's text, or the pickled function in Base64.
        digest: of the text; of a function that has none, whose pickle differs each time, its name.
    """

    name: str
    program: str | None
    source: str
    digest: str

    @classmethod
    def of_program(cls, path: Path) -> Subject:
        with tokenize.open(path) as file:  # in the encoding that it declares
            source = file.read()
        return cls(path.stem, str(path.absolute()), source, _digest(source))

    @classmethod
    def of_function(cls, function: Callable[..., Any], sent: bool = True) -> Subject:
        """Return a function as a subject.

        Args:
            sent: whether trials get it by value; otherwise the source is empty.

        Raises:
            GraphError: cloudpickle is not installed, or cannot pickle the function.
        """
        name = getattr(function, "__name__", type(function).__name__)
        named = function.func if isinstance(function, partial) else function
        try:
            digest = _digest(inspect.getsource(named))
        except (OSError, TypeError):
            digest = name
        return cls(name, None, _pickled(function, name, named) if sent else "", digest)

    def with_settings(self, settings: Mapping[str, Value]) -> str:
        """Return the text to run with ``settings``."""
        if self.program is None:
            return self.source
        return with_settings(self.source, dict(settings), self.name)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _pickled(function: Callable[..., Any], name: str, named: Any) -> str:
    """Return ``function`` pickled by value, in Base64.

    Raises:
        GraphError: cloudpickle is not installed, or cannot pickle the function.
    """
    try:
        import cloudpickle  # of functions that are not in a module, too
    except ImportError:
        raise GraphError(
            "pg.sweep sends the function to other processes with cloudpickle.",
            hint="Install it: pip install 'playgrad[sweep]'",
        ) from None
    module = sys.modules.get(getattr(named, "__module__", None) or "")
    try:
        # By value, because other processes may not find its module: that of a test, a notebook.
        if module is not None:
            cloudpickle.register_pickle_by_value(module)
        pickled = cloudpickle.dumps(function)
    except Exception as error:  # of any object that the function refers to
        raise GraphError(
            f"{name} cannot be sent to another process: {error}",
            hint="Make models and data inside the function.",
        ) from None
    finally:
        if module is not None:
            cloudpickle.unregister_pickle_by_value(module)
    return base64.b64encode(pickled).decode()
