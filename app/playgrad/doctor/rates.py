"""The learning rates that a schedule has gone through."""

from __future__ import annotations

import numpy as np

from playgrad.errors import PlaygradError
from playgrad.graph.graph import Graph
from playgrad.ops.core.build import constant
from playgrad.optim.schedules import Schedule
from playgrad.runtime.session import Session

_MOST_STEPS = 500
"""Steps at which a schedule is asked, evenly spread."""


def highest_rate(schedule: Schedule, steps: int) -> float | None:
    """Return the highest rate of the first ``steps`` steps; None if it cannot be computed alone."""
    spread = np.linspace(0, max(steps - 1, 0), _MOST_STEPS).astype(np.float32)
    asked = np.array(sorted(set(spread.tolist())), np.float32)  # np.unique imports numpy.ma
    try:
        with Graph().as_default() as graph:
            initial = constant(schedule.initial_learning_rate, "float32")
            rates = schedule.rate(initial, constant(asked))
            with Session(graph, "cpu") as session:
                values = np.asarray(session.run(rates))
    except PlaygradError:  # one of the program, which takes one step at a time, or has variables
        return None
    highest = float(values.max())
    return float(f"{highest:.6g}") if np.isfinite(highest) else None
