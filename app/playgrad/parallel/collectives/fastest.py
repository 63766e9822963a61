"""The fastest collectives by numbers, where the last digits of sums do not matter."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.parallel.collectives.choice import transport_is_faster
from playgrad.parallel.collectives.collectives import Collectives
from playgrad.parallel.collectives.native import Native


class Fastest(Collectives):
    """Leaves the sums of gradients to the transport where that is faster by the measured links.

    Otherwise, and for all other operations, the algorithm is chosen for each by its size, as by
    "auto". In a single process the transport has no sums of its own.
    """

    name = "fastest"

    def for_sums(self, sizes: Sequence[int], members: int) -> Collectives:
        return Collectives(Native() if transport_is_faster(sizes, members) else None)
