"""A table of ONNX operators as playgrad operations.

Each translation maps an `OperatorCall` to the outputs of the operator. What an operation cannot do
is a `NotApplicableError` with the reason, which ends up in the error of `pg.load_model` and in
`docs/onnx.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor

Array = np.ndarray[Any, Any]
Translation = Callable[["OperatorCall"], Tensor | Sequence[Tensor]]
LARGEST = 2**24
"""The most elements of all arrays that the operators of a file compute when it is read."""
MOST_NUMBERS = 2**16
"""The most numbers of a setting, such as the sizes of a result."""
TRANSLATIONS: dict[str, Translation] = {}


class NotApplicableError(Exception):
    """A case that asks for something that playgrad does not have; the text is the reason.

    Args:
        hint: advice for the author of the file.
    """

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.hint = hint


@dataclass
class Budget:
    """The elements of constants that a graph may still have, so that memory stays small."""

    left: float = LARGEST

    def spend(self, size: float) -> None:
        """Raise NotApplicableError if an array of ``size`` elements does not fit any more."""
        if not size <= self.left:
            raise NotApplicableError(f"a constant of {size:.0f} elements, or as many together")
        self.left -= size


@dataclass
class OperatorCall:
    """A use of an operator.

    Attributes:
        inputs: the inputs as tensors; None for one that is left out.
        values: the same as arrays, for shapes, axes and the like, which playgrad takes as numbers;
            None for one that is left out or depends on the data. An array of objects has None where
            it depends on the size of the batch.
        attributes: the attributes that are set.
        outputs: the names of the outputs; empty for one that is left out.
        shapes: the shapes of the outputs, with None for sizes that depend on the batch; empty if
            they are not known in advance.
        like: a tensor whose first dimension is that of the batch.
        budget: the elements of constants that the call may still make.
    """

    inputs: Sequence[Tensor | None]
    values: Sequence[Array | None]
    attributes: dict[str, Any]
    outputs: Sequence[str]
    shapes: Sequence[Shape] = ()
    like: Tensor | None = None
    budget: Budget = field(default_factory=Budget)

    @property
    def x(self) -> Tensor:
        """The first input."""
        return self.required(0)

    def input(self, number: int) -> Tensor | None:
        """Return input ``number``, or None if it is left out."""
        return self.inputs[number] if number < len(self.inputs) else None

    def required(self, number: int) -> Tensor:
        """Return input ``number``.

        Raises:
            NotApplicableError: it is left out.
        """
        tensor = self.input(number)
        if tensor is None:
            raise NotApplicableError(f"a call without input {number}")
        return tensor

    @property
    def all(self) -> list[Tensor]:
        """The inputs, of which none may be left out."""
        return [self.required(number) for number in range(len(self.inputs))]

    def value(self, number: int) -> Any:
        """Return the value of input ``number`` as Python numbers, or None if it is left out.

        Raises:
            NotApplicableError: it depends on the data, or has too many numbers.
        """
        array = self.values[number] if number < len(self.values) else None
        if array is not None:
            if array.size > MOST_NUMBERS:
                raise NotApplicableError(f"input {number} with {array.size} numbers")
            return array.tolist()
        if self.input(number) is not None:
            raise NotApplicableError(f"input {number} depends on the data; it must be constant")
        return None

    def numbers(self, number: int) -> Any:
        """Return the same as `value`.

        Raises:
            NotApplicableError: it depends on the data or on the size of the batch.
        """
        value = self.value(number)
        if isinstance(value, list) and None in value:
            raise NotApplicableError(f"input {number} depends on the size of the batch")
        return value

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
            axes = self.numbers(1)
        return list(axes) if axes is not None and len(axes) else None


def translates(*names: str) -> Callable[[Translation], Translation]:
    """Register a translation of the operators of these names."""

    def add(translation: Translation) -> Translation:
        for name in names:
            TRANSLATIONS[name] = translation
        return translation

    return add
