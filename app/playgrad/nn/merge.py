"""Layers that merge branches: each takes a list of tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import ClassVar

from playgrad.errors import ShapeError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.ops.arrays.concat import concat
from playgrad.ops.elementwise import definitions as elementwise


class _Merge(Layer):
    def build(self, *shapes: Shape) -> None:
        if len(shapes) < 2:
            raise ShapeError(f"layer '{self.name}' takes two or more tensors, got one.")


class _Elementwise(_Merge):
    merge: ClassVar[Callable[[Tensor, Tensor], Tensor]]

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return reduce(type(self).merge, inputs)


class Add(_Elementwise):
    """Sum of tensors of the same shape."""

    kind = "add"
    merge = staticmethod(elementwise.add)


class Multiply(_Elementwise):
    """Elementwise product of tensors of the same shape."""

    kind = "multiply"
    merge = staticmethod(elementwise.mul)


class Maximum(_Elementwise):
    """Elementwise maximum of tensors of the same shape."""

    kind = "maximum"
    merge = staticmethod(elementwise.maximum)


class Minimum(_Elementwise):
    """Elementwise minimum of tensors of the same shape."""

    kind = "minimum"
    merge = staticmethod(elementwise.minimum)


class Average(_Elementwise):
    """Elementwise mean of tensors of the same shape."""

    kind = "average"
    merge = staticmethod(elementwise.add)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return super().call(*inputs, training=training) / float(len(inputs))


class Subtract(_Elementwise):
    """Elementwise difference of two tensors of the same shape."""

    kind = "subtract"
    merge = staticmethod(elementwise.sub)

    def build(self, *shapes: Shape) -> None:
        if len(shapes) != 2:
            raise ShapeError(f"layer '{self.name}' takes two tensors, got {len(shapes)}.")


class Concatenate(_Merge):
    """Concatenation of tensors along ``axis``; the other dimensions must agree."""

    kind = "concatenate"

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(name)
        self.axis = axis

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return concat(list(inputs), self.axis)
