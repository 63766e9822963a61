"""Weights in their packed forms: what they are, and the bytes that they need in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from playgrad.compression.report import LayerBytes, Note, bytes_of_arrays, weights_by_layer
from playgrad.io.packed_file import stored_form
from playgrad.networks.network import Network

Array = np.ndarray[Any, Any]


class StoredLayer(NamedTuple):
    """The weights of a layer in a file.

    Attributes:
        note: the form of the largest of them, such as "90 % zeros, 16 values"; None without
            weights.
    """

    bytes: LayerBytes
    note: Note | None


def stored_weights(network: Network) -> dict[str, StoredLayer]:
    """Return the weights of each layer in their smallest exact forms, by the names of layers."""
    return {name: _stored(arrays) for name, arrays in weights_by_layer(network).items()}


def _stored(arrays: list[Array]) -> StoredLayer:
    forms = [(array, *stored_form("", array)) for array in arrays]
    parts = [part for _, _, each in forms for part in each.values()]
    largest = max(forms, key=lambda form: form[0].size, default=None)
    return StoredLayer(bytes_of_arrays(parts), None if largest is None else Note(_form(*largest)))


def _form(array: Array, record: Any, parts: Mapping[str, Array]) -> str:
    if not isinstance(record, dict):
        return str(array.dtype)
    words = []
    if ":mask" in parts:
        words.append(f"{np.mean(array == 0):.0%} zeros")
    if record["form"].startswith("codebook"):
        words.append(f"{parts[':codebook'].size} values")
    elif record["form"] != "float32" or not words:
        words.append(record["form"])
    return ", ".join(words)
