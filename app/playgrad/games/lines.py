"""Games that are won by a line of one's own stones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from playgrad.games.bitboards import BitGame, in_a_row, random_bit


class LineState(NamedTuple):
    """A position: the stones of both players as bits, the moves so far, and the result if any."""

    first: int
    second: int
    moves: int
    outcome: float | None

    @property
    def player(self) -> int:
        return self.moves & 1


class LineGame(BitGame[LineState]):
    """A game in which the first player with ``length`` stones in a line wins.

    A network sees two planes: the stones of the player to move, and those of the other one.

    Args:
        rows, columns: the size of the board.
        length: the number of stones side by side that win.
    """

    planes = 2

    def __init__(self, rows: int, columns: int, length: int) -> None:
        super().__init__(rows, columns)
        self.length = length

    def initial(self) -> LineState:
        return LineState(0, 0, 0, None)

    def stones(self, state: LineState) -> tuple[int, int]:
        return state.first, state.second

    def bits_of(self, action: int) -> int:
        """Return the points that ``action`` may lead to."""
        return self.bits[action]

    def why_illegal(self, action: int) -> str:
        """Return why ``action`` is not legal in a game that goes on."""
        return "the point is taken"

    def play(self, state: LineState, action: int) -> LineState:
        action = self.checked(action)
        bit = self.legal_board(state) & self.bits_of(action)
        if not bit:
            ended = state.outcome is not None
            raise self.illegal(action, "the game has ended" if ended else self.why_illegal(action))
        return self._after(state, bit)

    def _after(self, state: LineState, bit: int) -> LineState:
        first, second, moves, _ = state
        if moves & 1:
            second |= bit
        else:
            first |= bit
        outcome: float | None = None
        if in_a_row(second if moves & 1 else first, self.length, self.stride):
            outcome = -1.0 if moves & 1 else 1.0
        elif moves == self.longest - 1:
            outcome = 0.0
        return LineState(first, second, moves + 1, outcome)

    def result(self, state: LineState) -> float | None:
        return state.outcome

    def playout(self, state: LineState, random: np.random.Generator) -> float:
        while state.outcome is None:
            state = self._after(state, random_bit(self.legal_board(state), random))
        return state.outcome
