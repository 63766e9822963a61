"""Arguments that name the outputs of a model, as Keras' dictionaries do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.errors import GraphError
from playgrad.networks.network import Network
from playgrad.training.data_checks import as_sequence
from playgrad.training.objectives import Objectives

REQUIRED = object()
"""A marker in place of a default: each output must be named."""


def in_order(value: Any, names: Sequence[str], what: str, default: Any = REQUIRED) -> Any:
    """Return the values of a dictionary as a list in the order of the outputs.

    Args:
        value: a dictionary by the names of outputs; anything else is returned as it is.
        names: the names of the outputs.
        what: the name of the argument in errors.
        default: for outputs that the dictionary leaves out.

    Raises:
        GraphError: the dictionary names something else, or leaves out an output without a default.
    """
    if not isinstance(value, Mapping):
        return value
    for key in value:
        if key not in names:
            raise GraphError(
                f"{what} names {key!r}, which is not an output of the model.",
                hint=f"Its outputs are: {', '.join(names)}.",
            )
    for name in names:
        if name not in value and default is REQUIRED:
            raise GraphError(f"{what} has nothing for the output '{name}'.")
    return [value.get(name, default) for name in names]


def compiled_objectives(
    network: Network, loss: Any, metrics: Any, loss_weights: Any, weighted_metrics: Any
) -> Objectives:
    """Return the objectives for arguments of ``compile``, of which each may be a dictionary.

    Raises:
        GraphError: a dictionary does not fit the outputs, which have no names before the network
            is built; or there is no loss or metric of a name.
    """
    if not network.built:
        return Objectives(loss, as_sequence(metrics), loss_weights, as_sequence(weighted_metrics))
    names = network.output_names
    groups = [
        [as_sequence(group) for group in in_order(value, names, what, None)]
        if isinstance(value, Mapping)
        else as_sequence(value)
        for value, what in ((metrics, "metrics"), (weighted_metrics, "weighted_metrics"))
    ]
    return Objectives(
        in_order(loss, names, "loss"),
        groups[0],
        in_order(loss_weights, names, "loss_weights", 1.0),
        groups[1],
    )
