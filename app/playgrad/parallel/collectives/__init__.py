"""Collectives: operations that devices perform together, on one tensor each, as ordinary nodes of
the graph.

`Collectives` is the interface: a rewrite over several devices gets its sums and copies from one.
"""

from playgrad.errors import GraphError
from playgrad.parallel.collectives.algorithm import Algorithm, Cost
from playgrad.parallel.collectives.choice import ALGORITHMS, Choice, LinkModel, choose
from playgrad.parallel.collectives.collectives import Collectives
from playgrad.parallel.collectives.fastest import Fastest
from playgrad.parallel.collectives.native import Native
from playgrad.parallel.collectives.ring import Ring
from playgrad.parallel.collectives.rooted import Central, Tree

_BY_NAME = {algorithm.name: algorithm for algorithm in (*ALGORITHMS, Native())}
NAMES = ("auto", *sorted((*_BY_NAME, Fastest.name)))


def get(name: str) -> Collectives:
    """Return the collectives called ``name``.

    "ring", "tree" and "central" always add up in the same order, and "auto" is one of them, by
    size. "native" leaves sums to the transport, in any order, and "fastest" does so where that is
    faster by the measured links.

    Raises:
        GraphError: ``name`` is unknown.
    """
    if name not in NAMES:
        raise GraphError(
            f"there is no collective algorithm {name!r}.", hint=f"Use one of: {', '.join(NAMES)}."
        )
    return Fastest() if name == Fastest.name else Collectives(_BY_NAME.get(name))


__all__ = [
    "NAMES",
    "Central",
    "Choice",
    "Collectives",
    "Cost",
    "LinkModel",
    "Native",
    "Ring",
    "Tree",
    "Algorithm",
    "choose",
    "get",
]
