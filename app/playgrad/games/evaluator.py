"""Positions evaluated by a network, many of them in one run on its device."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from playgrad.errors import GameError
from playgrad.games.protocol import Game
from playgrad.networks.network import Network

Array = np.ndarray[Any, Any]
_PART = 4
"""A batch that is less than a fourth full runs in one of a fourth of the size."""


class Evaluate(Protocol):
    """What a search asks about positions: see `NetworkEvaluator`."""

    def __call__(self, planes: Array) -> tuple[Array, Array]: ...


class NetworkEvaluator:
    """Runs a network on positions, in batches of a few fixed sizes, so that few are compiled.

    Args:
        game: the game that the network plays.
        network: takes planes (batch, planes, rows, columns); its outputs are the scores of actions
            before softmax (batch, actions), and the expected result for the player to move, from -1
            to 1, (batch, 1).
        batch: the most positions of a run.

    Attributes:
        positions: the number of positions that were evaluated.
        runs: the number of runs on the device.

    Raises:
        GameError: the network has other inputs or outputs.
    """

    def __init__(self, game: Game[Any], network: Network, batch: int) -> None:
        check_network(game, network)
        self.network = network
        self.positions = 0
        self.runs = 0
        self._sizes = sorted({1, max(batch // _PART, 1), batch})

    def __call__(self, planes: Array) -> tuple[Array, Array]:
        """Return scores (positions, actions) and values (positions,) of planes."""
        most = self._sizes[-1]
        parts = [self._run(planes[i : i + most]) for i in range(0, len(planes), most)]
        scores, values = zip(*parts, strict=True)
        return np.concatenate(scores), np.concatenate(values)

    def _run(self, planes: Array) -> tuple[Array, Array]:
        count = len(planes)
        size = next(size for size in self._sizes if size >= count)
        batch = np.zeros((size, *planes.shape[1:]), np.float32)
        batch[:count] = planes
        scores, values = self.network.compute_outputs(batch)
        self.positions += count
        self.runs += 1
        return scores[:count], values[:count, 0]


def check_network(game: Game[Any], network: Network) -> None:
    """Check that a network fits a game.

    Raises:
        GameError: it has other inputs or outputs.
    """
    shapes = [tuple(each.shape) for each in (*network.inputs, *network.outputs)]
    planes = (game.planes, game.rows, game.columns)
    expected = [(None, *planes), (None, game.actions), (None, 1)]
    if shapes != expected:
        got = ", ".join(str(shape) for shape in shapes)
        raise GameError(
            f"a network that plays {game.name} takes planes {expected[0]} and returns scores "
            f"{expected[1]} and values {expected[2]}; '{network.name}' has {got}.",
            hint="pg.games.network(game) returns one that fits.",
        )
