"""A table of ONNX operators as playgrad operations.

Each translation maps a `Call` to the outputs of the operator. What an operation cannot do is a
`NotApplicableError` with the reason, which ends up in a table of the documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.graph.tensor import Tensor

Array = np.ndarray[Any, Any]
Translation = Callable[["Call"], Tensor | Sequence[Tensor]]
TRANSLATIONS: dict[str, Translation] = {}


class NotApplicableError(Exception):
    """A case that asks for something that playgrad does not have; the text is the reason."""


@dataclass
class Call:
    """A use of an operator.

    Attributes:
        inputs: the inputs as tensors; None for one that is left out.
        values: the same as arrays, for shapes, axes and the like, which playgrad takes as numbers.
        attributes: the attributes that are set.
        outputs: the names of the outputs; empty for one that is left out.
    """

    inputs: list[Tensor | None]
    values: list[Array | None]
    attributes: dict[str, Any]
    outputs: list[str]

    @property
    def x(self) -> Tensor:
        """The first input."""
        tensor = self.inputs[0]
        assert tensor is not None
        return tensor

    def input(self, number: int) -> Tensor | None:
        """Return input ``number``, or None."""
        return self.inputs[number] if number < len(self.inputs) else None

    def value(self, number: int) -> Any:
        """Return the value of input ``number`` as Python numbers, or None."""
        array = self.values[number] if number < len(self.values) else None
        return None if array is None else array.tolist()

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of an attribute."""
        return self.attributes.get(name, default)

    def expect(self, name: str, *allowed: Any) -> None:
        """Raise NotApplicableError unless the attribute is not set, or has an allowed value."""
        value = self.get(name)
        if value is not None and value not in allowed:
            raise NotApplicableError(f"{name}={value}")

    @property
    def axes(self) -> list[int] | None:
        """The axes, as an attribute or the second input."""
        axes = self.get("axes")
        if axes is None:
            axes = self.value(1)
        return list(axes) if axes is not None and len(axes) else None


def translates(*names: str) -> Callable[[Translation], Translation]:
    """Register a translation of the operators of these names."""

    def add(translation: Translation) -> Translation:
        for name in names:
            TRANSLATIONS[name] = translation
        return translation

    return add
