"""The inputs of a recurrence, as they are made of tensors of the unrolled graph."""

from __future__ import annotations

from dataclasses import dataclass, field

from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor


@dataclass(frozen=True)
class RolledInput:
    """An input of the recurrence.

    Attributes:
        how: the name of an operation that makes it of ``tensors``: "concat" along the first axis,
            "transpose", or "" for the only one itself.
    """

    how: str
    tensors: tuple[Tensor, ...]

    @property
    def spec(self) -> TensorSpec:
        first = self.tensors[0].spec
        if not self.how:
            return first
        height, width = (1, 1, *first.static_shape)[-2:]
        if self.how == "transpose":
            return TensorSpec((width, height), first.dtype)
        return TensorSpec((height * len(self.tensors), width), first.dtype)


@dataclass
class FlatInput:
    """Inputs that follow each other in one, with the element with which each begins."""

    parts: dict[RolledInput, int] = field(default_factory=dict)

    @property
    def spec(self) -> TensorSpec:
        return TensorSpec((sum(part.spec.size for part in self.parts),), "float32")

    def place(self, part: RolledInput) -> int:
        """Return the element with which ``part`` begins, which is added if it is not there."""
        return self.parts.setdefault(part, self.spec.size)
