"""Models that join the graph of another one, with their weights."""

from __future__ import annotations

from typing import Any

from playgrad.graph.graph import Graph
from playgrad.networks.shared_session import shared_session


def move(network: Any, graph: Graph) -> None:
    """Build ``network`` anew in ``graph``, with the values that its variables have.

    An optimizer that has trained it begins anew. Variables and models that the program has made of
    it before keep to the old graph.

    Args:
        network: has ``forget`` and ``build_in``.

    Raises:
        GraphError: it has variables that cannot be moved.
    """
    session = shared_session(network.graph).session
    old = list(network.named_variables.values())
    values = None if session is None else session.values(old)
    specs = [tensor.spec for tensor in network.inputs]
    network.forget()
    network.build_in(graph, specs)
    if values is not None:
        new = network.named_variables.values()
        network.session.assign(dict(zip(new, values, strict=True)))
    network.begin_training_anew()
