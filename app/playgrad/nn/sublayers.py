"""The layers, models and variables that an object has as attributes, alone or in lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playgrad.ops.state import Variable

OWN = {"variables", "regularizers", "graph", "layers_of_keras", "passed"}
"""The attributes of layers and models that are not the user's."""
KINDS: list[type] = []
"""The classes of layers and of models."""


def attributes(owner: Any, kinds: tuple[type, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of ``kinds`` with their names: ``dense``, ``blocks/0``, ``heads/left``.

    They come in the order of assignment; each object once.
    """
    seen: set[int] = set()
    for name, value in list(vars(owner).items()):
        if name.strip("_") not in OWN:
            yield from _within(name.strip("_"), value, kinds, seen)


def _within(
    name: str, value: Any, kinds: tuple[type, ...], seen: set[int]
) -> Iterator[tuple[str, Any]]:
    if isinstance(value, kinds):
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            yield from _within(f"{name}/{i}", each, kinds, seen)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _within(f"{name}/{key}", each, kinds, seen)


def adopt_variables(layer: Any) -> None:
    """Make the variables of layers and models among the attributes of ``layer`` its own as well."""
    owned = set(layer.variables.values())
    for path, value in attributes(layer, (*KINDS, Variable)):
        if isinstance(value, Variable):
            named = {path: value}
        else:
            of_value: Any = getattr(value, "named_variables", None)
            if of_value is None:
                of_value = value.variables if getattr(value, "built", True) else {}
            named = {f"{path}/{name}": variable for name, variable in dict(of_value).items()}
            regularizers = getattr(value, "regularizers", {})
            layer.regularizers |= {f"{path}/{name}": r for name, r in regularizers.items()}
        for name, variable in named.items():
            if variable not in owned:
                owned.add(variable)
                layer.variables[name] = variable
                if not variable.trainable:
                    layer.keep_fixed(name)
