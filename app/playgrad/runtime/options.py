"""Options that override a program's arguments: the command line's flags, the page's switches.

``playgrad train script.py --epochs 1`` sets an option, and a script that calls
``model.fit(x, y, epochs=5)`` trains for one epoch. An option that is None overrides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playgrad.runtime.trace import Trace

SINGLE = "single"
"""The strategy of training on one device, whatever the program says."""


@dataclass(frozen=True)
class Options:
    """Values that override the program's.

    Attributes:
        device: "cpu" or "gpu", for models, and for sessions that are opened on "auto".
        precision: "float32" or "mixed", for models, and for sessions that are opened without one.
        epochs: for every ``fit``.
        steps: number of steps for every ``fit``, in place of the epochs.
        batch_size: for every ``fit``.
        seed: for the graphs of models.
        verbose: for every ``fit``.
        phrases: the texts of `playgrad.runtime.phrases` in another language, by their names.
        start_paused: ``fit`` waits for a resume before its first step.
        strategy: for all models, or `SINGLE`.
        fallback_strategy: for models that have neither a strategy nor a placement.
        placement: for all models, in place of a strategy.
        trace: collects the events of one training step at the end of ``fit``.
        record: a `RunRecord` of every ``fit``, which makes checkpoints and resumes from one.
        observer: an `Observer` of every ``fit``, such as an `Inspector`, which looks for illnesses;
            `Observers` are several.
        keeps_data: models keep references to the data of their last ``fit``, so that any sample
            of it can be inspected.
    """

    device: str | None = None
    precision: str | None = None
    epochs: int | None = None
    steps: int | None = None
    batch_size: int | None = None
    seed: int | None = None
    verbose: int | None = None
    phrases: Mapping[str, str] = field(default_factory=dict)
    start_paused: bool = False
    strategy: Any = None
    fallback_strategy: Any = None
    placement: Any = None
    trace: Trace | None = None
    record: Any = None
    observer: Any = None
    keeps_data: bool = False


_current = Options()


def get_options() -> Options:
    """Return the current options."""
    return _current


def set_options(options: Options) -> Options:
    """Set the current options; return the previous ones."""
    global _current
    previous, _current = _current, options
    return previous


@contextmanager
def options_set(options: Options) -> Iterator[Options]:
    """Set the current options within the block."""
    previous = set_options(options)
    try:
        yield options
    finally:
        set_options(previous)
