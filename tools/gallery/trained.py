"""A trained example: the names of its program, its output, and how each training went."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import playgrad as pg
from playgrad import paths
from tools.gallery.drawing import Picture

Painter = Callable[[Picture, "Trained"], None]
PAINTERS: dict[str, Painter] = {}
"""By name of the example."""


@dataclass(frozen=True)
class Trained:
    """The names, output and histories of an example that has ended.

    Attributes:
        names: the global names of the program.
        output: what it printed.
        histories: of all calls of `fit`, in order.
    """

    names: dict[str, Any]
    output: str
    histories: list[Any]

    def __getitem__(self, name: str) -> Any:
        return self.names[name]

    def number(self, pattern: str) -> str:
        """Return the first group of ``pattern`` in the output."""
        match = re.search(pattern, self.output)
        if match is None:
            raise ValueError(f"the example no longer prints {pattern!r}: {self.output[-400:]}")
        return match[1]


def train(name: str) -> Trained:
    """Run an example to its end."""
    path = paths.static() / "examples" / f"{name}.py"
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    names: dict[str, Any] = {"__name__": "__main__"}
    histories: list[Any] = []
    fit = pg.Model.fit

    def recorded(*arguments: Any, **named: Any) -> Any:
        histories.append(fit(*arguments, **named))
        return histories[-1]

    output = io.StringIO()
    pg.Model.fit = recorded  # type: ignore[method-assign]
    try:
        with contextlib.redirect_stdout(output):
            exec(code, names)
    finally:
        pg.Model.fit = fit  # type: ignore[method-assign]
    return Trained(names, output.getvalue(), histories)


def paints(*names: str) -> Callable[[Painter], Painter]:
    """Register the painter of the examples ``names``."""

    def register(painter: Painter) -> Painter:
        PAINTERS.update(dict.fromkeys(names, painter))
        return painter

    return register
