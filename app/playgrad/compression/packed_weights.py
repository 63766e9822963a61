"""Weights in their packed forms: what they are, and the bytes that they need in files."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.compression.report import LayerBytes, Note, bytes_of_arrays, weights_by_layer
from playgrad.io.packing import pack
from playgrad.networks.network import Network

Array = np.ndarray[Any, Any]


def packed_bytes(network: Network) -> dict[str, LayerBytes]:
    """Return the bytes of the weights of each layer in their smallest exact forms."""
    layers = weights_by_layer(network)
    return {name: bytes_of_arrays(_parts(arrays)) for name, arrays in layers.items()}


def packed_notes(network: Network) -> dict[str, Note]:
    """Return the forms of the weights of each layer, such as "90 % zeros, 16 values"."""
    return {
        name: Note(_form(max(arrays, key=lambda array: array.size)))
        for name, arrays in weights_by_layer(network).items()
        if arrays
    }


def _parts(arrays: list[Array]) -> list[Array]:
    stored: list[Array] = []
    for array in arrays:
        packed = pack(array)
        stored += [array] if packed is None else packed.parts.values()
    return stored


def _form(array: Array) -> str:
    packed = pack(array)
    if packed is None:
        return str(array.dtype)
    words = []
    if "mask" in packed.parts:
        words.append(f"{np.mean(array == 0):.0%} zeros")
    if packed.form == "codebook":
        words.append(f"{packed.parts['codebook'].size} values")
    elif packed.form != "float32" or not words:
        words.append(packed.form)
    return ", ".join(words)
