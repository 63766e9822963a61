"""Networks that cannot be inspected while they are trained, and why."""

from __future__ import annotations

from typing import Any, Literal

from playgrad.errors import GraphError
from playgrad.inspection.probe import SampleProbe


class UnseenNetworkError(GraphError):
    """Raised for a network whose values cannot be computed from a sample of its data.

    Attributes:
        reason: "untrained", "data" or "large".
    """

    def __init__(self, reason: Literal["untrained", "data", "large"], message: str) -> None:
        super().__init__(message)
        self.reason = reason


def check_looked_at(model: Any) -> None:
    """Check that a sample of the data of ``model`` says what its layers compute.

    Raises:
        UnseenNetworkError: it has not been trained by ``fit``, has several inputs or outputs, or
            is too large.
    """
    if model.history is None:
        raise UnseenNetworkError("untrained", "the network was not trained by fit().")
    recipe = model.recipe
    network = recipe.network
    if model.train_excerpt is None or not len(network.inputs) == len(network.outputs) == 1:
        raise UnseenNetworkError(
            "data", "only networks with one input and one output, trained with arrays, have them."
        )
    if not SampleProbe(recipe, model.train_excerpt).is_affordable:
        raise UnseenNetworkError("large", "the network is too large to be inspected in training.")


def is_looked_at(model: Any) -> bool:
    """Return whether `check_looked_at` raises no error."""
    try:
        check_looked_at(model)
    except UnseenNetworkError:
        return False
    return True
