"""Layers that merge branches: each takes a list of tensors.

If all of them have masks, the result keeps the steps that any of the masks keeps; otherwise it has
no mask, as a tensor without one keeps all steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import ClassVar

from playgrad.errors import ShapeError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.masks import beside, mask_of, set_mask
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.fill import zeros_like
from playgrad.ops.elementwise import definitions as elementwise
from playgrad.ops.elementwise.definitions import where
from playgrad.ops.reductions.truth import reduce_all
from playgrad.records import LayerRecord


class _Merge(Layer):
    uses_mask = True

    def build(self, *shapes: Shape) -> None:
        if len(shapes) < 2:
            raise ShapeError(f"layer '{self.name}' takes two or more tensors, got one.")


class _Elementwise(_Merge):
    merge: ClassVar[Callable[[Tensor, Tensor], Tensor]]

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        result = self.merged(inputs)
        set_mask(result, _union([mask_of(x) for x in inputs]))
        return result

    def merged(self, inputs: Sequence[Tensor]) -> Tensor:
        """Return the result of merging, without its mask."""
        return reduce(type(self).merge, inputs)


class _Extremum(_Elementwise):
    """A merge in which a step that a tensor skips is taken from the others."""

    def merged(self, inputs: Sequence[Tensor]) -> Tensor:
        result, kept = inputs[0], mask_of(inputs[0])
        for x in inputs[1:]:
            mask = mask_of(x)
            both = type(self).merge(result, x)
            if mask is not None:
                both = where(beside(mask, x), both, result)
            if kept is not None:
                both = where(beside(kept, x), both, x)
            result, kept = both, _union([kept, mask])
        return result


class Add(_Elementwise):
    """Sum of tensors of the same shape."""

    kind = "add"
    record = LayerRecord(
        about="Adds up the results of several branches, number by number.",
        rule="merged",
        keras="Add",
        tfjs="",
        torch="elementwise",
        is_merge=True,
        is_positionwise=True,
    )
    merge = staticmethod(elementwise.add)


class Multiply(_Elementwise):
    """Elementwise product of tensors of the same shape; a step that one skips is 1 in it.

    Where all of them skip a step, the result is 0.
    """

    kind = "multiply"
    record = LayerRecord(
        about="Multiplies the results of several branches, number by number.",
        rule="merged",
        keras="Multiply",
        tfjs="",
        torch="elementwise",
        is_merge=True,
    )
    merge = staticmethod(elementwise.mul)

    def merged(self, inputs: Sequence[Tensor]) -> Tensor:
        masks = [mask_of(x) for x in inputs]
        factors = [
            x if mask is None else where(beside(mask, x), x, 1.0)
            for x, mask in zip(inputs, masks, strict=True)
        ]
        product, union = super().merged(factors), _union(masks)
        return product if union is None else where(beside(union, product), product, 0.0)


class Maximum(_Extremum):
    """Elementwise maximum of tensors of the same shape, without the steps that they skip."""

    kind = "maximum"
    record = LayerRecord(
        rule="merged",
        keras="Maximum",
        tfjs="",
        torch="elementwise",
        is_merge=True,
    )
    merge = staticmethod(elementwise.maximum)


class Minimum(_Extremum):
    """Elementwise minimum of tensors of the same shape, without the steps that they skip."""

    kind = "minimum"
    record = LayerRecord(
        rule="merged",
        keras="Minimum",
        tfjs="",
        torch="elementwise",
        is_merge=True,
    )
    merge = staticmethod(elementwise.minimum)


class Average(_Elementwise):
    """Elementwise mean of tensors of the same shape."""

    kind = "average"
    record = LayerRecord(
        rule="merged",
        keras="Average",
        tfjs="",
        torch="elementwise",
        is_merge=True,
    )
    merge = staticmethod(elementwise.add)

    def merged(self, inputs: Sequence[Tensor]) -> Tensor:
        return super().merged(inputs) / float(len(inputs))


class Subtract(_Elementwise):
    """Elementwise difference of two tensors of the same shape."""

    kind = "subtract"
    record = LayerRecord(
        rule="merged",
        keras="Subtract",
        torch="elementwise",
        is_merge=True,
    )
    merge = staticmethod(elementwise.sub)

    def build(self, *shapes: Shape) -> None:
        if len(shapes) != 2:
            raise ShapeError(f"layer '{self.name}' takes two tensors, got {len(shapes)}.")


class Concatenate(_Merge):
    """Concatenation of tensors along ``axis``; the other dimensions must agree."""

    kind = "concatenate"
    record = LayerRecord(
        about="Puts the results of several branches side by side.",
        rule="concatenate",
        keras="Concatenate",
        tfjs="axis",
        torch="concatenate",
        is_merge=True,
    )

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(name)
        self.axis = axis

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        result = concat(list(inputs), self.axis)
        set_mask(result, self._mask(inputs))
        return result

    def _mask(self, inputs: Sequence[Tensor]) -> Tensor | None:
        """Return the mask of the result: the masks one after the other along the steps."""
        masks = [mask_of(x) for x in inputs]
        rank = next((mask.spec.rank for mask in masks if mask is not None), 0)
        axis = self.axis % inputs[0].spec.rank
        if axis >= rank:  # of the features
            return _union(masks)
        return concat(
            [
                _all_steps(x, rank) if mask is None else mask
                for x, mask in zip(inputs, masks, strict=True)
            ],
            axis,
        )


def _union(masks: Sequence[Tensor | None]) -> Tensor | None:
    """Return the mask that keeps a step if any of ``masks`` does; None if one keeps all steps."""
    present = [mask for mask in masks if mask is not None]
    return reduce(elementwise.logical_or, present) if len(present) == len(masks) else None


def _all_steps(x: Tensor, rank: int) -> Tensor:
    """Return a mask of the first ``rank`` dimensions of ``x`` that keeps all steps."""
    others = tuple(range(rank, x.spec.rank))
    return reduce_all(elementwise.equal(zeros_like(x), 0.0), axis=others)
