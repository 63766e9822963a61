"""What the host of a program decides in its place: the command line's flags, the page's switches.

A script says ``model.fit(x, y, epochs=5)``; ``playgrad train script.py --epochs 1`` sets an option
and the script runs for one epoch without a change. None leaves the script its own choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playgrad.runtime.trace import Trace

SINGLE = "single"
"""In the place of a strategy: none, whatever the program says."""


@dataclass(frozen=True)
class Options:
    """Overrides of what a program says.

    Attributes:
        device: "cpu" or "gpu", for models.
        epochs: for every ``fit``.
        steps: for every ``fit``: exactly so many steps, whatever the epochs.
        batch_size: for every ``fit``.
        seed: of the graphs of models.
        verbose: for every ``fit``.
        start_paused: whether ``fit`` waits for a resume before its first step.
        strategy: for all models; or `SINGLE`.
        placement: for all models, in the place of a strategy.
        trace: collects when the tasks of one training step ran, at the end of ``fit``.
    """

    device: str | None = None
    epochs: int | None = None
    steps: int | None = None
    batch_size: int | None = None
    seed: int | None = None
    verbose: int | None = None
    start_paused: bool = False
    strategy: Any = None
    placement: Any = None
    trace: Trace | None = None


_current = Options()


def get_options() -> Options:
    """The options in force."""
    return _current


def set_options(options: Options) -> Options:
    """Put ``options`` in force and return those that were."""
    global _current
    before, _current = _current, options
    return before


@contextmanager
def options_set(options: Options) -> Iterator[Options]:
    """Options in force within the block."""
    before = set_options(options)
    try:
        yield options
    finally:
        set_options(before)
