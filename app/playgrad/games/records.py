"""Finished games as training data, and the latest of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import GameError
from playgrad.games.protocol import Game, State

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class GameRecord:
    """A finished game.

    Attributes:
        actions: int32 (moves,).
        policies: float32 (moves, actions), the shares of visits of each search.
        values: float32 (moves,), the mean result of each search, for the player to move.
        result: 1 if the player that began has won, -1 if the other one has, 0 for a draw.
    """

    actions: Array
    policies: Array
    values: Array
    result: float


class ReplayBuffer:
    """The positions of the latest games, each of which is a sample in all its symmetries.

    Args:
        capacity: the most positions; the oldest games go first.
        searched_share: the share of the search's value in the target of the value; the rest is the
            result of the game.

    Attributes:
        records: the games, the oldest first.
    """

    def __init__(self, game: Game[Any], capacity: int, searched_share: float = 0.0) -> None:
        self.game = game
        self.capacity = capacity
        self.searched_share = searched_share
        self.records: deque[GameRecord] = deque()
        self._samples: deque[tuple[Array, Array]] = deque()  # planes and values, by record
        self._joined: tuple[Array, Array, Array] | None = None
        self._points = np.stack([each.points for each in game.symmetries])
        self._actions = np.stack([each.actions for each in game.symmetries])

    @property
    def positions(self) -> int:
        """The number of positions."""
        return sum(len(record.actions) for record in self.records)

    def add(self, record: GameRecord) -> None:
        """Add a game, and forget the oldest ones if there are too many positions.

        Raises:
            GameError: it is not a game by the rules, or its result is another one.
        """
        planes, results = _samples(self.game, record)
        share = np.float32(self.searched_share)
        values = (1 - share) * results + share * record.values
        self._samples.append((planes, values))
        self.records.append(record)
        while len(self.records) > 1 and self.positions > self.capacity:
            self.records.popleft()
            self._samples.popleft()
        self._joined = None

    def sample(self, count: int, random: np.random.Generator) -> tuple[Array, tuple[Array, Array]]:
        """Return planes, and the targets of policy and value, of positions drawn by chance.

        Each is turned and mirrored by a symmetry that is drawn, too.

        Returns:
            float32 (count, planes, rows, columns), and (count, actions) and (count, 1).
        """
        planes, policies, values = self._arrays()
        rows = random.integers(len(values), size=count)
        turns = random.integers(len(self._points), size=count)
        flat = planes.reshape(*planes.shape[:2], -1)[rows]
        turned = np.take_along_axis(flat, self._points[turns][:, None, :], axis=2)
        policy = np.take_along_axis(policies[rows], self._actions[turns], axis=1)
        return turned.reshape(count, *planes.shape[1:]), (policy, values[rows, None])

    def _arrays(self) -> tuple[Array, Array, Array]:
        """Return planes, policies and values of all positions."""
        if self._joined is None:
            self._joined = (
                np.concatenate([planes for planes, _ in self._samples]),
                np.concatenate([record.policies for record in self.records]),
                np.concatenate([values for _, values in self._samples]),
            )
        return self._joined


def positions_of(game: Game[Any], record: GameRecord) -> Iterator[State]:
    """Yield the states of a game, the last one too.

    Raises:
        GameError: an action is not legal.
    """
    state = game.initial()
    yield state
    for action in record.actions:
        state = game.play(state, int(action))
        yield state


def _samples(game: Game[Any], record: GameRecord) -> tuple[Array, Array]:
    """Return planes of the positions before each move, and results (moves,) for the player there.

    Raises:
        GameError: it is not a game by the rules, or its result is another one.
    """
    states = list(positions_of(game, record))
    end = states.pop()
    if not states or game.result(end) != record.result:
        raise GameError(
            f"a recorded game of {game.name} ends with {game.result(end)}, not {record.result}."
        )
    signs = np.array([1 - 2 * state.player for state in states], np.float32)
    return game.encode_all(states), np.float32(record.result) * signs
