"""The parts of a quantized network that stayed float32, for formats that can hold both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.networks.inference import InferenceGraph, inference_graph
from playgrad.networks.structure import StructureItem

Array = np.ndarray[Any, Any]


def float_part(
    item: StructureItem,
    name: str,
    known: Mapping[Tensor, str],
    read: Callable[[list[Tensor]], Sequence[Array]],
) -> InferenceGraph:
    """Return how a layer's call or an operation computes its results.

    Args:
        known: the tensors that are computed before, by which the graph begins.
        read: returns the values of variables.
    """
    entries = [tensor for tensor in item.inputs if tensor in known]
    return inference_graph(name, entries, list(item.outputs), read)
