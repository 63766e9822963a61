"""A game as the page shows it: the board after some moves, and what the network thinks of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

import numpy as np

from playgrad.errors import GameError

if TYPE_CHECKING:
    from playgrad.games.protocol import Game

MOST_ACTIONS = 2000
"""Moves of a game that the page may ask about; Go on 19 by 19 points rarely takes 400."""
MOST_SIMULATIONS = 400
"""Simulations of one search: training waits for it."""
LEVELS = 3
"""Levels of the search tree that are shown."""
REPLIES = 3
"""Children that are shown of each node below the root; of the root, twice as many."""


class GameForm(TypedDict):
    """`actions`: their names; `at`: the action of a click in each cell, row by row, or null."""

    name: str
    rows: int
    columns: int
    actions: list[str]
    at: list[int | None]
    passes: int | None


class TreeNodeForm(TypedDict):
    """A node of the search tree. `path`: the actions from the position on the board; `q`: the
    expected result for the player who makes the last of them, from -1 to 1."""

    path: list[int]
    prior: float
    visits: int
    q: float


class SearchForm(TypedDict):
    """A search from the position on the board. `prior`, `visits`, `q`: for each action; `value`:
    the expected result for the player to move, from -1 to 1; `line`: the actions that the search
    expects; `tree`: the most visited nodes of three levels, depth first.

    With no `simulations`, it is the network's answer alone, and nothing has visits."""

    simulations: int
    prior: list[float]
    visits: list[int]
    q: list[float]
    value: float
    line: list[int]
    tree: list[TreeNodeForm]


class PositionForm(TypedDict):
    """`board`: 0 for an empty cell, 1 and 2 for stones, row by row; `turns`: whose move it was
    before each action and is now, 0 or 1; `placed`: the cell of the last stone; `changed`: the
    other cells that the last action has changed; `result`: 1 if the player who began has won, 0
    for a draw, -1 if the other one has won."""

    actions: list[int]
    board: list[int]
    turns: list[int]
    placed: int | None
    changed: list[int]
    legal: list[int]
    result: float | None


class Searches(Protocol):
    """The part of `playgrad.games.SelfPlay` that the page asks."""

    @property
    def game(self) -> Game[Any]: ...
    @property
    def model(self) -> Any: ...
    def search(self, state: Any, simulations: int | None = None) -> Any: ...


class GameBoard:
    """A game with the moves that were asked about last, which the next question mostly continues.

    Attributes:
        game: the rules.
    """

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self._actions: list[int] = []
        self._states = [game.initial()]

    def form(self) -> GameForm:
        """Return the game's description."""
        game = self.game
        rows, columns = range(game.rows), range(game.columns)
        return {
            "name": game.name,
            "rows": game.rows,
            "columns": game.columns,
            "actions": [game.action_name(action) for action in range(game.actions)],
            "at": [game.action_at(row, column) for row in rows for column in columns],
            "passes": game.pass_action,
        }

    def play(self, actions: Sequence[int]) -> Any:
        """Return the state after ``actions``.

        Raises:
            GameError: one of them is not legal, or there are too many.
        """
        if len(actions) > MOST_ACTIONS:
            raise GameError(f"a game of {len(actions)} moves is too long: at most {MOST_ACTIONS}.")
        same = 0
        while same < min(len(actions), len(self._actions)):
            if actions[same] != self._actions[same]:
                break
            same += 1
        del self._actions[same:], self._states[same + 1 :]
        for action in actions[same:]:
            self._states.append(self.game.play(self._states[-1], action))
            self._actions.append(action)
        return self._states[-1]

    def position(self) -> PositionForm:
        """Return the position after the actions that `play` got."""
        state = self._states[-1]
        board = self._cells(state)
        before = self._cells(self._states[-2]) if self._actions else board
        placed = np.flatnonzero((before == 0) & (board != 0))
        changed = np.flatnonzero((before != 0) & (board != before))
        return {
            "actions": list(self._actions),
            "board": board.tolist(),
            "turns": [int(each.player) for each in self._states],
            "placed": int(placed[0]) if len(placed) == 1 else None,
            "changed": changed.tolist(),
            "legal": np.flatnonzero(self.game.legal(state)).tolist(),
            "result": self.game.result(state),
        }

    def _cells(self, state: Any) -> np.ndarray[Any, Any]:
        cells: np.ndarray[Any, Any] = self.game.board(state).reshape(-1)
        return cells
