"""A training step operation by operation, in the form that the page draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.errors import GraphError
from playgrad.inspection.operations import Operation, StepSight, TensorSight, step_operations
from playgrad.page.session_runs import SessionRun
from playgrad.runtime.session import Session

MOST_OPERATIONS = 2000
"""The most operations that the page shows, the first ones."""
View = dict[str, Any]


def operations_view(model: Any) -> View:
    """Run a training step of ``model`` on copies of its variables, and return what happened.

    Raises:
        GraphError: the last training had no single step that all devices made together.
    """
    if model.parameter_server is not None:
        raise GraphError(
            "the replicas of this model train at their own pace, so there is no single step to "
            "look at.",
            hint="The Lab's timeline shows their steps.",
        )
    return described(step_operations(model.session, model.training_targets))


def run_operations_view(session: Session, run: SessionRun, scope: str) -> View:
    """Repeat a run of a session on copies of its variables, and return what happened."""
    return described(step_operations(session, run.fetches, run.feeds), scope)


def described(sight: StepSight, scope: str = "") -> View:
    """Return a step as plain data for the page.

    Args:
        scope: that of the graph in the drawing of several.
    """
    shown = sight.operations[:MOST_OPERATIONS]
    return {
        "operations": [_operation(each, scope) for each in shown],
        "left_out": len(sight.operations) - len(shown),
        "passes": [
            {"name": each.name, "before": each.before, "after": each.after} for each in sight.passes
        ],
    }


def _operation(operation: Operation, scope: str) -> View:
    return {
        "name": scope + operation.name,
        "op": operation.op,
        "device": operation.device,
        "members": [scope + name for name in operation.members],
        "waits_for": len(operation.waits_for),
        "ready": [place for place in operation.ready if place < MOST_OPERATIONS],
        "released": [list(each) for each in operation.released if each[0] < MOST_OPERATIONS],
        "inputs": _tensors(operation.inputs),
        "outputs": _tensors(operation.outputs),
        "dispatch": operation.dispatch,
        "kernel": operation.kernel,
    }


def _tensors(sights: Sequence[TensorSight]) -> list[View]:
    keys = ("min", "max", "mean", "std")
    return [
        {
            "name": each.name,
            "shape": list(each.shape),
            "dtype": each.dtype,
            "statistics": {key: each.statistics[key] for key in keys if key in each.statistics},
        }
        for each in sights
    ]
