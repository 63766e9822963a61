"""Connect Four: stones fall down seven columns; four in a row win."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.games.lines import LineGame, LineState
from playgrad.games.symmetry import Symmetry, identity

Array = np.ndarray[Any, Any]
_ROWS, _COLUMNS = 6, 7


class ConnectFour(LineGame):
    """Connect Four on 6 rows and 7 columns.

    Action ``column`` drops a stone. A network sees two planes: the stones of the player to move,
    and those of the other one. Row 0 is the top.
    """

    name = "Connect Four"
    actions = _COLUMNS
    longest = _ROWS * _COLUMNS

    def __init__(self) -> None:
        super().__init__(_ROWS, _COLUMNS, length=4)
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

    def legal_board(self, state: LineState) -> int:
        """Return the points at which a stone would come to rest."""
        if state.outcome is not None:
            return 0
        taken = state.first | state.second
        return (taken >> self.stride | self._bottom) & ~taken & self.full

    def legal_all(self, states: Sequence[LineState]) -> Array:
        points = self.points([self.legal_board(state) for state in states])
        columns: Array = points.max(axis=1).astype(bool)
        return columns

    def bits_of(self, action: int) -> int:
        return self._column[action]

    def why_illegal(self, action: int) -> str:
        return "the column is full"

    def action_at(self, row: int, column: int) -> int | None:
        """Return the column: a click anywhere in it drops a stone there."""
        return column if 0 <= row < _ROWS and 0 <= column < _COLUMNS else None

    def action_name(self, action: int) -> str:
        return f"column {action + 1}"
