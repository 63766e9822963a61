"""What collectives cost: the terms in which they are compared."""

from __future__ import annotations

from dataclasses import dataclass

ALL_REDUCE = "all_reduce"
REDUCE_SCATTER = "reduce_scatter"
ALL_GATHER = "all_gather"
BROADCAST = "broadcast"


@dataclass(frozen=True)
class Cost:
    """Of one collective operation.

    Attributes:
        steps: transfers that have to wait for each other: the longest chain.
        bytes_moved: sent by all members together.
        busiest: bytes that the member which handles most sends and receives.
    """

    steps: int
    bytes_moved: int
    busiest: int
