"""The result of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playgrad.errors import GraphError
from playgrad.sweeps.record import WEIGHTS
from playgrad.sweeps.space import in_words
from playgrad.sweeps.trial import CUT, FAILED, SweepTrial


@dataclass(frozen=True)
class SweepResult:
    """The trials of a sweep.

    Attributes:
        trials: in the order of their settings.
        metric: what is compared; "" if no trial has ended.
        direction: "min" or "max".
        folder: with the record, the weights of the best trial and what each printed.
    """

    trials: list[SweepTrial]
    metric: str
    direction: str
    folder: Path

    @property
    def ranked(self) -> list[SweepTrial]:
        """The trials that have a value, the best first, and trials that were ended early last."""
        sign = -1 if self.direction == "max" else 1
        known = [trial for trial in self.trials if trial.value is not None]
        return sorted(known, key=lambda trial: (trial.state == CUT, sign * (trial.value or 0.0)))

    @property
    def best(self) -> SweepTrial:
        """The best trial.

        Raises:
            GraphError: none has a value.
        """
        if not self.ranked:
            failed = next((trial for trial in self.trials if trial.error), None)
            why = f" {failed} failed: {failed.error}" if failed else ""
            raise GraphError(f"no trial of the sweep has a finite value.{why}")
        return self.ranked[0]

    @property
    def weights(self) -> Path | None:
        """The file with the weights of the best trial; None if it trained no model."""
        file = self.folder / WEIGHTS
        return file if file.is_file() else None

    def table(self, most: int = 10) -> str:
        """Return the best trials, and the failed ones, as lines of text."""
        rows = [["", "settings", self.metric or "value", "state", "seconds"]]
        failed = [trial for trial in self.trials if trial.state == FAILED]
        for trial in (*self.ranked[:most], *failed):
            value = "" if trial.value is None else f"{trial.value:.4g}"
            state = f"{trial.state}: {trial.error}" if trial.error else trial.state
            rows.append(
                [str(trial.number), in_words(trial.settings), value, state, f"{trial.seconds:.1f}"]
            )
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        left = len(self.ranked) - most
        return "\n".join([*lines, *([f"and {left} others"] if left > 0 else [])])

    def __str__(self) -> str:
        return self.table()
