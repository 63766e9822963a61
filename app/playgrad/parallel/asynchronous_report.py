"""A report of asynchronous training."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class AsynchronousReport:
    """A report of asynchronous training.

    Attributes:
        updates: the number of gradients applied, by device.
        staleness: the number of gradients of each staleness.
        lost: the errors that ended replicas, by device.
        returns: how often a replica has come back after its process died, by device.
    """

    updates: Counter[str] = field(default_factory=Counter)
    staleness: Counter[int] = field(default_factory=Counter)
    lost: dict[str, str] = field(default_factory=dict)
    returns: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data; ``returns`` only where there were any."""
        total = sum(self.staleness.values())
        returns = {"returns": dict(self.returns)} if self.returns else {}
        return {
            **returns,
            "updates": dict(self.updates),
            "staleness": {str(age): count for age, count in sorted(self.staleness.items())},
            "mean_staleness": sum(a * n for a, n in self.staleness.items()) / max(total, 1),
            "lost": dict(self.lost),
        }
