"""``random_bernoulli``, ``random_categorical`` and ``random_permutation``: random decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.create import arange
from playgrad.ops.arrays.repeat import tile
from playgrad.ops.arrays.shape import expand_dims, identity
from playgrad.ops.arrays.sort import argsort
from playgrad.ops.arrays.take import take
from playgrad.ops.core.build import as_tensor, normalize_axis, whole
from playgrad.ops.elementwise.definitions import cast, log, maximum
from playgrad.ops.random.distributions import random_uniform
from playgrad.ops.random.uniform_like import random_uniform_like
from playgrad.ops.reductions.argmax import argmax

_LEAST = 2.0**-25
"""Stands for a uniform number of 0, of which there is no logarithm; the next one is 2**-24."""


def random_bernoulli(
    shape: Sequence[int], p: Any = 0.5, seed: int | None = None, counter: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw 1 with probability ``p``, else 0.

    For a batch of unknown size, ``pg.random_uniform_like(p) < p`` does the same.

    Args:
        shape: the shape of the result, known in full.
        p: the probability of 1: a number, or a tensor that broadcasts to ``shape``.
        seed: as in ``random_uniform``.
        counter: as in ``random_uniform``.

    Returns:
        A float32 tensor of shape ``shape``. Gradients stop here.

    Raises:
        ShapeError: ``shape`` is not known, or ``p`` does not broadcast to it.
    """
    drawn = random_uniform(shape, seed=seed, counter=counter) < p
    if drawn.shape != tuple(shape):
        raise ShapeError(
            f"probabilities that give {shape_text(drawn.shape)} do not broadcast to "
            f"{shape_text(tuple(shape))}."
        )
    return cast(drawn, "float32", name=name)


def random_categorical(
    logits: Any, num_samples: int, seed: int | None = None, counter: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw classes with the probabilities ``softmax(logits)``, by the Gumbel-max trick.

    Args:
        logits: (batch, classes) logarithms of probabilities, which need not be normalized; a
            class of -inf is never drawn beside a finite one.
        num_samples: how many to draw for each row.
        seed: as in ``random_uniform``.
        counter: as in ``random_uniform``.

    Returns:
        An int32 tensor of shape (batch, num_samples). Gradients stop here.

    Raises:
        ShapeError: ``logits`` does not have two dimensions, or ``num_samples`` is negative.
    """
    scores, samples = as_tensor(logits), whole(num_samples, "num_samples")
    if len(scores.shape) != 2 or samples < 0:
        raise ShapeError(
            "random_categorical takes logits of shape (batch, classes) and a number of samples, "
            f"got {shape_text(scores.shape)} and {samples}."
        )
    rows = tile(expand_dims(scores, 1), (1, samples, 1))
    uniform = maximum(random_uniform_like(rows, seed, counter), _LEAST)
    return argmax(rows - log(-log(uniform)), axis=2, name=name)


def random_permutation(
    x: Any, axis: int = 0, seed: int | None = None, counter: Any = None, name: str | None = None
) -> Tensor:
    """Return ``x`` with its slices along an axis in random order, or a random order of numbers.

    Args:
        x: a tensor; or a whole number n, for ``arange(n)``.
        axis: the axis, of known size.
        seed: as in ``random_uniform``.
        counter: as in ``random_uniform``.

    Returns:
        A tensor of the shape and dtype of ``x``; int32 for a whole number.

    Raises:
        ShapeError: the axis does not exist, or its size is not known.
    """
    tensor = arange(x) if isinstance(x, int) else as_tensor(x)
    axis = normalize_axis(axis, len(tensor.shape))
    size = tensor.shape[axis]
    if size is None:
        raise ShapeError(
            f"random_permutation needs to know the size of axis {axis} of "
            f"{shape_text(tensor.shape)}."
        )
    order = argsort(random_uniform((size,), seed=seed, counter=counter))
    return identity(order, name=name) if isinstance(x, int) else take(tensor, order, axis, name)
