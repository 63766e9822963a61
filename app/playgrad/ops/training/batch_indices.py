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
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the indices of the samples in the batch of a step.

    Each sample occurs once in an epoch. A batch may contain the end of one epoch and the beginning
    of the next.

    Args:
        step: the step, an integer scalar.
        count: the number of samples, at least 1.
        batch: the number of samples in a batch, at least 1.
        shuffle: put the samples into a new random order in each epoch.
        seed: the seed of the order; None takes the graph's next one.

    Returns:
        An int32 tensor of shape (batch,), in [0, count).

    Raises:
        ShapeError: ``count`` or ``batch`` is less than 1, or the step is not a scalar.
    """
    tensor = as_tensor(step)
    graph = tensor.graph
    attrs = {
        "count": int(count),
        "batch": int(batch),
        "shuffle": bool(shuffle),
        "seed": graph.next_random_seed(seed),
    }
    return add_node(_BATCH_INDICES, [step_of(graph, tensor)], attrs, name=name).output


def _infer_batch(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_step(inputs[0])
    if attrs["count"] < 1 or attrs["batch"] < 1:
        raise ShapeError(
            f"cannot draw batches of {attrs['batch']} out of {attrs['count']} samples."
        )
    return [TensorSpec((attrs["batch"],), "int32")]


def _batch_indices(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    return [
        counter_random.batch_indices(
            seed_of(attrs), int(inputs[0]), attrs["count"], attrs["batch"], attrs["shuffle"]
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
            Sample((step_sample(0),), _batch_attrs(60000, 64, True)),
            Sample((step_sample(7),), _batch_attrs(100, 32, True)),
            Sample((step_sample(7),), _batch_attrs(100, 32, False)),
            Sample((step_sample(5),), _batch_attrs(1, 3, True)),
        ),
        invalid=(
            InvalidSample(
                (step_sample(),), _batch_attrs(0, 4, True), ShapeError, "out of 0 samples"
            ),
        ),
    )
)
