"""Checks of a user's arrays against the model that they are for."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.models.network import Network
from playgrad.training import data_checks as checks
from playgrad.training.index_checks import check_indices
from playgrad.training.named_outputs import in_order
from playgrad.training.recipe import Recipe

Array = np.ndarray[Any, Any]


def prepare_data(recipe: Recipe, x: Any, y: Any, role: str) -> tuple[list[Array], list[Array]]:
    """Return inputs and targets as arrays that fit the model, which is built if necessary.

    Args:
        role: a prefix of their names in errors: "validation ", or "".

    Raises:
        DataError, ShapeError, DTypeError: they cannot be used; nothing has changed.
    """
    network = recipe.network
    xs = prepare_inputs(network, x, f"{role}x")
    layers = network.output_names
    y = in_order(y, layers, f"{role}y")
    ys = checks.as_arrays(y, len(network.outputs), f"{role}y", layers)
    checks.check_lengths([*xs, *ys], f"{role}x and {role}y")
    return xs, recipe.objectives.targets(ys, network.outputs, layers, f"{role}y")


def _count_of_inputs(network: Network, x: Any) -> int:
    """Return the number of inputs of a network that is not built: several, as in Keras, only if a
    class of the user's gets a list of arrays."""
    of_arrays = isinstance(x, (list, tuple)) and all(isinstance(each, np.ndarray) for each in x)
    return len(x) if of_arrays and getattr(network, "is_subclassed", False) else 1


def prepare_inputs(network: Network, x: Any, name: str) -> list[Array]:
    """Return inputs as arrays that fit the network, which is built if necessary.

    Args:
        name: their name in errors.
    """
    count = len(network.inputs) if network.built else _count_of_inputs(network, x)
    xs = checks.as_arrays(x, count, name)
    network.ensure_built(xs)
    checks.check_lengths(xs, f"the arrays of {name}")
    # A model may have operations and variables, but no layers.
    layer = (network.layers[0].name if network.layers else None) or "input"
    for i, (array, tensor) in enumerate(zip(xs, network.inputs, strict=True)):
        array_name = name if len(xs) == 1 else f"{name}[{i}]"
        xs[i] = checks.as_samples(array, tensor.spec, array_name, layer)
    check_indices(network, xs, name)
    return xs
