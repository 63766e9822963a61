"""Results of layers for samples, also with some units scaled, without an effect on the model.

A scaled unit gives a multiple of its value at every place, and 0 if it is silenced. Its layer is
computed, the unit is multiplied, and the result is fed in place of the layer's: the graph and the
variables stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import DataError, GraphError
from playgrad.graph.tensor import Tensor
from playgrad.inspection.forward import check_without_effect
from playgrad.networks.network import Network
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall

Array = np.ndarray[Any, Any]
Units = Mapping[str, Sequence[int]]
"""Numbers of units or channels, from 0, by the name of their layer."""
Factors = Mapping[str, Mapping[int, float]]
"""By the name of a layer and the number of a unit; 0 silences, also what is not finite."""
BATCH = 256
"""Samples that are computed at a time."""
_LARGEST = float(np.finfo(np.float32).max)


def results(network: Network) -> dict[str, tuple[Layer, Tensor]]:
    """Return the layer and the result of each call, in their order, by names of layers.

    The second call of a layer is named ``dense_1:2``.
    """
    names = {layer: name for name, layer in network.named_layers()}
    counts: dict[str, int] = {}
    tensors: dict[str, tuple[Layer, Tensor]] = {}
    for item in network.structure.items:
        if isinstance(item, LayerCall):
            name = names[item.layer]
            counts[name] = counts.get(name, 0) + 1
            label = name if counts[name] == 1 else f"{name}:{counts[name]}"
            tensors[label] = (item.layer, item.outputs[0])
    return tensors


def silencing(network: Network, units: Units) -> dict[str, dict[int, float]]:
    """Return factors of 0 for some units.

    Raises:
        GraphError: there is no such layer or unit.
        DataError: ``units`` is not a dictionary.
    """
    if not isinstance(units, Mapping):
        raise DataError(
            f"units are numbers by the name of their layer, got {units!r:.60}.",
            hint='Write them so: silenced({"dense_1": [3, 5]}).',
        )
    listed = {
        name: [numbers] if isinstance(numbers, (int, np.integer)) else numbers
        for name, numbers in units.items()
    }
    return {
        name: {_unit(network, name, unit): 0.0 for unit in numbers}
        for name, numbers in listed.items()
    }


def check_factors(network: Network, factors: Factors) -> dict[str, dict[int, float]]:
    """Return the factors in the order of their units, without layers that have none.

    Raises:
        GraphError: there is no such layer or unit, or its results have no such multiple.
        DataError: ``factors`` is not a dictionary of dictionaries.
    """
    if not isinstance(factors, Mapping) or not all(
        isinstance(by_unit, Mapping) for by_unit in factors.values()
    ):
        raise DataError(
            f"factors are numbers by the name of their layer and their unit, got {factors!r:.60}.",
            hint='Write them so: scaled({"dense_1": {3: 0.5}}).',
        )
    kinds = {layer_of(name): dtype(tensor.dtype) for name, (_, tensor) in results(network).items()}
    checked: dict[str, dict[int, float]] = {}
    for name, by_unit in factors.items():
        numbers = {
            _unit(network, name, unit): _factor(network, name, factor)
            for unit, factor in by_unit.items()
        }
        if any(numbers.values()) and name in kinds and not kinds[name].floating:
            raise GraphError(
                f"layer '{name}' gives {kinds[name].name}: its units can be silenced, not scaled.",
                source=network.get_layer(name).source,
            )
        if numbers:
            checked[name] = dict(sorted(numbers.items()))
    return checked


def layer_of(result: str) -> str:
    """Return the layer's name in that of a result, which may be of its second call."""
    return result.partition(":")[0]


def _unit(network: Network, name: str, unit: Any) -> int:
    """Return the number of a unit of a layer, checked."""
    layer = network.get_layer(name)
    count = (layer.output_shape or (None,))[-1]
    is_number = isinstance(unit, (int, np.integer)) and not isinstance(unit, bool)
    if not is_number or not 0 <= unit < (count or 0):
        raise GraphError(
            f"layer '{name}' has no unit {unit!r}.",
            source=layer.source,
            hint=f"Its units are numbered from 0 to {count - 1}." if count else "",
        )
    return int(unit)


def _factor(network: Network, name: str, factor: Any) -> float:
    """Return a factor, checked to be a number that float32 has."""
    is_number = isinstance(factor, (int, float, np.number))
    if not is_number or not abs(factor) <= _LARGEST:
        raise GraphError(
            f"a unit of layer '{name}' cannot be scaled by {factor!r}.",
            source=network.get_layer(name).source,
            hint="A factor is a finite number, at most 3.4e38 in size.",
        )
    return float(factor)


def compute(
    network: Network, fetches: Sequence[Tensor], xs: Sequence[Array], factors: Factors
) -> list[Array]:
    """Return the values of ``fetches`` for the inputs ``xs``, computed as by ``predict``.

    Args:
        factors: as `check_factors` returns them.

    Raises:
        GraphError: this would change a variable or the random state.
    """
    check_without_effect([*fetches, *network.outputs])
    count, fixed = len(xs[0]), network.inputs[0].shape[0]
    batches = []
    for first in range(0, max(count, 1), fixed or BATCH):
        rows = np.arange(first, first + fixed if fixed else min(first + BATCH, count))
        # A model for batches of one size gets the last sample several times.
        batch = [x[np.minimum(rows, count - 1)] if count else x for x in xs]
        values = _batch(network, fetches, batch, factors)
        batches.append([value[: count - first] for value in values])
    return [np.concatenate(parts) for parts in zip(*batches, strict=True)]


def _batch(
    network: Network, fetches: Sequence[Tensor], xs: Sequence[Array], factors: Factors
) -> list[Array]:
    session = network.session
    feeds: dict[Tensor, Array] = {
        tensor: x.astype(tensor.dtype, copy=False)
        for tensor, x in zip(network.inputs, xs, strict=True)
    }
    for label, (_, tensor) in results(network).items():
        if by_unit := factors.get(layer_of(label)):
            feeds[tensor] = _scaled(np.array(session.run(tensor, feeds)), by_unit)
    wanted = [tensor for tensor in fetches if tensor not in feeds]
    computed = dict(zip(wanted, session.run(wanted, feeds), strict=True)) if wanted else {}
    return [np.asarray(feeds[t] if t in feeds else computed[t]) for t in fetches]


def _scaled(value: Array, factors: Mapping[int, float]) -> Array:
    """Multiply units of ``value``, its last axis, in place; return it."""
    with np.errstate(over="ignore", invalid="ignore"):
        for unit, factor in factors.items():
            value[..., unit] = value[..., unit] * value.dtype.type(factor) if factor else 0
    return value
