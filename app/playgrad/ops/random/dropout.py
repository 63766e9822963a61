"""``dropout``, whose gradient computes the same mask again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core import counter_random
from playgrad.ops.core.build import add_node, as_tensor, expect_floating, whole
from playgrad.ops.core.samples import floats
from playgrad.ops.lowering.random import lower_dropout
from playgrad.ops.random.random_inputs import expect_step, seed_of, step_of, step_sample


def dropout(x: Any, rate: float, seed: int | None = None, counter: Any = None,
            first_row: int = 0, name: str | None = None) -> Tensor:  # fmt: skip
    """Set random elements to 0 and divide the others by ``1 - rate`` (Srivastava et al. 2014).

    The gradient computes the mask again instead of storing it.

    Args:
        x: a tensor of any shape; float32 or float64.
        rate: the probability that an element is dropped, in [0, 1).
        seed: as in ``random_uniform``.
        counter: as in ``random_uniform``.
        first_row: if ``x`` is a part of a batch, the row of the batch at which it starts. The part
            then gets the rows of the mask that it would get in the whole batch.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        ShapeError: ``rate`` or ``first_row`` is out of range.
        DTypeError: ``x`` is not floating.
    """
    tensor = as_tensor(x)
    attrs = {
        "rate": float(rate),
        "seed": tensor.graph.next_random_seed(seed),
        "first_row": whole(first_row, "the first row of dropout"),
    }
    step = step_of(tensor.graph, counter)
    return add_node(_DROPOUT, [tensor, step], attrs, name=name).output


def _infer_dropout(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_floating(inputs[0], "the input of dropout")
    expect_step(inputs[1])
    if not 0 <= attrs["rate"] < 1:
        raise ShapeError(f"dropout: rate must be in [0, 1), got {attrs['rate']}.")
    if attrs.get("first_row", 0) < 0:
        raise ShapeError(f"dropout: first_row must be ≥ 0, got {attrs['first_row']}.")
    return [inputs[0]]


def _dropout(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, step = inputs
    mask = counter_random.dropout_mask(
        seed_of(attrs), int(step), x.shape, attrs["rate"], attrs.get("first_row", 0)
    )
    return [x * mask.astype(x.dtype)]


def _dropout_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    return [add_node(_DROPOUT, [grads[0], node.inputs[1]], node.attrs).output, None]


_DROPOUT = register(
    OpDef(
        name="dropout",
        infer=_infer_dropout,
        reference=_dropout,
        gradient=_dropout_gradient,
        lower=lower_dropout,
        epilogue=True,
        samples=(
            Sample((floats(9, 7), step_sample()), {"rate": 0.5, "seed": [0, 1]}, (0,)),
            Sample((floats(300), step_sample(4)), {"rate": 0.1, "seed": [5, 2]}, (0,)),
            Sample((floats(3, 2, 2), step_sample()), {"rate": 0.0, "seed": [0, 1]}, (0,)),
            Sample((floats(5, 7), step_sample()), {"rate": 0.5, "seed": [0, 1], "first_row": 3}),
            Sample((floats(6), step_sample()), {"rate": 0.5, "seed": [0, 1], "first_row": 4}),
        ),
        invalid=(
            InvalidSample(
                (floats(3), step_sample()),
                {"rate": 1.0, "seed": [0, 1]},
                ShapeError,
                "must be in [0, 1), got 1.0",
            ),
            InvalidSample(
                (floats(3), step_sample()),
                {"rate": 0.5, "seed": [0, 1], "first_row": -1},
                ShapeError,
                "must be ≥ 0, got -1",
            ),
            InvalidSample(
                (np.zeros(3, np.int32), step_sample()),
                {"rate": 0.5, "seed": [0, 1]},
                DTypeError,
                "not int32",
            ),
        ),
    )
)
