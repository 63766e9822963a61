"""How several processes can read one data set together."""

from __future__ import annotations

from playgrad.data.pipeline.base import Transformation
from playgrad.data.pipeline.batches import Batched, Unbatched
from playgrad.data.pipeline.order import (
    Cached,
    Enumerated,
    Following,
    Left,
    Repeated,
    Shuffled,
    Taken,
)
from playgrad.data.pipeline.parts import Parted
from playgrad.data.pipeline.prefetch import Prefetched
from playgrad.data.pipeline.readers import Mapped
from playgrad.data.pipeline.sources import Slices
from playgrad.errors import DataError


def reads_shares(elements: Transformation) -> bool:
    """Return whether a process can read its share of each batch alone: the batches are the last
    thing that is made, right after a function of single elements."""
    stage = _without_choice(elements)
    before = stage.before if isinstance(stage, Batched) else None
    return isinstance(before, Mapped) and before.can_leave_unread


def is_in_memory(elements: Transformation) -> bool:
    """Return whether the elements are slices of arrays, which need not be read or computed."""
    kinds = (Batched, Cached, Enumerated, Left, Prefetched, Repeated, Shuffled, Taken, Unbatched)
    while isinstance(elements, kinds):
        elements = elements.before
    return isinstance(elements, Slices)


def number_of_parts(elements: Transformation) -> int | None:
    """Return the number of parts of `Dataset.from_parts`; None for other data sets.

    Raises:
        DataError: the parts are transformed once they have been put together, so that a process
            cannot read some of them only.
    """
    stage = _without_choice(elements)
    if isinstance(stage, Parted):
        return stage.parts
    while isinstance(stage, Following):
        stage = stage.before
        if isinstance(stage, Parted):
            raise DataError(
                "the batches of from_parts are transformed, so that no process can read its part "
                "only.",
                hint="Call map, filter and shuffle on the data set that the function of a part "
                "returns.",
            )
    return None


def _without_choice(elements: Transformation) -> Transformation:
    """Return ``elements`` before transformations that only choose some of them, and read ahead."""
    while isinstance(elements, (Prefetched, Repeated, Taken, Left)):
        elements = elements.before
    return elements
