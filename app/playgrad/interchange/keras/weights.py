"""Where Keras keeps the weights of each layer, and in which shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.interchange.keras.layers import RECURRENT

Array = np.ndarray[Any, Any]
Stored = dict[str, list[Array]]
"""Arrays by the path of their group within that of the layer."""


def stored(kind: str, config: Mapping[str, Any], arrays: Mapping[str, Array]) -> Stored:
    """Return the weights of a layer as Keras keeps them.

    Args:
        kind, config: of the layer.
        arrays: its weights by name, in their order.
    """
    if not arrays:
        return {}
    if kind in RECURRENT:
        return {"cell/vars": list(arrays.values())}
    if kind == "bidirectional":
        return {
            f"{part}_layer/{path}": values
            for part in ("forward", "backward")
            for path, values in _within(part, config["layer"], arrays).items()
        }
    if kind == "time_distributed":
        inside = _within("layer", config["layer"], arrays)
        return {f"layer/{path}": values for path, values in inside.items()}
    if kind == "multi_head_attention":
        return _attention(config, arrays)
    if kind == "normalization":
        return {"vars": [*arrays.values(), np.zeros((), np.int32)]}  # and the number of samples
    return {"vars": list(arrays.values())}


def _within(part: str, layer: Mapping[str, Any], arrays: Mapping[str, Array]) -> Stored:
    own = {
        name.removeprefix(f"{part}/"): array
        for name, array in arrays.items()
        if name.startswith(f"{part}/")
    }
    return stored(layer["kind"], layer["config"], own)


def _attention(config: Mapping[str, Any], arrays: Mapping[str, Array]) -> Stored:
    """Return the weights of attention, in which Keras has an axis for the heads."""
    heads = config["num_heads"]
    groups: Stored = {}
    for part in ("query", "key", "value"):
        kernel = arrays[f"{part}_kernel"]
        values: list[Array] = [kernel.reshape(len(kernel), heads, -1)]
        if f"{part}_bias" in arrays:
            values.append(arrays[f"{part}_bias"].reshape(heads, -1))
        groups[f"{part}_dense/vars"] = values
    kernel = arrays["output_kernel"]
    output: list[Array] = [kernel.reshape(heads, len(kernel) // heads, -1)]
    if "output_bias" in arrays:
        output.append(arrays["output_bias"])
    return groups | {"output_dense/vars": output}
