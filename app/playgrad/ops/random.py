"""Random numbers, dropout and the order of training examples.

All are counter-based (see ``counter_random``): the key is (graph seed, op seed), the counter
(step, element). The step is a uint32 scalar: by default the graph's own, which a session raises
by 1 after every run that read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.graph import Graph, get_default_graph
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops import counter_random
from playgrad.ops.build import (
    add_node,
    as_tensor,
    expect_dtype,
    expect_floating,
    one_or_more,
    whole,
)
from playgrad.ops.elementwise import absolute, cast, maximum, minimum, where
from playgrad.ops.lowering.random import (
    lower_batch_indices,
    lower_dropout,
    lower_random_normal,
    lower_random_uniform,
)
from playgrad.ops.samples import floats
from playgrad.ops.state import random_step

REDRAWS = 3


def random_uniform(
    shape: Sequence[int], low: float = 0.0, high: float = 1.0, seed: int | None = None,
    counter: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """float32 numbers uniform in [low, high).

    Args:
        seed: key of this operation; None: the next number of the graph.
        counter: the step, a uint32 scalar; None: the graph's. A constant gives the same numbers
            in every run.
    """
    drawn = _draw(_UNIFORM, shape, seed, counter, name)
    scaled = drawn if high - low == 1 else drawn * (high - low)
    return scaled if low == 0 else scaled + low


def random_normal(
    shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, seed: int | None = None,
    counter: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """float32 numbers of a normal distribution."""
    return _located(_draw(_NORMAL, shape, seed, counter, name), mean, stddev)


def truncated_normal(
    shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, seed: int | None = None,
    counter: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Like ``random_normal``, but nothing lies further than two standard deviations from the mean.

    What does is drawn anew, up to three times; after that (4 in a million) it is set to the bound.
    """
    graph = get_default_graph()
    keys = graph.next_random_seed(seed)
    draws = [
        _draw(_NORMAL, shape, (keys[1] + redraw * 0x9E3779B9) & 0xFFFFFFFF, counter, name)
        for redraw in range(REDRAWS + 1)
    ]
    result = minimum(maximum(draws.pop(), -2.0), 2.0)
    while draws:
        draw = draws.pop()
        result = where(absolute(draw) <= 2.0, draw, result)
    return _located(result, mean, stddev)


def dropout(x: Any, rate: float, seed: int | None = None, counter: Any = None,
            first_row: int = 0, name: str | None = None) -> Tensor:  # fmt: skip
    """``x`` with a share ``rate`` of its elements set to 0, the others divided by ``1 - rate``.

    The gradient makes the same mask again instead of keeping it.

    Args:
        seed: key of this operation; None: the next number of the graph.
        counter: the step, a uint32 scalar; None: the graph's.
        first_row: where ``x`` is a part of a batch, the row of the whole that it begins with: it
            gets that part of the whole's mask.
    """
    tensor = as_tensor(x)
    attrs = {
        "rate": float(rate),
        "seed": tensor.graph.next_random_seed(seed),
        "first_row": whole(first_row, "the first row of dropout"),
    }
    step = _step(tensor.graph, counter)
    return add_node(_DROPOUT, [tensor, step], attrs, name=name).output


def batch_indices(
    step: Any, count: int, batch: int, shuffle: bool = True, seed: int | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The examples of training step ``step``: int32 (batch,) in [0, count), each once an epoch.

    Args:
        step: uint32 scalar.
        shuffle: each epoch has an order of its own; else examples come as they are.
    """
    tensor = as_tensor(step)
    graph = tensor.graph
    attrs = {
        "count": int(count),
        "batch": int(batch),
        "shuffle": bool(shuffle),
        "seed": graph.next_random_seed(seed),
    }
    return add_node(_BATCH_INDICES, [_step(graph, tensor)], attrs, name=name).output


def _step(graph: Graph, counter: Any) -> Tensor:
    if counter is None:
        return random_step(graph)
    return cast(as_tensor(counter, graph), "uint32")


def _draw(
    op: OpDef, shape: Sequence[int], seed: int | None, counter: Any, name: str | None
) -> Tensor:
    graph = counter.graph if isinstance(counter, Tensor) else get_default_graph()
    sizes = [whole(n, "a dimension") for n in one_or_more(shape)]
    attrs = {"shape": sizes, "seed": graph.next_random_seed(seed)}
    return graph.add(op, [_step(graph, counter)], attrs, name=name).output


def _located(standard: Tensor, mean: float, stddev: float) -> Tensor:
    scaled = standard if stddev == 1 else standard * float(stddev)
    return scaled if mean == 0 else scaled + float(mean)


# Records


def _expect_step(step: TensorSpec) -> None:
    expect_dtype(step, "the step of a random operation", "uint32")
    if step.shape != ():
        raise ShapeError(
            f"the step of a random operation must be a scalar, not {shape_text(step.shape)}."
        )


def _infer_draw(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    _expect_step(inputs[0])
    if any(dim < 0 for dim in attrs["shape"]):
        raise ShapeError(f"random numbers need a known shape, not {tuple(attrs['shape'])}.")
    return [TensorSpec(tuple(attrs["shape"]), "float32")]


def _seed(attrs: Attrs) -> tuple[int, int]:
    return attrs["seed"][0], attrs["seed"][1]


def _uniform(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    return [counter_random.uniform(_seed(attrs), int(inputs[0]), tuple(attrs["shape"]))]


def _normal(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    return [counter_random.normal(_seed(attrs), int(inputs[0]), tuple(attrs["shape"]))]


def _step_sample(step: int = 3) -> Array:
    return np.asarray(step, np.uint32)


_DRAWS = tuple(
    Sample((_step_sample(step),), {"shape": shape, "seed": seed})
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
    InvalidSample((_step_sample(),), {"shape": [-1], "seed": [0, 1]}, ShapeError, "known shape"),
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


def _infer_dropout(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_floating(inputs[0], "what dropout takes")
    _expect_step(inputs[1])
    if not 0 <= attrs["rate"] < 1:
        raise ShapeError(f"dropout: the rate must lie in [0, 1), but is {attrs['rate']}.")
    if attrs.get("first_row", 0) < 0:
        raise ShapeError(f"dropout: the first row, {attrs['first_row']}, must be at least 0.")
    return [inputs[0]]


def _dropout(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, step = inputs
    mask = counter_random.dropout_mask(
        _seed(attrs), int(step), x.shape, attrs["rate"], attrs.get("first_row", 0)
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
            Sample((floats(9, 7), _step_sample()), {"rate": 0.5, "seed": [0, 1]}, (0,)),
            Sample((floats(300), _step_sample(4)), {"rate": 0.1, "seed": [5, 2]}, (0,)),
            Sample((floats(3, 2, 2), _step_sample()), {"rate": 0.0, "seed": [0, 1]}, (0,)),
            Sample((floats(5, 7), _step_sample()), {"rate": 0.5, "seed": [0, 1], "first_row": 3}),
            Sample((floats(6), _step_sample()), {"rate": 0.5, "seed": [0, 1], "first_row": 4}),
        ),
        invalid=(
            InvalidSample(
                (floats(3), _step_sample()),
                {"rate": 1.0, "seed": [0, 1]},
                ShapeError,
                "must lie in [0, 1), but is 1.0",
            ),
            InvalidSample(
                (floats(3), _step_sample()),
                {"rate": 0.5, "seed": [0, 1], "first_row": -1},
                ShapeError,
                "-1, must be at least 0",
            ),
            InvalidSample(
                (np.zeros(3, np.int32), _step_sample()),
                {"rate": 0.5, "seed": [0, 1]},
                DTypeError,
                "not int32",
            ),
        ),
    )
)


def _infer_batch(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    _expect_step(inputs[0])
    if attrs["count"] < 1 or attrs["batch"] < 1:
        raise ShapeError(
            f"batches of {attrs['batch']} out of {attrs['count']} examples are not possible."
        )
    return [TensorSpec((attrs["batch"],), "int32")]


def _batch_indices(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    return [
        counter_random.batch_indices(
            _seed(attrs), int(inputs[0]), attrs["count"], attrs["batch"], attrs["shuffle"]
        )
    ]


def _batch_attrs(count: int, batch: int, shuffle: bool) -> dict[str, Any]:
    return {"count": count, "batch": batch, "shuffle": shuffle, "seed": [3, 4]}


_BATCH_INDICES = register(
    OpDef(
        name="batch_indices",
        infer=_infer_batch,
        reference=_batch_indices,
        lower=lower_batch_indices,
        blocks_gradient=True,
        samples=(
            Sample((_step_sample(0),), _batch_attrs(60000, 64, True)),
            Sample((_step_sample(7),), _batch_attrs(100, 32, True)),
            Sample((_step_sample(7),), _batch_attrs(100, 32, False)),
            Sample((_step_sample(5),), _batch_attrs(1, 3, True)),
        ),
        invalid=(
            InvalidSample(
                (_step_sample(),), _batch_attrs(0, 4, True), ShapeError, "out of 0 examples"
            ),
        ),
    )
)
