"""The memory that the training of a network needs, before anything is allocated.

The estimate is a lower bound, so that nothing is refused that would work: weights, the optimizer's
state and gradients, the data, and the outputs of the layers for one batch. Temporary values come on
top.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.devices.kinds import index_of, kind_of
from playgrad.devices.registry import gpu_adapters
from playgrad.dtypes import dtype
from playgrad.graph.tensor import Tensor
from playgrad.networks.network import Network
from playgrad.nn.layer_calls import LayerCall
from playgrad.optim.optimizer import Optimizer
from playgrad.runtime.estimates import check_memory, size_text

Array = np.ndarray[Any, Any]


def check_training_memory(
    network: Network, optimizer: Optimizer, arrays: Sequence[Array], batch: int, device: str
) -> None:
    """Check that the training of ``network`` fits in the host's memory.

    The size of graphics memory is unknown, and a GPU itself refuses arrays that are too large. A
    software adapter takes the memory of the host. In a page, weights on a GPU must fit in Python's
    memory, too: it makes their initial values, keeps a copy of them, and saves them.

    Args:
        arrays: the data, which is copied.
        batch: samples per step.
        device: where the network is trained.

    Raises:
        OutOfMemoryError: it does not fit.
    """
    weights = sum(map(_bytes, network.variables))
    if kind_of(device).runs_plans and sys.platform == "emscripten":
        text = f"holding the weights of this network ({_layers_text(network)})"
        check_memory(weights, text, "Use fewer or smaller layers.")
        return
    if kind_of(device).runs_plans and not _is_software(device):
        return
    gradients = sum(map(_bytes, network.trainable_variables))
    accumulates = optimizer.accumulation.steps is not None
    slots = optimizer.slots_per_weight + optimizer.use_ema + accumulates
    state = weights + gradients * slots
    if not kind_of(device).updates_in_place:
        state *= 2  # a step replaces all arrays at its end, or none
    data = sum(array.nbytes for array in arrays)
    calls = [item for item in network.structure.items if isinstance(item, LayerCall)]
    outputs = sum(_bytes(output, batch) for call in calls for output in call.outputs)
    check_memory(
        state + gradients + data + outputs,
        f"training this network on {device} ({_layers_text(network)})",
        "Use fewer or smaller layers, a smaller batch_size, or pg.optim.SGD, which keeps no state.",
    )


def _is_software(device: str) -> bool:
    """Return whether the GPU ``device`` is emulated, in the memory of this process."""
    number, adapters = index_of(device), gpu_adapters()
    return number < len(adapters) and adapters[number].is_software


def _bytes(tensor: Tensor, batch: int = 1) -> int:
    """Return the size of ``tensor`` for a batch; other unknown dimensions count as 1."""
    shape = tensor.shape
    known = [1 if size is None else size for size in shape]
    if shape and shape[0] is None:
        known[0] = batch
    return dtype(tensor.dtype).device_bytes(math.prod(known))


def _layers_text(network: Network) -> str:
    sizes = [sum(map(_bytes, layer.variables.values())) for layer in network.layers]
    sizes = [size for size in sizes if size]
    count = "1 layer" if len(sizes) == 1 else f"{len(sizes)} layers"
    largest = max(sizes, default=0)
    return f"{count} with {size_text(sum(sizes))} of weights, {size_text(largest)} the largest"
