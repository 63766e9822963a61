"""Losses and metrics of sequences with a mask: only the steps that it keeps count."""

from __future__ import annotations

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.fill import ones_like
from playgrad.ops.arrays.shape import expand_dims, reshape, reshape_like
from playgrad.ops.elementwise.definitions import cast, where
from playgrad.ops.reductions.reduce import reduce_mean, reduce_sum


def joined_steps(values: Tensor, mask: Tensor) -> Tensor:
    """Return ``values`` (batch, steps, ...) with the dimensions of ``mask`` joined into one.

    Raises:
        ShapeError: ``values`` has fewer dimensions than ``mask``, or another number of steps.
    """
    rank = mask.spec.rank
    if values.spec.rank < rank or any(
        None not in (a, b) and a != b
        for a, b in zip(values.shape[1:rank], mask.shape[1:], strict=True)
    ):
        raise ShapeError(
            f"a sequence of shape {shape_text(values.shape)} cannot have a mask of shape "
            f"{shape_text(mask.shape)}.",
            hint="The targets of masked predictions have a value for each step.",
        )
    rest = [size or 0 for size in values.shape[rank:]]
    return reshape(values, (-1, *rest))


def divided_steps(part: Tensor, mask: Tensor) -> Tensor:
    """Return ``part`` (batch * steps,) as (batch, steps); (batch * steps, n) likewise."""
    if part.spec.rank == 1:
        return reshape_like(part, mask)
    steps = expand_dims(cast(mask, "float32"), -1)
    return reshape_like(part, steps + ones_like(part[:1]))


def mean_of_steps(values: Tensor, mask: Tensor, what: str) -> Tensor:
    """Return the means of ``values`` (batch, steps, ...) over all dimensions after the steps.

    Args:
        what: the name of the function that computed them, for errors.

    Raises:
        ShapeError: there is not a value for each step.
    """
    rank = mask.spec.rank
    if values.spec.rank < rank:
        raise ShapeError(
            f"{what!r} returns shape {shape_text(values.shape)} for sequences with a mask, "
            f"expected a number for each step, {shape_text(mask.shape)}.",
            hint="Leave out the mean over the steps: it is taken over the steps the mask keeps.",
        )
    others = tuple(range(rank, values.spec.rank))
    return reduce_mean(values, axis=others) if others else values


def sum_of_kept(values: Tensor, mask: Tensor) -> Tensor:
    """Return the sum over the steps that ``mask`` keeps.

    Args:
        values: a number for each step, of the shape of ``mask``, or n, with one dimension more.

    Returns:
        A tensor (batch,) or (batch, n).
    """
    extra = values.spec.rank - mask.spec.rank
    kept = where(expand_dims(mask, -1) if extra else mask, values, 0.0)
    return sum_of_steps(kept, mask)


def kept_steps(mask: Tensor) -> Tensor:
    """Return the number of steps of each sample that ``mask`` keeps, float32 (batch,)."""
    return sum_of_steps(cast(mask, "float32"), mask)


def sum_of_steps(values: Tensor, mask: Tensor) -> Tensor:
    """Return the sum of ``values``, which begin with the dimensions of ``mask``, over the steps."""
    rank = mask.spec.rank
    return values if rank == 1 else reduce_sum(values, axis=tuple(range(1, rank)))
