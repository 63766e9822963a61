"""Collectives: what several devices do together with one tensor each, as ordinary operations.

`Collectives` is the seam: whatever lays a graph over devices asks one for its sums and copies.
"""

from playgrad.errors import GraphError
from playgrad.parallel.collectives.algorithm import Algorithm
from playgrad.parallel.collectives.choice import ALGORITHMS, Choice, LinkModel, choose
from playgrad.parallel.collectives.collectives import Collectives
from playgrad.parallel.collectives.costs import Cost
from playgrad.parallel.collectives.ring import Ring
from playgrad.parallel.collectives.rooted import Central, Tree

NAMES = ("auto", *sorted(way.name for way in ALGORITHMS))


def get(name: str) -> Collectives:
    """The collectives called ``name``: "ring", "tree", "central", or "auto" to choose by size.

    Raises:
        GraphError: there are none of that name.
    """
    if name not in NAMES:
        raise GraphError(
            f"there are no collectives {name!r}.", hint=f"Use one of: {', '.join(NAMES)}."
        )
    return Collectives(next((way for way in ALGORITHMS if way.name == name), None))


__all__ = [
    "NAMES",
    "Central",
    "Choice",
    "Collectives",
    "Cost",
    "LinkModel",
    "Ring",
    "Tree",
    "Algorithm",
    "choose",
    "get",
]
