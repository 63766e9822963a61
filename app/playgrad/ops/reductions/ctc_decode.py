"""Greedy decoding of the outputs of a network that was trained with CTC."""

from __future__ import annotations

from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.along_axis import take_along_axis
from playgrad.ops.arrays.fill import ones_like
from playgrad.ops.arrays.gather import as_indices
from playgrad.ops.arrays.join import concatenate
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.arrays.sort import argsort
from playgrad.ops.core.build import as_tensor
from playgrad.ops.elementwise.definitions import (
    cast,
    less,
    logical_and,
    logical_not,
    not_equal,
    where,
)
from playgrad.ops.reductions.argmax import argmax
from playgrad.ops.reductions.cumsum import cumsum


def ctc_greedy_decode(
    inputs: Any,
    sequence_lengths: Any = None,
    merge_repeated: bool = True,
    mask_index: int = 0,
    name: str | None = None,
) -> Tensor:
    """Return the labels of the best class at each time, without repetitions and blanks.

    Args:
        inputs: logits or probabilities of shape (batch, times, classes).
        sequence_lengths: the number of times of each sample, (batch,); None for all.
        merge_repeated: whether a class at successive times is one label; it is where the network
            was trained with ``ctc_loss``.
        mask_index: the class of the blank.

    Returns:
        An int32 tensor of shape (batch, times): the labels of each sample, then -1.

    Raises:
        ShapeError: ``inputs`` have another shape.
    """
    scores = as_tensor(inputs)
    if scores.spec.rank != 3:
        raise ShapeError(
            f"the inputs of ctc_greedy_decode must have the shape (batch, times, classes), not "
            f"{shape_text(scores.shape)}."
        )
    best = argmax(scores, axis=-1)
    kept = not_equal(best, mask_index)
    if merge_repeated:
        # The time before the first has another class than any.
        before = concatenate([-ones_like(best[:, :1]), best[:, :-1]], axis=1)
        kept = logical_and(kept, not_equal(best, before))
    if sequence_lengths is not None:
        lengths = expand_dims(as_indices(sequence_lengths, scores), 1)
        times = cumsum(ones_like(best), axis=1, exclusive=True)
        kept = logical_and(kept, less(times, lengths))
    # The order is stable, so that labels come first, as they were.
    order = argsort(cast(logical_not(kept), "int32"), axis=1)
    return take_along_axis(where(kept, best, -1), order, 1, name=name)
