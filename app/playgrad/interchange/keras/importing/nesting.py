"""Weights files of Keras models that have models inside, for networks without them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from playgrad.errors import CheckpointError
from playgrad.interchange.keras.graph import CallGraph
from playgrad.io.hdf5.reader import Hdf5File

Places = Mapping[str, tuple[str, tuple[int, ...]]]
_GROUP = re.compile(r"(?:layers/[^/]+/)*layers/[^/]+(?=/)")
_Signature = tuple[str, tuple[tuple[str, tuple[int, ...]], ...]]
"""The class of a layer, and the paths and shapes of its weights."""


def is_nested(file: Hdf5File) -> bool:
    """Return whether a file has the weights of a model inside another."""
    return any("/layers/" in path for path in file.entries)


def places_in_models(file: Hdf5File, places: Places, graph: CallGraph) -> Places:
    """Return ``places`` with the paths of a file in which layers belong to models inside others.

    A layer is found by its class and the shapes of its weights. Several that are alike must follow
    one another in one of the models.

    Raises:
        CheckpointError: the layers differ, or more than one order is possible.
    """
    theirs = _by_signature((path, file.entries[path].shape) for path in file.entries)
    ours = _by_signature(places.values())
    moved: dict[str, str] = {}
    for signature, groups in ours.items():
        others = theirs.get(signature, [])
        if len(others) != len(groups):
            raise CheckpointError(
                f"the Keras file has {len(others)} layers like '{groups[0]}' of these shapes, the "
                f"model {len(groups)}.",
                hint="Load them into a model with the same layers, of the same sizes.",
            )
        if len(groups) > 1 and not (_are_siblings(others) and _are_in_a_row(groups, graph)):
            raise CheckpointError(
                f"the Keras file has a model inside another, and {len(groups)} layers like "
                f"'{groups[0]}', whose order is not known.",
                hint="Save the whole model with model.save('name.keras'), and read it with "
                "pg.load_model.",
            )
        moved |= zip(groups, others, strict=True)
    return {
        name: (moved[group := _group(path)] + path[len(group) :], shape)
        for name, (path, shape) in places.items()
    }


def _group(path: str) -> str:
    found = _GROUP.match(path)
    return found[0] if found else ""


def _by_signature(
    arrays: Iterable[tuple[str, tuple[int, ...]]],
) -> dict[_Signature, list[str]]:
    """Return the groups of layers, in order, that have weights of the same shapes."""
    layers: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for path, shape in arrays:
        group = _group(path)
        layers.setdefault(group, []).append((path[len(group) :], tuple(shape)))
    found: dict[_Signature, list[str]] = {}
    for group in sorted(layers, key=_number):
        found.setdefault((_class_of(group), tuple(sorted(layers[group]))), []).append(group)
    return found


def _class_of(group: str) -> str:
    return re.sub(r"_\d+$", "", group.rpartition("/")[2])


def _number(group: str) -> int:
    numbered = re.search(r"_(\d+)$", group)
    return int(numbered[1]) if numbered else 0


def _are_siblings(groups: list[str]) -> bool:
    return len({group.rpartition("/")[0] for group in groups}) == 1


def _are_in_a_row(groups: list[str], graph: CallGraph) -> bool:
    """Return whether each layer needs the result of the one before it."""
    calls = {path: name for name, path in graph.groups(graph.layers()).items()}
    names = [calls[group] for group in groups]
    last: dict[str, str] = {}
    """The last of the layers on the way to each tensor."""
    before: dict[str, str] = {}
    for call in graph.calls:
        reached = {last[tensor] for tensor in call.inputs if tensor in last}
        name = graph.name(call)
        if name in names:
            before.setdefault(name, max(reached, key=names.index, default=""))
            reached = {name}
        if reached:
            last |= dict.fromkeys(call.outputs, max(reached, key=names.index))
    return all(before.get(b) == a for a, b in pairwise(names))
