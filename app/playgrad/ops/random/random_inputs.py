"""What operations that draw random numbers take: a step, and a key (see ``counter_random``).

The key is (graph seed, op seed), the counter (step, element). The step is a uint32 scalar: by
default the graph's own, which a session raises by 1 after every run that read it.
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
    """``counter`` as a step; None: the graph's own."""
    if counter is None:
        return random_step(graph)
    return cast(as_tensor(counter, graph), "uint32")


def expect_step(step: TensorSpec) -> None:
    """Raise DTypeError or ShapeError unless ``step`` can be one."""
    expect_dtype(step, "the step of a random operation", "uint32")
    if step.shape != ():
        raise ShapeError(
            f"the step of a random operation must be a scalar, not {shape_text(step.shape)}."
        )


def seed_of(attrs: Attrs) -> tuple[int, int]:
    """The key of an operation."""
    return attrs["seed"][0], attrs["seed"][1]


def step_sample(step: int = 3) -> Array:
    """The step of a sample."""
    return np.asarray(step, np.uint32)
