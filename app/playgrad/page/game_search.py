"""A search as the page shows it: what the network thinks of a position."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

if TYPE_CHECKING:
    from playgrad.games.protocol import Game
    from playgrad.games.search import SearchResult
    from playgrad.networks.network import Network

Array = np.ndarray[Any, Any]

MOST_SIMULATIONS = 400
"""Simulations of one search: training waits for it."""
MOST_SECONDS = 8.0
"""The time that a search should take at most: the page gives up a Python that is silent for 20."""
LEVELS = 3
"""Levels of the search tree that are shown."""
MOVES = 6
"""Moves that are shown of the position."""
REPLIES = 3
"""Replies that are shown to each of them, and to these."""


class TreeNodeForm(TypedDict):
    """A node of the search tree. `path`: the actions that lead there; `q`: the mean result for the
    player who makes the last of them, from -1 to 1."""

    path: list[int]
    prior: float
    visits: int
    q: float


class SearchForm(TypedDict):
    """`prior`, `visits`, `q`: for each action, the mean result being 0 without visits; `value`: the
    expected result for the player to move, from -1 to 1; `line`: the actions that the search
    expects; `tree`: the most visited nodes of three levels, depth first.

    With 0 `simulations` it is the network's answer alone, and nothing has visits. A large network
    has time for fewer than were `asked` for."""

    simulations: int
    asked: int
    prior: list[float]
    visits: list[int]
    q: list[float]
    value: float
    line: list[int]
    tree: list[TreeNodeForm]


def searched(game: Game[Any], network: Network, state: Any, simulations: int) -> SearchForm:
    """Return a search from ``state``, without noise: a question changes nothing.

    Args:
        simulations: 0 for the network's answer alone.

    Raises:
        GameError: the network does not fit the game, or its outputs are not finite.
    """
    from playgrad.games.evaluator import NetworkEvaluator
    from playgrad.games.search import evaluated, search

    evaluate = NetworkEvaluator(game, network, 1)
    (prior,), (value,) = evaluated(game, [state], evaluate)  # its first run is compiled
    if simulations == 0:
        return _unsearched(np.where(np.isfinite(prior), prior, 0), float(value))
    began = time.perf_counter()
    evaluated(game, [state], evaluate)
    count = affordable(simulations, time.perf_counter() - began)

    def enough() -> bool:  # walks take longer than evaluations, above all on a busy machine
        return time.perf_counter() - began > MOST_SECONDS

    (result,) = search(game, [state], evaluate, count, enough=enough)
    return {
        "simulations": int(result.visits.sum()),
        "asked": simulations,
        "prior": _numbers(result.prior),
        "visits": result.visits.tolist(),
        "q": _numbers(np.nan_to_num(result.q)),
        "value": float(result.value),
        "line": [int(action) for action in result.line],
        "tree": _tree(result, []),
    }


def affordable(simulations: int, seconds: float) -> int:
    """Return as many of ``simulations``, of ``seconds`` each, as a search has time for, or 1."""
    return max(1, min(simulations, int(MOST_SECONDS / max(seconds, 1e-6))))


def _unsearched(prior: Array, value: float) -> SearchForm:
    """Return the answer of a network, without a search."""
    return {
        "simulations": 0,
        "asked": 0,
        "prior": _numbers(prior),
        "visits": [0] * len(prior),
        "q": [0.0] * len(prior),
        "value": value,
        "line": [],
        "tree": [],
    }


def _tree(result: SearchResult, path: list[int]) -> list[TreeNodeForm]:
    """Return the most visited nodes below ``path``, depth first."""
    edges = result.after(path)
    if edges is None:
        return []
    order = np.argsort(-edges.visits, kind="stable")[: REPLIES if path else MOVES]
    nodes: list[TreeNodeForm] = []
    for action in order.tolist():
        if edges.visits[action] == 0:
            break
        node: TreeNodeForm = {
            "path": [*path, action],
            "prior": float(edges.prior[action]),
            "visits": int(edges.visits[action]),
            "q": float(edges.q[action]),
        }
        nodes.append(node)
        if len(path) + 1 < LEVELS:
            nodes += _tree(result, node["path"])
    return nodes


def _numbers(values: Array) -> list[float]:
    numbers: list[float] = values.astype(np.float64).tolist()
    return numbers
