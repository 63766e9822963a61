"""Checks of a user's arrays by the operations of a model that take rows by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from playgrad.compiler.compile import placeable
from playgrad.compiler.guard import HostCheck, depends_on_feeds, input_checks
from playgrad.compiler.program import Program
from playgrad.errors import DataError, PlaygradError
from playgrad.graph.traversal import ancestors
from playgrad.networks.network import Network

Array = np.ndarray[Any, Any]
_checks: WeakKeyDictionary[Network, dict[Any, list[HostCheck]]] = WeakKeyDictionary()
"""The checks of each network, by the shapes of its inputs."""
_MOST_SHAPES = 16
"""The most shapes of inputs whose checks are kept for a network."""


def check_indices(network: Network, xs: Sequence[Array], name: str) -> None:
    """Check inputs that the network, which is built, uses as indices.

    Args:
        name: the name of the inputs in errors.

    Raises:
        DataError: an index lies outside its table.
    """
    checks = _checks_for(network, xs)
    arrays = {
        tensor.name: x.astype(tensor.dtype)
        for tensor, x in zip(network.inputs, xs, strict=True)
        if any(tensor.name in check.feeds for check in checks)
    }
    for check in checks:
        try:
            check.run(arrays)
        except PlaygradError as error:
            raise DataError(
                f"{name} does not fit '{error.op}': {error.message}",
                source=error.source,
                code="ids-outside",
                values={
                    "layer": error.op or "",
                    "least": int(min(x.min() for x in xs)),
                    "most": int(max(x.max() for x in xs)),
                },
            ) from None


def checks_indices(network: Network, xs: Sequence[Array]) -> bool:
    """Return whether `check_indices` depends on the values of ``xs``."""
    return bool(_checks_for(network, xs))


def _checks_for(network: Network, xs: Sequence[Array]) -> list[HostCheck]:
    known = _checks.setdefault(network, {})
    key = tuple(x.shape for x in xs)
    if key not in known:
        if len(known) >= _MOST_SHAPES:
            known.clear()
        known[key] = _checks_of(network, xs)
    return known[key]


def _checks_of(network: Network, xs: Sequence[Array]) -> list[HostCheck]:
    """Return the checks of operations whose indices depend on the inputs alone."""
    results = [
        output
        for node in ancestors([tensor.node for tensor in network.outputs])
        if node.op.check is not None and depends_on_feeds(node)
        for output in node.outputs[:1]
    ]
    if not results:
        return []
    feeds = {tensor.name: tensor for tensor in network.inputs}
    shapes = {t.name: x.shape for t, x in zip(network.inputs, xs, strict=True)}
    return input_checks(placeable(Program(network.graph, results, feeds=feeds), shapes))
