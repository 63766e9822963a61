"""``random_uniform_like``: random numbers in the shape of a tensor, whose batch may be unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core import counter_random
from playgrad.ops.core.build import add_node, as_tensor, whole
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.random import lower_random_uniform_like
from playgrad.ops.random.random_inputs import expect_step, seed_of, step_of, step_sample


def random_uniform_like(
    x: Any, seed: int | None = None, counter: Any = None, first_row: int = 0,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draw numbers from the uniform distribution over [0, 1), in the shape of ``x``.

    Unlike that of ``random_uniform``, the shape may have an unknown batch dimension, as in layers
    and in functions of ``pg.function``. ``pg.random_uniform_like(p) < p`` is true with probability
    ``p``.

    Args:
        x: a tensor of any shape and dtype; its values are not used.
        seed: as in ``random_uniform``.
        counter: as in ``random_uniform``.
        first_row: if ``x`` is a part of a batch, the row of the batch at which it starts. The part
            then gets the numbers that it would get in the whole batch.

    Returns:
        A float32 tensor of the shape of ``x``. Gradients stop here.

    Raises:
        ShapeError: ``first_row`` is negative.
    """
    tensor = as_tensor(x)
    attrs = {
        "seed": tensor.graph.next_random_seed(seed),
        "first_row": whole(first_row, "the first row of random_uniform_like"),
    }
    step = step_of(tensor.graph, counter)
    return add_node(_UNIFORM_LIKE, [tensor, step], attrs, name=name).output


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_step(inputs[1])
    if attrs["first_row"] < 0:
        raise ShapeError(f"random_uniform_like: first_row must be ≥ 0, got {attrs['first_row']}.")
    return [TensorSpec(inputs[0].shape, "float32")]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, step = inputs
    first = attrs["first_row"] * int(np.prod(x.shape[1:]))
    return [counter_random.uniform(seed_of(attrs), int(step), x.shape, first)]


_UNIFORM_LIKE = register(
    OpDef(
        name="random_uniform_like",
        infer=_infer,
        reference=_reference,
        lower=lower_random_uniform_like,
        epilogue=True,
        blocks_gradient=True,
        samples=tuple(
            Sample((x, step_sample(step)), {"seed": seed, "first_row": first})
            for x, step, seed, first in (
                (floats(9, 7), 3, [0, 1], 0),
                (integers(5, 7), 0, [5, 2], 3),
                (floats(6), 2**32 - 1, [2**32 - 1, 5], 5),
                (np.asarray(1, np.float32), 1, [1, 1], 0),
                (floats(0, 3), 1, [1, 1], 2),
            )
        ),
        invalid=(
            InvalidSample(
                (floats(3), step_sample()),
                {"seed": [0, 1], "first_row": -1},
                ShapeError,
                "must be ≥ 0, got -1",
            ),
            InvalidSample(
                (floats(3), np.asarray(1, np.int32)),
                {"seed": [0, 1], "first_row": 0},
                DTypeError,
                "must be uint32",
            ),
        ),
    )
)
