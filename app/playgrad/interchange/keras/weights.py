"""The places and shapes in which Keras keeps the weights of each layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.nn.layer import record_of

Shape = tuple[int, ...]


def weight_places(
    kind: str, config: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> dict[str, tuple[str, Shape]]:
    """Return the path of each weight within the group of its layer, and its shape there.

    Args:
        kind, config: the kind and config of the layer.
        shapes: the shapes of its weights by name, in their order.
    """
    if kind == "bidirectional":
        forward = _within("forward", "forward_layer", config["layer"], shapes)
        return forward | _within("backward", "backward_layer", config["layer"], shapes)
    if kind == "time_distributed":
        return _within("layer", "layer", config["layer"], shapes)
    if kind == "multi_head_attention":
        return _attention(config["num_heads"], shapes)
    group = "cell/vars" if record_of(kind).is_recurrent else "vars"
    return {
        name: (f"{group}/{number}", tuple(shape))
        for number, (name, shape) in enumerate(shapes.items())
    }


def _within(
    part: str, group: str, layer: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
) -> dict[str, tuple[str, Shape]]:
    own = {
        name.removeprefix(f"{part}/"): shape
        for name, shape in shapes.items()
        if name.startswith(f"{part}/")
    }
    places = weight_places(layer["kind"], layer["config"], own)
    return {f"{part}/{name}": (f"{group}/{path}", shape) for name, (path, shape) in places.items()}


def _attention(heads: int, shapes: Mapping[str, Sequence[int]]) -> dict[str, tuple[str, Shape]]:
    """Return the places of the weights of attention, where Keras has an axis for the heads."""
    places: dict[str, tuple[str, Shape]] = {}
    for name, (*rest, last) in shapes.items():
        part, _, role = name.rpartition("_")
        if part != "output":
            shape = (*rest, heads, last // heads)
        elif role == "kernel":
            shape = (heads, rest[0] // heads, last)
        else:
            shape = (last,)
        places[name] = (f"{part}_dense/vars/{int(role == 'bias')}", shape)
    order = ("query", "key", "value", "output")
    return dict(sorted(places.items(), key=lambda item: order.index(item[0].rpartition("_")[0])))
