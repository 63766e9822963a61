"""The inputs of operations that draw random numbers: a step and a seed.

In terms of ``counter_random`` the key is (seed of the graph, seed of the operation) and the counter
is (step, element). The step is a uint32 scalar. By default it is the graph's, to which a session
adds 1 after each run that reads it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array, Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import as_tensor, expect_dtype
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.state import random_step


def step_of(graph: Graph, counter: Any) -> Tensor:
    """Return ``counter`` as a uint32 tensor; None means the step of ``graph``."""
    if counter is None:
        return random_step(graph)
    return cast(as_tensor(counter, graph), "uint32")


def expect_step(step: TensorSpec) -> None:
    """Raise DTypeError or ShapeError unless ``step`` is a uint32 scalar."""
    expect_dtype(step, "the step of a random operation", "uint32")
    if step.shape != ():
        raise ShapeError(
            f"the step of a random operation must be a scalar, not {shape_text(step.shape)}."
        )


def seed_of(attrs: Attrs) -> tuple[int, int]:
    """Return the key of an operation: the seeds of its graph and of itself."""
    return attrs["seed"][0], attrs["seed"][1]


def step_sample(step: int = 3) -> Array:
    """Return the step of a sample as an array."""
    return np.asarray(step, np.uint32)
