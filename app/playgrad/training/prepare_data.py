"""Checks of a user's arrays against the model that they are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DataError, ShapeError
from playgrad.networks.fixed_sizes import hint_for_sizes
from playgrad.networks.named_inputs import in_order as in_order_of_inputs
from playgrad.networks.network import Network
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
    ys = checks.as_arrays(y, len(network.outputs) or None, f"{role}y", layers)
    checks.check_lengths([*xs, *ys], f"{role}x and {role}y")
    if not network.outputs:
        return xs, ys
    return xs, recipe.objectives.targets(ys, network.outputs, layers, f"{role}y")


def _count_of_inputs(network: Network, x: Any) -> int:
    """Return the number of inputs of a network that is not built: several, as in Keras, only if a
    class of the user's gets a list of arrays."""
    of_arrays = isinstance(x, (list, tuple)) and all(isinstance(each, np.ndarray) for each in x)
    return len(x) if of_arrays and getattr(network, "is_subclassed", False) else 1


def _values(network: Network, x: Mapping[str, Any], name: str) -> dict[str, Array]:
    """Return the arrays of a dictionary, in the order of the inputs.

    Columns of tables (samples,) become (samples, 1) for inputs that take that, as in Keras.
    """
    if network.built:
        ordered = in_order_of_inputs(network, x, name)
        arrays = [(key, np.asarray(value)) for key, value in ordered.items()]
        return {
            key: array[:, None] if array.ndim == 1 and tensor.shape[1:] == (1,) else array
            for (key, array), tensor in zip(arrays, network.inputs, strict=True)
        }
    if not getattr(network, "is_subclassed", False):
        raise DataError(
            f"{name} is a dictionary, but the inputs of '{network.name}' have no names.",
            hint="Pass an array, or build the model with pg.Input(shape, name=...).",
        )
    return {key: np.asarray(value) for key, value in x.items()}


def prepare_inputs(network: Network, x: Any, name: str) -> list[Array]:
    """Return inputs as arrays that fit the network, which is built if necessary.

    Args:
        x: an array or a list of them, or a dictionary by the names of the inputs.
        name: their name in errors.

    Raises:
        DataError, ShapeError, DTypeError: they cannot be used.
    """
    keys: list[str] | None = None
    names: Sequence[str] = ()
    if isinstance(x, Mapping):
        by_name = _values(network, x, name)
        keys, x = list(by_name), list(by_name.values())
        names = [f"{name}[{key!r}]" for key in keys]
    network.takes_dictionary = keys is not None
    count = len(network.inputs) if network.built else _count_of_inputs(network, x)
    xs = checks.as_arrays(x, count, name, names=names)
    network.ensure_built(xs, keys)
    if not names:
        names = [name] if len(xs) == 1 else [f"{name}[{i}]" for i in range(len(xs))]
    checks.check_lengths(xs, f"the arrays of {name}")
    # A model may have operations and variables, but no layers.
    layer = (network.layers[0].name if network.layers else None) or "input"
    given = list(xs)
    for i, (array, tensor) in enumerate(zip(given, network.inputs, strict=True)):
        try:
            xs[i] = checks.as_samples(array, tensor.spec, names[i], layer)
        except ShapeError as error:
            error.hint = error.hint or hint_for_sizes(network, [each.shape for each in given])
            raise
    check_indices(network, xs, name)
    return xs
