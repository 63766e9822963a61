"""One trial of a sweep, and its record in a file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from playgrad.sweeps.space import Settings, in_words

WAITING, RUNNING, DONE, CUT, FAILED = "waiting", "running", "done", "cut", "failed"
"""States: `CUT` was ended early, because others were better at the same epoch."""


@dataclass(frozen=True)
class SweepTrial:
    """A trial.

    Attributes:
        number: from 1, in the order of the settings.
        settings: its values by their names.
        state: "waiting", "running", "done", "cut" or "failed".
        metrics: the last value of each loss and metric, or what the function returned.
        value: of the metric that the sweep compares; None before the end, or if it is not finite.
        seconds: from its start to its end.
        attempts: how often it was started.
        error: why it failed, in a line.
        facts: of its training: steps, epochs, device, parameters.
        steps, losses: its curve.
    """

    number: int
    settings: Settings
    state: str = WAITING
    metrics: dict[str, float] = field(default_factory=dict)
    value: float | None = None
    seconds: float = 0.0
    attempts: int = 0
    error: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    losses: list[float | None] = field(default_factory=list)

    def __str__(self) -> str:
        return f"trial {self.number} ({in_words(self.settings)})"

    @property
    def ended(self) -> bool:
        """Whether it need not be run again."""
        return self.state in (DONE, CUT)

    def with_(self, **changes: Any) -> SweepTrial:
        """Return the trial with other values of its attributes."""
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Return the trial as plain data, in which a number that is not finite is None."""
        record = asdict(self)
        record["metrics"] = {name: finite(value) for name, value in self.metrics.items()}
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> SweepTrial:
        """Return the trial of a record.

        Raises:
            TypeError, KeyError: it is not a record of a trial.
        """
        known = {each.name for each in fields(cls)}
        trial = cls(**{name: value for name, value in record.items() if name in known})
        metrics = {n: math.nan if v is None else float(v) for n, v in trial.metrics.items()}
        return trial.with_(metrics=metrics)


def finite(value: float | None) -> float | None:
    """Return ``value``; None if it is not a finite number."""
    return value if value is not None and math.isfinite(value) else None
