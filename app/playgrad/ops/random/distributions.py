"""``random_uniform``, ``random_normal`` and ``truncated_normal``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.graph import get_default_graph
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core import counter_random
from playgrad.ops.core.build import one_or_more, whole
from playgrad.ops.elementwise.definitions import absolute, maximum, minimum, where
from playgrad.ops.lowering.random import lower_random_normal, lower_random_uniform
from playgrad.ops.random.random_inputs import expect_step, seed_of, step_of, step_sample

_REDRAWS = 3


def random_uniform(
    shape: Sequence[int], low: float = 0.0, high: float = 1.0, seed: int | None = None,
    counter: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw numbers from the uniform distribution over [low, high).

    Args:
        shape: the shape of the result, known in full.
        low: the smallest possible number.
        high: the upper bound.
        seed: the seed of this operation; None takes the graph's next one. Numbers depend on it, on
            the seed of the graph, and on the step.
        counter: the step, an integer scalar. None means the graph's step, which changes with every
            run; a constant gives the same numbers in every run.

    Returns:
        A float32 tensor of shape ``shape``.

    Raises:
        ShapeError: ``shape`` is not known, or the step is not a scalar.
    """
    drawn = _draw(_UNIFORM, shape, seed, counter, name)
    scaled = drawn if high - low == 1 else drawn * (high - low)
    result = scaled if low == 0 else scaled + low
    if _rounds_up(low, high):
        result = minimum(result, float(np.nextafter(np.float32(high), np.float32(low))))
    return result


def _rounds_up(low: float, high: float) -> bool:
    """Return whether ``low`` + the largest draw x width is ``high`` in float32."""
    top = 1 - 2.0**-24
    fused = np.float32(low + top * (high - low))  # rounded once, as some GPUs do
    stepwise = np.float32(np.float32(top) * np.float32(high - low)) + np.float32(low)
    return bool(low < high and max(fused, stepwise) >= np.float32(high))


def random_normal(
    shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, seed: int | None = None,
    counter: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw numbers from a normal distribution.

    Args:
        shape: the shape of the result, known in full.
        mean: the mean of the distribution.
        stddev: its standard deviation.
        seed: as in ``random_uniform``.
        counter: as in ``random_uniform``.

    Returns:
        A float32 tensor of shape ``shape``.

    Raises:
        ShapeError: ``shape`` is not known, or the step is not a scalar.
    """
    return _located(_draw(_NORMAL, shape, seed, counter, name), mean, stddev)


def truncated_normal(
    shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, seed: int | None = None,
    counter: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw numbers from a normal distribution cut off at two standard deviations.

    A number further from the mean is drawn again, up to three times. After that (4 in a million) it
    is set to the bound. Arguments, result and errors as in ``random_normal``.
    """
    graph = get_default_graph()
    keys = graph.next_random_seed(seed)
    draws = [
        _draw(_NORMAL, shape, (keys[1] + redraw * 0x9E3779B9) & 0xFFFFFFFF, counter, name)
        for redraw in range(_REDRAWS + 1)
    ]
    result = minimum(maximum(draws.pop(), -2.0), 2.0)
    while draws:
        draw = draws.pop()
        result = where(absolute(draw) <= 2.0, draw, result)
    return _located(result, mean, stddev)


def _draw(
    op: OpDef, shape: Sequence[int], seed: int | None, counter: Any, name: str | None
) -> Tensor:
    graph = counter.graph if isinstance(counter, Tensor) else get_default_graph()
    sizes = [whole(n, "a dimension") for n in one_or_more(shape)]
    attrs = {"shape": sizes, "seed": graph.next_random_seed(seed)}
    return graph.add(op, [step_of(graph, counter)], attrs, name=name).output


def _located(standard: Tensor, mean: float, stddev: float) -> Tensor:
    scaled = standard if stddev == 1 else standard * float(stddev)
    return scaled if mean == 0 else scaled + float(mean)


def _infer_draw(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_step(inputs[0])
    if any(dim < 0 for dim in attrs["shape"]):
        raise ShapeError(f"random numbers need a known shape, got {tuple(attrs['shape'])}.")
    return [TensorSpec(tuple(attrs["shape"]), "float32")]


def _uniform(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    return [counter_random.uniform(seed_of(attrs), int(inputs[0]), tuple(attrs["shape"]))]


def _normal(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    return [counter_random.normal(seed_of(attrs), int(inputs[0]), tuple(attrs["shape"]))]


_DRAWS = tuple(
    Sample((step_sample(step),), {"shape": shape, "seed": seed})
    for step, shape, seed in (
        (0, [5], [0, 1]),
        (3, [4, 6], [7, 8]),
        (2**32 - 1, [129, 3], [2**32 - 1, 5]),
        (1, [], [1, 1]),
    )
)
_BAD_DRAWS = (
    InvalidSample(
        (np.asarray(1, np.int32),), {"shape": [2], "seed": [0, 1]}, DTypeError, "must be uint32"
    ),
    InvalidSample(
        (np.zeros(2, np.uint32),), {"shape": [2], "seed": [0, 1]}, ShapeError, "scalar, not (2,)"
    ),
    InvalidSample((step_sample(),), {"shape": [-1], "seed": [0, 1]}, ShapeError, "known shape"),
)
_UNIFORM = register(
    OpDef(
        name="random_uniform",
        infer=_infer_draw,
        reference=_uniform,
        lower=lower_random_uniform,
        epilogue=True,
        blocks_gradient=True,
        samples=_DRAWS,
        invalid=_BAD_DRAWS,
    )
)
_NORMAL = register(
    OpDef(
        name="random_normal",
        infer=_infer_draw,
        reference=_normal,
        lower=lower_random_normal,
        epilogue=True,
        blocks_gradient=True,
        samples=_DRAWS,
        invalid=_BAD_DRAWS,
    )
)
