"""Results of layers for samples, also with some units silenced, without an effect on the model.

A silenced unit gives 0 at every place. Its layer is computed, the unit is set to 0, and the result
is fed in place of the layer's: the graph and the variables stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.inspection.forward import check_without_effect
from playgrad.models.network import Network
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall

Array = np.ndarray[Any, Any]
Silenced = Mapping[str, Sequence[int]]
"""Numbers of units or channels, from 0, by the name of their layer."""
BATCH = 256
"""Samples that are computed at a time."""


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


def check_units(network: Network, silenced: Silenced) -> dict[str, list[int]]:
    """Return the units to silence, without repetitions.

    Raises:
        GraphError: there is no such layer or unit.
    """
    checked: dict[str, list[int]] = {}
    for name, numbers in silenced.items():
        layer = network.get_layer(name)
        count = (layer.output_shape or (None,))[-1]
        listed = [numbers] if isinstance(numbers, (int, np.integer)) else list(numbers)
        for unit in listed:
            is_number = isinstance(unit, (int, np.integer)) and not isinstance(unit, bool)
            if not is_number or not 0 <= unit < (count or 0):
                raise GraphError(
                    f"layer '{name}' has no unit {unit!r}.",
                    source=layer.source,
                    hint=f"Its units are numbered from 0 to {count - 1}." if count else "",
                )
        if listed:
            checked[name] = sorted({int(unit) for unit in listed})
    return checked


def compute(
    network: Network, fetches: Sequence[Tensor], xs: Sequence[Array], silenced: Silenced
) -> list[Array]:
    """Return the values of ``fetches`` for the inputs ``xs``, computed as by ``predict``.

    Args:
        silenced: as `check_units` returns them.

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
        values = _batch(network, fetches, batch, silenced)
        batches.append([value[: count - first] for value in values])
    return [np.concatenate(parts) for parts in zip(*batches, strict=True)]


def _batch(
    network: Network, fetches: Sequence[Tensor], xs: Sequence[Array], silenced: Silenced
) -> list[Array]:
    session = network.session
    feeds: dict[Tensor, Array] = {
        tensor: x.astype(tensor.dtype, copy=False)
        for tensor, x in zip(network.inputs, xs, strict=True)
    }
    for label, (_, tensor) in results(network).items():
        if units := silenced.get(label.partition(":")[0]):
            value = np.array(session.run(tensor, feeds))
            value[..., list(units)] = 0
            feeds[tensor] = value
    wanted = [tensor for tensor in fetches if tensor not in feeds]
    computed = dict(zip(wanted, session.run(wanted, feeds), strict=True)) if wanted else {}
    return [np.asarray(feeds[t] if t in feeds else computed[t]) for t in fetches]
