"""A training step operation by operation, in the form that the page draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from playgrad.errors import GraphError
from playgrad.inspection.operations import Operation, StepSight, TensorSight, step_operations
from playgrad.page.session_runs import SessionRun
from playgrad.page.shown_model import LiveModel
from playgrad.runtime.session import Session

MOST_OPERATIONS = 2000
"""The most operations that the page shows, the first ones."""


class TensorSightForm(TypedDict):
    """`statistics`: `min`, `max`, `mean` and `std`; none of a data set."""

    name: str
    shape: list[int]
    dtype: str
    statistics: dict[str, float | None]


class OperationForm(TypedDict):
    """`members`: the nodes that were fused into it; `waits_for`: the number of operations that it
    waits for; `ready`: the operations in the queue when it was taken, by their places in the order
    of execution; `released`: the place of each that waited for it, with its count before and after.
    """

    name: str
    op: str
    device: str
    members: list[str]
    waits_for: int
    ready: list[int]
    released: list[tuple[int, int, int]]
    inputs: list[TensorSightForm]
    outputs: list[TensorSightForm]
    dispatch: int | None
    kernel: str


class CompilerPass(TypedDict):
    """The number of nodes before and after it."""

    name: str
    before: int
    after: int


class StepOperations(TypedDict):
    """The operations in the order of execution; `passes`: the passes of the compiler."""

    operations: list[OperationForm]
    left_out: int
    passes: list[CompilerPass]


def operations_view(model: LiveModel) -> StepOperations:
    """Run a training step of ``model`` on copies of its variables, and return its operations.

    Raises:
        GraphError: the last training had no single step that all devices made together.
    """
    if model.parameter_server is not None:
        raise GraphError(
            "the replicas of this model train at their own pace, so there is no single step to "
            "show.",
            hint="The Lab's timeline shows their steps.",
        )
    return described(step_operations(model.session, model.training_targets))


def run_operations_view(session: Session, run: SessionRun, scope: str) -> StepOperations:
    """Repeat a run of a session on copies of its variables, and return its operations."""
    return described(step_operations(session, run.fetches, run.feeds), scope)


def described(sight: StepSight, scope: str = "") -> StepOperations:
    """Return a step as plain data for the page.

    Args:
        scope: the scope of the graph in the drawing of several.
    """
    shown = sight.operations[:MOST_OPERATIONS]
    return {
        "operations": [_operation(each, scope) for each in shown],
        "left_out": len(sight.operations) - len(shown),
        "passes": [
            {"name": each.name, "before": each.before, "after": each.after} for each in sight.passes
        ],
    }


def _operation(operation: Operation, scope: str) -> OperationForm:
    return {
        "name": scope + operation.name,
        "op": operation.op,
        "device": operation.device,
        "members": [scope + name for name in operation.members],
        "waits_for": len(operation.waits_for),
        "ready": [place for place in operation.ready if place < MOST_OPERATIONS],
        "released": [each for each in operation.released if each[0] < MOST_OPERATIONS],
        "inputs": _tensors(operation.inputs),
        "outputs": _tensors(operation.outputs),
        "dispatch": operation.dispatch,
        "kernel": operation.kernel,
    }


def _tensors(sights: Sequence[TensorSight]) -> list[TensorSightForm]:
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
