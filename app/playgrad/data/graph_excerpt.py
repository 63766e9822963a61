"""The one sample of data with several inputs, such as a graph, to be shown while a model trains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.data.excerpt import next_number

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class GraphExcerpt:
    """The only sample of a data set, whose arrays it refers to.

    Attributes:
        xs: the inputs, each with a batch dimension of 1.
        y: the targets, (1, nodes, ...).
        weight: of the targets in the loss, float32 (1, nodes); None if all weigh the same.
        number: different for each excerpt.
    """

    xs: tuple[Array, ...]
    y: Array
    weight: Array | None = None
    number: int = field(default_factory=next_number)
