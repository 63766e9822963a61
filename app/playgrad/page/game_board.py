"""The board of a game as the page shows it, after any moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

if TYPE_CHECKING:
    from playgrad.games.protocol import Game

MOST_ACTIONS = 2000
"""Moves of a game that the page may ask about; Go on 19 by 19 points rarely takes 400."""


class GameForm(TypedDict):
    """`actions`: their names; `at`: the action of a click in each cell, row by row, or null."""

    name: str
    rows: int
    columns: int
    actions: list[str]
    at: list[int | None]
    passes: int | None


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

    @property
    def actions(self) -> Sequence[int]:
        """The actions so far."""
        return self._actions

    @property
    def state(self) -> Any:
        """The state after them."""
        return self._states[-1]

    def play(self, actions: Sequence[int]) -> None:
        """Set the board to the state after ``actions``.

        Raises:
            GameError: one of them is not legal; the board has those before it.
        """
        same = 0
        while same < min(len(actions), len(self._actions)):
            if actions[same] != self._actions[same]:
                break
            same += 1
        del self._actions[same:], self._states[same + 1 :]
        for action in actions[same:]:
            self._states.append(self.game.play(self._states[-1], action))
            self._actions.append(action)

    def position(self) -> PositionForm:
        """Return the position on the board."""
        state = self.state
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
