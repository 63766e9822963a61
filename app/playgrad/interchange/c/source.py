"""The text of a C file as it grows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from playgrad.interchange.c.weights import StoredWeights

Array = np.ndarray[Any, Any]


class CSource:
    """Declarations of constants, and calls of functions.

    Attributes:
        declarations, calls: lines of C.
        called: names of the functions and types that they need.
    """

    def __init__(self) -> None:
        self.declarations: list[str] = []
        self.calls: list[str] = []
        self.called: set[str] = set()
        self._taken: set[str] = set()

    def unique(self, name: str) -> str:
        """Return an identifier for a layer, to which a suffix is added."""
        base = identifier(name)
        chosen, number = base, 1
        while chosen in self._taken:
            number += 1
            chosen = f"{base}_{number}"
        self._taken.add(chosen)
        return chosen

    def call(self, function: str, *arguments: Any) -> None:
        self.called.add(function)
        self.calls.append(f"{function}({', '.join(map(str, arguments))});")

    def constant(self, kind: str, name: str, value: str) -> str:
        """Declare a structure, and return its address."""
        self.called.add(kind)
        self.declarations.append(f"static const {kind} {name} = {value};")
        return f"&{name}"

    def array(self, name: str, values: Array) -> str:
        """Declare an array of integers of the dtype of ``values``, and return its name."""
        kind = f"{values.dtype.name}_t"
        text = numbers(values.reshape(-1).tolist())
        self.declarations.append(f"static const {kind} {name}[{values.size}] = {{\n{text}\n}};")
        return name

    def weights(self, name: str, weights: StoredWeights) -> tuple[str, str, str]:
        """Declare weights, and return the names of plain values, packed values, and codebook."""
        values = self.array(f"{name}_kernel", weights.values)
        codebook = "0"
        if weights.codebook is not None:
            codebook = self.array(f"{name}_codebook", weights.codebook)
        plain = weights.kind == "plain"
        return values if plain else "0", "0" if plain else values, codebook


def identifier(name: str) -> str:
    """Return a name with the letters, digits and underscores of an identifier of C."""
    plain = re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_")
    return plain if plain[:1].isalpha() else f"layer_{plain}".rstrip("_")


def numbers(values: Iterable[int]) -> str:
    """Return the lines between the braces of an array."""
    lines, line = [], "   "
    for value in values:
        # C has no literal for the lowest number of a type: it negates one that does not fit.
        item = f" {value}," if value > -(2**31) else " -2147483647 - 1,"
        if len(line) + len(item) > 100:
            lines.append(line)
            line = "   "
        line += item
    return "\n".join([*lines, line.rstrip(",")])
