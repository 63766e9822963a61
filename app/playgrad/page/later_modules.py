"""Modules of the standard library that few programs import: the page fetches them when one does."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from playgrad.io.whole_files import write_whole
from playgrad.standard_library import comes_later

NAME = "python_stdlib_later.zip"
"""The archive's name in Python's file system."""


class LaterModules:
    """Finds them, as a finder in ``sys.meta_path``, before that of modules in files.

    There a folder of the same name, such as ``trace/``, would be a package without modules: Python
    takes it for one only if nothing else has that name.

    Args:
        fetch: loads the archive of the modules. Raises OSError if it cannot.
        folder: where the archive is kept; by default beside the rest of the library.
    """

    def __init__(self, fetch: Callable[[], memoryview | bytes], folder: Path | None = None) -> None:
        self._fetch = fetch
        self._archive = (folder or Path(os.__file__).parents[1]) / NAME

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module is in the archive; None if it does not belong there.

        Raises:
            ModuleNotFoundError: the archive cannot be fetched.
            LookupError: the same, for an encoding: Python would remember it as unknown.
            KeyboardInterrupt: a stop was requested, which ends the wait.
        """
        if not comes_later(name):
            return None
        own = PathFinder.find_spec(name, path, target)
        if own is not None and own.loader is not None:
            return own  # of the program, or of a package that comes later
        if not self._archive.is_file():
            try:
                write_whole(self._archive, self._fetch())
            except OSError as error:
                if name.startswith("encodings."):
                    raise LookupError(f"No encoding {name[10:]!r}: {error}") from None
                problem = f"No module named {name!r}: {error}"
                raise ModuleNotFoundError(problem, name=name) from None
        package = name.rpartition(".")[0].replace(".", "/")
        return PathFinder.find_spec(name, [str(self._archive / package)], target)
