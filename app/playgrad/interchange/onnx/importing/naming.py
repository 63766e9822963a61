"""Names of layers and variables, from the names of the weights in a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from playgrad.interchange.onnx.importing.file import OnnxGraph

Array = np.ndarray[Any, Any]

_NUMBERS = {
    "Clip": {1, 2}, "OneHot": {1, 2}, "Pad": {1, 2}, "Range": {0, 1, 2}, "Resize": {1, 2, 3},
    "Dropout": {1},
}  # fmt: skip
"""The inputs that are settings of an operator, not weights."""
_AVERAGES = ("moving_mean", "moving_variance", "running_mean", "running_var")


def weights_of(graph: OnnxGraph) -> list[str]:
    """Return the initializers that are weights: arrays of float32 that are not settings."""
    settings = {
        name
        for node in graph.nodes
        for number, name in enumerate(node.inputs)
        if number in _NUMBERS.get(node.operator, ())
    }
    return [
        name
        for name, array in graph.initializers.items()
        if array.dtype == np.float32 and array.ndim and array.size and name not in settings
    ]


def averages_of(graph: OnnxGraph) -> set[str]:
    """Return the weights that training does not change: the averages of normalizations."""
    averages = {name for name in graph.initializers if name.endswith(_AVERAGES)}
    for node in graph.nodes:
        if node.operator == "BatchNormalization":
            averages |= set(node.inputs[3:5])
    return averages


def prefix(weight: str) -> str:
    """Return the part of a name that the weights of a layer share: ``conv1`` of ``conv1.weight``.

    It is empty if there is none.
    """
    return re.split(r"[./](?=[^./]*$)", weight)[0] if re.search(r"[./]", weight) else ""


def layer_name(weight: str) -> str:
    """Return the name of the layer of ``weight``, which may be taken."""
    return safe(prefix(weight) or weight)


def variable_names(weights: Iterable[str], shared: str) -> Mapping[str, str]:
    """Return weights by the names of their variables.

    Args:
        shared: the prefix that is that of the layer.
    """
    named: dict[str, str] = {}
    for weight in weights:
        own = weight[len(shared) + 1 :] if shared and prefix(weight) == shared else weight
        named[unique(safe(own), named)] = weight
    return named


def unique(name: str, taken: Iterable[str]) -> str:
    """Return ``name``, with a number if it is taken."""
    others, number, result = set(taken), 1, name
    while result in others:
        number += 1
        result = f"{name}_{number}"
    return result


def safe(name: str) -> str:
    """Return ``name`` without the characters that names in a graph cannot have."""
    return re.sub(r"[\s:/]+", ".", name).strip(".") or "weight"
