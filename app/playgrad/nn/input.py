"""The symbolic inputs of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.graph.tensor import Tensor
from playgrad.ops.build import one_or_more
from playgrad.ops.state import placeholder


def Input(  # noqa: N802 - the name that Keras gave it
    shape: Sequence[int | None], dtype: Any = "float32", name: str | None = None
) -> Tensor:
    """A tensor that stands for a batch of samples of ``shape``; the batch size is open.

    It belongs to the default graph, and so do the layers called on it.
    """
    return placeholder(dtype, (None, *one_or_more(shape)), name or "input")
