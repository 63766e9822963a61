"""Builds the same piece of a graph on each of several devices."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.graph import get_default_graph


def replicate(fn: Callable[..., Any], devices: Sequence[str]) -> list[Any]:
    """Call ``fn`` once for each of ``devices``, to build the same nodes in the default graph.

    Each call is in the scope of its device and in a name scope ``replica_0``, ``replica_1``, ...
    Each replica gets the variables that ``fn`` creates; variables created before are shared.

    Args:
        fn: called without arguments, or with the replica's number if it has a parameter for it.

    Returns:
        The results of the calls, in the order of ``devices``.

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
