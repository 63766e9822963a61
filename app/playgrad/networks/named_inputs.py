"""Inputs of models by name, as Keras' dictionaries have them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from playgrad.errors import DataError

_NUMBER = re.compile(r"_\d+$")


def input_names(network: Any) -> list[str]:
    """Return the names of the inputs, from their ``pg.Input`` or from the dictionary that the
    ``call`` of a class takes."""
    keys: list[str] | None = network.input_keys
    if keys is not None:
        return keys
    return [tensor.node.name.rpartition("/")[2] for tensor in network.inputs]


def in_order(network: Any, values: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return a dictionary in the order of the inputs of ``network``.

    An input that the graph numbers, because it has another one of its name, goes by both names.

    Args:
        network: it is built.
        what: the name of the dictionary in errors.

    Raises:
        DataError: the dictionary lacks an input, or names something else.
    """
    names = input_names(network)
    unnumbered = [_NUMBER.sub("", name) for name in names]
    if len(set(unnumbered)) == len(names) and not set(names) & set(values):
        names = [
            plain if plain in values else name
            for name, plain in zip(names, unnumbered, strict=True)
        ]
    missing = [name for name in names if name not in values]
    extra = [key for key in values if key not in names]
    if missing or extra:
        wrong = [f"lacks {_listed(missing)}"] if missing else []
        wrong += [f"has {_listed(extra)}, which the model does not take"] if extra else []
        raise DataError(
            f"{what} {', and '.join(wrong)}.", hint=f"Its inputs are: {', '.join(names)}."
        )
    return {name: values[name] for name in names}


def _listed(names: list[Any]) -> str:
    return ", ".join(map(repr, names))
