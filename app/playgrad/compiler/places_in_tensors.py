"""Where the elements of a tensor are in another one: parts of it, in another shape."""

from __future__ import annotations

import math
from dataclasses import dataclass

from playgrad.graph.tensor import Tensor


@dataclass(frozen=True)
class MatrixPart:
    """A matrix in ``base``, whose element in row r and column c is element
    ``first + r * row + c * column`` of it."""

    base: Tensor
    first: int
    row: int
    column: int

    def is_like(self, other: MatrixPart) -> bool:
        """Return whether both are the same but for the first element."""
        return self.base is other.base and (self.row, self.column) == (other.row, other.column)


def without_aliases(tensor: Tensor) -> Tensor:
    """Return the tensor whose bytes ``tensor`` has in another shape."""
    while tensor.node.op.alias:
        tensor = tensor.node.inputs[0]
    return tensor


def rows_of(tensor: Tensor) -> tuple[Tensor, int] | None:
    """Return a tensor of which ``tensor`` is a part without gaps, and the number of its first
    element there; None if it is a part of none."""
    node = without_aliases(tensor).node
    if node.op.name != "slice":
        return None
    (x,) = node.inputs
    begin, whole, part = node.attrs["begin"], x.spec.static_shape, node.outputs[0].spec.static_shape
    if whole[1:] != part[1:] or not begin:
        return None
    return without_aliases(x), begin[0] * math.prod(whole[1:])


def part_of(tensor: Tensor, width: int) -> MatrixPart:
    """Return where ``tensor`` is, which is broadcast to a matrix of ``width`` columns."""
    shape = (1, 1, *tensor.spec.static_shape)[-2:]
    node = tensor.node
    column = int(shape[1] > 1)
    if node.op.name == "slice" and len(node.attrs["begin"]) == 2 and shape[0] > 1:
        (x,) = node.inputs
        height, row = x.spec.static_shape
        if height == shape[0]:
            return MatrixPart(without_aliases(x), node.attrs["begin"][1], row, column)
    row = shape[1] if shape[0] > 1 else 0
    found = rows_of(tensor)
    base, first = (without_aliases(tensor), 0) if found is None else found
    return MatrixPart(base, first, row, column)
