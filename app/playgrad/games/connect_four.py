"""Connect Four: stones fall down seven columns; four in a row win."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from playgrad.games.bitboards import BitGame, in_a_row, random_bit
from playgrad.games.symmetry import Symmetry, identity

Array = np.ndarray[Any, Any]
_ROWS, _COLUMNS = 6, 7


class ConnectFourState(NamedTuple):
    """A position of Connect Four: the stones of both players as bits."""

    first: int
    second: int
    moves: int
    outcome: float | None

    @property
    def player(self) -> int:
        return self.moves & 1


class ConnectFour(BitGame[ConnectFourState]):
    """Connect Four on 6 rows and 7 columns.

    Action ``column`` drops a stone. A network sees two planes: the stones of the player to move,
    and those of the other one. Row 0 is the top.
    """

    name = "Connect Four"
    actions = _COLUMNS
    planes = 2
    longest = _ROWS * _COLUMNS

    def __init__(self) -> None:
        super().__init__(_ROWS, _COLUMNS)
        board = np.arange(_ROWS * _COLUMNS).reshape(_ROWS, _COLUMNS)
        mirrored = Symmetry(
            "mirrored left to right", board[:, ::-1].reshape(-1), np.arange(_COLUMNS)[::-1]
        )
        self._symmetries = (identity(_ROWS, _COLUMNS, _COLUMNS), mirrored)
        self._column = [
            sum(1 << (row * self.stride + column) for row in range(_ROWS))
            for column in range(_COLUMNS)
        ]
        self._bottom = ((1 << _COLUMNS) - 1) << (self.stride * (_ROWS - 1))

    @property
    def symmetries(self) -> Sequence[Symmetry]:
        """The identity and the mirror image."""
        return self._symmetries

    def initial(self) -> ConnectFourState:
        return ConnectFourState(0, 0, 0, None)

    def stones(self, state: ConnectFourState) -> tuple[int, int]:
        return state.first, state.second

    def legal_board(self, state: ConnectFourState) -> int:
        """Return the points at which a stone would come to rest."""
        if state.outcome is not None:
            return 0
        taken = state.first | state.second
        return (taken >> self.stride | self._bottom) & ~taken & self.full

    def legal_all(self, states: Sequence[ConnectFourState]) -> Array:
        points = self.points([self.legal_board(state) for state in states])
        columns: Array = points.max(axis=1).astype(bool)
        return columns

    def play(self, state: ConnectFourState, action: int) -> ConnectFourState:
        action = self.checked(action)
        bit = self.legal_board(state) & self._column[action]
        if not bit:
            ended = state.outcome is not None
            raise self.illegal(action, "the game has ended" if ended else "the column is full")
        return self._after(state, bit)

    def _after(self, state: ConnectFourState, bit: int) -> ConnectFourState:
        first, second, moves, _ = state
        if moves & 1:
            second |= bit
        else:
            first |= bit
        outcome: float | None = None
        if in_a_row(second if moves & 1 else first, 4, self.stride):
            outcome = -1.0 if moves & 1 else 1.0
        elif moves == self.longest - 1:
            outcome = 0.0
        return ConnectFourState(first, second, moves + 1, outcome)

    def result(self, state: ConnectFourState) -> float | None:
        return state.outcome

    def action_at(self, row: int, column: int) -> int | None:
        """Return the column: a click anywhere in it drops a stone there."""
        return column if 0 <= row < _ROWS and 0 <= column < _COLUMNS else None

    def action_name(self, action: int) -> str:
        return f"column {action + 1}"

    def playout(self, state: ConnectFourState, random: np.random.Generator) -> float:
        while state.outcome is None:
            state = self._after(state, random_bit(self.legal_board(state), random))
        return state.outcome
