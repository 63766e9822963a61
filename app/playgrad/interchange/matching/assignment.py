"""The assignment of the tensors of a file to the slots of a network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from playgrad.interchange.matching.slots import Layout, Slot

How = Literal["name", "layer", "shape", "hand"]
"""How a tensor was matched: by name, the shapes of a layer, the shape alone, or by the user."""
Shapes = Mapping[str, tuple[int, ...]]

_ROLES = frozenset(
    (
        *("kernel", "weight", "bias", "gamma", "beta", "moving_mean", "moving_variance"),
        *("running_mean", "running_var", "recurrent_kernel"),
        *("weight_ih", "weight_hh", "bias_ih", "bias_hh"),
    )
)
"""Last parts of names that say what a tensor is: one is never taken for another."""


def layout_of(names: Iterable[str]) -> Layout:
    """Return the layout that the names of a file's tensors tell."""
    last = (name.rpartition(".")[2] for name in names)
    return "pytorch" if any(re.match(r"(weight|in_proj_)", part) for part in last) else "keras"


def natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts ``conv2`` before ``conv10``."""
    parts = re.findall(r"\d+|\D+", name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def assigned(
    slots: Sequence[Slot], tensors: Shapes, is_counted: bool = False
) -> dict[Slot, tuple[str, How]]:
    """Return a tensor for each slot for which there is one.

    Tensors with the name of a slot are taken first, then whole layers with the same shapes in the
    same order, then single tensors with the same shape in the same order.

    Args:
        tensors: the shapes in the file, in its order.
        is_counted: whether names such as ``dense_1`` may be counted otherwise than here: they mean
            something only if all slots have them.
    """
    matched: dict[Slot, tuple[str, How]] = {
        slot: (slot.name, "name") for slot in slots if tensors.get(slot.name) == slot.shape
    }
    if is_counted and len(matched) < len(slots):
        matched = {}
    free = {name: shape for name, shape in tensors.items() if name not in _used(matched)}
    layers = layers_by_name({slot.name: slot.shape for slot in slots if slot not in matched})
    by_name = {slot.name: slot for slot in slots}
    for has_names in (True, False):
        matched.update(
            (by_name[name], (tensor, "layer"))
            for name, tensor in _whole_layers(layers, free, has_names)
        )
        free = {name: shape for name, shape in free.items() if name not in _used(matched)}
        layers = layers_by_name({slot.name: slot.shape for slot in slots if slot not in matched})
    for slot in slots:
        if slot in matched:
            continue
        tensor = next((n for n in free if free[n] == slot.shape and _may_be(slot.name, n)), None)
        if tensor is not None:
            matched[slot] = tensor, "shape"
            del free[tensor]
    return matched


def _used(matched: Mapping[Slot, tuple[str, How]]) -> set[str]:
    return {tensor for tensor, _ in matched.values()}


def _whole_layers(
    layers: Mapping[str, Shapes], free: Shapes, has_names: bool
) -> Iterable[tuple[str, str]]:
    """Yield pairs of slots and tensors for layers that have the same tensors.

    Args:
        has_names: whether the last parts of the names are the same, too.
    """
    candidates = layers_by_name(free)
    for layer in layers.values():
        for prefix, other in candidates.items():
            pairs = _pairs(layer, other, has_names)
            if pairs:
                yield from pairs
                del candidates[prefix]
                break


def _pairs(layer: Shapes, other: Shapes, has_names: bool) -> list[tuple[str, str]]:
    """Return pairs of the tensors of ``layer`` and of ``other``; none if the layers differ."""
    if has_names:
        roles = {_split(name)[1]: name for name in other}
        found = [(name, roles.get(_split(name)[1], "")) for name in layer]
    elif len(layer) == len(other):
        found = list(zip(layer, other, strict=True))
    else:
        return []
    fits = all(other.get(tensor) == layer[name] and _may_be(name, tensor) for name, tensor in found)
    return found if fits else []


def layers_by_name(tensors: Shapes) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return the tensors by the layer that their names tell."""
    layers: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, shape in tensors.items():
        layers.setdefault(_split(name)[0], {})[name] = shape
    return layers


def _split(name: str) -> tuple[str, str]:
    """Return the layer of a tensor and its role there: ``dense_1`` and ``kernel``.

    The layers of a recurrent module of PyTorch count as layers of their own.
    """
    text = name.removesuffix(":0")
    cut = max(text.rfind("/"), text.rfind("."))
    layer, role = text[: max(cut, 0)], text[cut + 1 :]
    numbered = re.fullmatch(r"(.+)_l(\d+)(_reverse)?", role)
    if numbered:
        layer, role = f"{layer} {numbered[2]}", numbered[1] + (numbered[3] or "")
    return layer, role


def _may_be(slot: str, tensor: str) -> bool:
    """Return whether the names do not say that these are different things."""
    one, other = (_split(name)[1].removesuffix("_reverse") for name in (slot, tensor))
    return one == other or not {one, other} <= _ROLES
