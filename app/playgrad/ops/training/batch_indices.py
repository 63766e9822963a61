"""``batch_indices``: the samples that make up the batch of a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.errors import ShapeError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core import counter_random
from playgrad.ops.core.build import add_node, as_tensor
from playgrad.ops.lowering.random import lower_batch_indices
from playgrad.ops.random.random_inputs import expect_step, seed_of, step_of, step_sample


def batch_indices(
    step: Any, count: int, batch: int, shuffle: bool = True, seed: int | None = None,
    name: str | None = None, rounds: Sequence[int] | None = None, started: Any = 0,
) -> Tensor:  # fmt: skip
    """Return the indices of the samples in the batch of a step.

    Each sample occurs once in an epoch. Without ``rounds``, a batch may contain the end of one
    epoch and the beginning of the next.

    Args:
        step: the step, an integer scalar.
        count: the number of samples, at least 1.
        batch: the number of samples in a batch, at least 1.
        shuffle: put the samples into a new random order in each epoch.
        seed: the seed of the order; None takes the graph's next one.
        rounds: the steps of an epoch, and the samples from one batch to the next, a batch
            unless this is a smaller last one. A batch that goes beyond the end of an epoch
            continues with its beginning.
        started: with ``rounds``, the step with which the first epoch begins, an integer scalar.

    Returns:
        An int32 tensor of shape (batch,), in [0, count).

    Raises:
        ShapeError: a number is less than 1, or the step is not a scalar.
    """
    tensor = as_tensor(step)
    graph = tensor.graph
    attrs = {
        "count": int(count),
        "batch": int(batch),
        "shuffle": bool(shuffle),
        "seed": graph.next_random_seed(seed),
        "rounds": None if rounds is None else [int(number) for number in rounds],
    }
    inputs = [step_of(graph, tensor), step_of(graph, started)]
    return add_node(_BATCH_INDICES, inputs, attrs, name=name).output


def _infer_batch(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    for spec in inputs:
        expect_step(spec)
    if attrs["count"] < 1 or attrs["batch"] < 1:
        raise ShapeError(
            f"cannot draw batches of {attrs['batch']} out of {attrs['count']} samples."
        )
    if attrs["rounds"] is not None and min(attrs["rounds"]) < 1:
        raise ShapeError(f"rounds must be numbers of at least 1, not {attrs['rounds']}.")
    return [TensorSpec((attrs["batch"],), "int32")]


def _batch_indices(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    step, started = map(int, inputs)
    rounds = attrs["rounds"]
    return [
        counter_random.batch_indices(
            seed_of(attrs),
            step,
            attrs["count"],
            attrs["batch"],
            attrs["shuffle"],
            None if rounds is None else (rounds[0], rounds[1]),
            started,
        )
    ]


def _batch_attrs(
    count: int, batch: int, shuffle: bool, rounds: list[int] | None = None
) -> dict[str, Any]:
    return {"count": count, "batch": batch, "shuffle": shuffle, "seed": [3, 4], "rounds": rounds}


def _at(step: int, started: int = 0) -> tuple[Array, Array]:
    return step_sample(step), step_sample(started)


_BATCH_INDICES = register(
    OpDef(
        name="batch_indices",
        infer=_infer_batch,
        reference=_batch_indices,
        lower=lower_batch_indices,
        blocks_gradient=True,
        samples=(
            Sample(_at(0), _batch_attrs(60000, 64, True)),
            Sample(_at(7), _batch_attrs(100, 32, True)),
            Sample(_at(7), _batch_attrs(100, 32, False)),
            Sample(_at(5), _batch_attrs(1, 3, True)),
            Sample(_at(12, 5), _batch_attrs(100, 32, True, [4, 32])),
            Sample(_at(12, 5), _batch_attrs(100, 4, True, [4, 32])),
            Sample(_at(11, 5), _batch_attrs(100, 32, False, [3, 32])),
            Sample(_at(2, 5), _batch_attrs(100, 32, False, [4, 32])),
        ),
        invalid=(
            InvalidSample(_at(3), _batch_attrs(0, 4, True), ShapeError, "out of 0 samples"),
            InvalidSample(_at(3), _batch_attrs(4, 2, True, [0, 2]), ShapeError, "rounds must be"),
        ),
    )
)
