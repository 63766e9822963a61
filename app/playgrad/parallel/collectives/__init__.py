"""Collectives: operations that devices perform together, on one tensor each, as ordinary nodes of
the graph.

`Collectives` is the interface: a rewrite over several devices gets its sums and copies from one.
"""

from playgrad.errors import GraphError
from playgrad.parallel.collectives.algorithm import Algorithm, Cost
from playgrad.parallel.collectives.choice import ALGORITHMS, Choice, LinkModel, choose
from playgrad.parallel.collectives.collectives import Collectives
from playgrad.parallel.collectives.ring import Ring
from playgrad.parallel.collectives.rooted import Central, Tree

NAMES = ("auto", *sorted(algorithm.name for algorithm in ALGORITHMS))


def get(name: str) -> Collectives:
    """Return the collectives called ``name``: "ring", "tree", "central", or "auto" (by size).

    Raises:
        GraphError: ``name`` is unknown.
    """
    if name not in NAMES:
        raise GraphError(
            f"there is no collective algorithm {name!r}.", hint=f"Use one of: {', '.join(NAMES)}."
        )
    return Collectives(next((a for a in ALGORITHMS if a.name == name), None))


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
