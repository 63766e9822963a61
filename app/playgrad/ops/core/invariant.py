"""What training keeps of a variable: zeros, shared values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from playgrad.graph.tensor import Tensor


class Invariant(ABC):
    """A property of a variable's value that updates keep, for `Variable.keep`.

    Optimizers update a variable by ``gradient`` of its gradient, and set it to ``value`` of the
    result.

    Attributes:
        kind: the name in files.
    """

    kind: ClassVar[str]

    def gradient(self, variable: Tensor, grad: Tensor) -> Tensor:
        """Return the gradient to update ``variable`` with, of its shape and dtype."""
        return grad

    @abstractmethod
    def value(self, old: Tensor, new: Tensor) -> Tensor:
        """Return the value next to ``new`` that has the property, where ``old`` had it."""
