"""Tic-tac-toe: three in a row on nine points."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.games.lines import LineGame, LineState
from playgrad.games.symmetry import Symmetry, square_symmetries


class TicTacToe(LineGame):
    """Tic-tac-toe. The first player with three stones in a row wins.

    Action ``3 * row + column`` places a stone; columns are called a to c, rows 1 to 3 from the top.
    A network sees two planes: the stones of the player to move, and those of the other one.
    """

    name = "tic-tac-toe"
    actions = 9
    longest = 9

    def __init__(self) -> None:
        super().__init__(3, 3, length=3)
        self._symmetries = square_symmetries(3, has_pass=False)

    @property
    def symmetries(self) -> Sequence[Symmetry]:
        """All eight of the square."""
        return self._symmetries

    def legal_board(self, state: LineState) -> int:
        return self.full & ~(state.first | state.second) if state.outcome is None else 0
