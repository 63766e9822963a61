"""The same piece of a graph built for each of several devices."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.graph import get_default_graph


def replicate(fn: Callable[..., Any], devices: Sequence[str]) -> list[Any]:
    """What ``fn`` builds in the default graph, once for each of ``devices``.

    Each call is made in the scope of its device and in a name scope of its own, ``replica_0``,
    ``replica_1``, ... Variables that ``fn`` makes are those of its replica; what is made before is
    shared.

    Args:
        fn: called without arguments, or with the replica's number where it needs one.

    Returns:
        What the calls returned, in the order of ``devices``.

    Raises:
        GraphError: there are no devices.
    """
    if not devices:
        raise GraphError("replicate() needs at least one device.")
    graph = get_default_graph()
    numbered = _takes_a_number(fn)
    results = []
    for number, device in enumerate(devices):
        with graph.name_scope(f"replica_{number}"), graph.device(device):
            results.append(fn(number) if numbered else fn())
    return results


def _takes_a_number(fn: Callable[..., Any]) -> bool:
    parameters = inspect.signature(fn).parameters.values()
    return any(
        parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.default is parameter.empty
        for parameter in parameters
    )
