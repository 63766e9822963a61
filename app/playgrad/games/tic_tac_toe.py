"""Tic-tac-toe: three in a row on nine points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from playgrad.games.bitboards import BitGame, in_a_row, random_bit
from playgrad.games.symmetry import Symmetry, square_symmetries


class TicTacToeState(NamedTuple):
    """A position of tic-tac-toe: the stones of both players as bits."""

    first: int
    second: int
    moves: int
    outcome: float | None

    @property
    def player(self) -> int:
        return self.moves & 1


class TicTacToe(BitGame[TicTacToeState]):
    """Tic-tac-toe. The first player with three stones in a row wins.

    Action ``3 * row + column`` places a stone; columns are called a to c, rows 1 to 3 from the top.
    A network sees two planes: the stones of the player to move, and those of the other one.
    """

    name = "tic-tac-toe"
    actions = 9
    planes = 2
    longest = 9

    def __init__(self) -> None:
        super().__init__(3, 3)
        self._symmetries = square_symmetries(3, has_pass=False)

    @property
    def symmetries(self) -> Sequence[Symmetry]:
        """All eight of the square."""
        return self._symmetries

    def initial(self) -> TicTacToeState:
        return TicTacToeState(0, 0, 0, None)

    def stones(self, state: TicTacToeState) -> tuple[int, int]:
        return state.first, state.second

    def legal_board(self, state: TicTacToeState) -> int:
        return self.full & ~(state.first | state.second) if state.outcome is None else 0

    def play(self, state: TicTacToeState, action: int) -> TicTacToeState:
        action = self.checked(action)
        bit = self.bits[action]
        if not self.legal_board(state) & bit:
            ended = state.outcome is not None
            raise self.illegal(action, "the game has ended" if ended else "the point is taken")
        return self._after(state, bit)

    def _after(self, state: TicTacToeState, bit: int) -> TicTacToeState:
        first, second, moves, _ = state
        if moves & 1:
            second |= bit
        else:
            first |= bit
        outcome: float | None = None
        if in_a_row(second if moves & 1 else first, 3, self.stride):
            outcome = -1.0 if moves & 1 else 1.0
        elif moves == 8:
            outcome = 0.0
        return TicTacToeState(first, second, moves + 1, outcome)

    def result(self, state: TicTacToeState) -> float | None:
        return state.outcome

    def playout(self, state: TicTacToeState, random: np.random.Generator) -> float:
        while state.outcome is None:
            state = self._after(state, random_bit(self.legal_board(state), random))
        return state.outcome
