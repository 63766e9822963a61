"""Runs that are trials of a sweep of another run."""

from __future__ import annotations

import json
from typing import Any

from tests.page.python_side import PythonSide, python_side

NESTED = """
import playgrad as pg

def train(x):
    print("called with", x)
    return x if x < 2 else pg.sweep(abs, grid={"x": [1]})

print("before")
pg.sweep(train, grid={"x": [1]})
print("after")
"""


def run_trial(side: PythonSide, settings: dict[str, Any]) -> str:
    return side.run(NESTED, trial={"settings": json.dumps(settings), "milestones": [], "seed": 0})


def test_a_trial_calls_the_function_and_ends_the_program() -> None:
    with python_side() as side:
        assert run_trial(side, {"x": 1}) == "done"
        (event,) = side.of("trial_message")
        assert event["is_last"] and "weights" not in event
        assert json.loads(event["message"])["metrics"] == {"value": 1.0}
        assert "before" in side.output and "called with 1" in side.output
        assert "after" not in side.output


def test_a_trial_cannot_sweep() -> None:
    with python_side() as side:
        assert run_trial(side, {"x": 2}) == "error"
        (error,) = side.of("error")
        assert "the function of a sweep cannot call pg.sweep itself" in error["message"]
