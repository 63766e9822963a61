"""Othello: a stone turns the other player's stones that it encloses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from playgrad.errors import GameError
from playgrad.games.bitboards import BitGame, random_bit
from playgrad.games.symmetry import Symmetry, square_symmetries


class OthelloState(NamedTuple):
    """A position of Othello: the stones of both players, and the points open to the next one."""

    first: int
    second: int
    player: int
    moves: int
    points: int
    outcome: float | None


class Othello(BitGame[OthelloState]):
    """Othello; the player with more stones wins in the end.

    Action ``size * row + column`` places a stone that encloses at least one of the other player's.
    Who cannot must pass, with the last action; when neither can, the game has ended. Columns are
    called a, b, c, ..., rows 1, 2, 3, ... from the top. A network sees the stones of the player to
    move, those of the other one, and the points at which the player may move.

    Args:
        size: rows and columns, 4, 6 or 8.

    Raises:
        GameError: another size.
    """

    name = "Othello"
    planes = 3

    def __init__(self, size: int = 6) -> None:
        if not isinstance(size, (int, np.integer)) or size not in (4, 6, 8):
            raise GameError(f"Othello is played on 4, 6 or 8 rows, got {size!r}.")
        size = int(size)
        super().__init__(size, size)
        self.size = size
        self.actions = size * size + 1
        self.pass_action: int = size * size
        # Between two passes lies a move, since two in succession would have ended the game.
        self.longest = 2 * (size * size - 4)
        # The points stay where they are, and so do the colours at the start.
        self._symmetries = square_symmetries(size, has_pass=True, chosen=(0, 2, 5, 7))
        self._steps = (1, self.stride, self.stride + 1, self.stride - 1)

    @property
    def symmetries(self) -> Sequence[Symmetry]:
        """The four of the square that map the start to itself."""
        return self._symmetries

    def initial(self) -> OthelloState:
        middle = self.size // 2
        low, high = (middle - 1) * self.stride, middle * self.stride
        first = 1 << (low + middle) | 1 << (high + middle - 1)
        second = 1 << (low + middle - 1) | 1 << (high + middle)
        return OthelloState(first, second, 0, 0, self._points(first, second), None)

    def stones(self, state: OthelloState) -> tuple[int, int]:
        return state.first, state.second

    def _sides(self, state: OthelloState) -> tuple[int, int]:
        """Return the stones of the player to move, and those of the other one."""
        return (state.second, state.first) if state.player else (state.first, state.second)

    def plane_boards(self, state: OthelloState) -> Sequence[int]:
        own, other = self._sides(state)
        return own, other, state.points

    def legal_board(self, state: OthelloState) -> int:
        return state.points

    def may_pass(self, state: OthelloState) -> bool:
        return not state.points and state.outcome is None

    def play(self, state: OthelloState, action: int) -> OthelloState:
        action = self.checked(action)
        if action == self.pass_action:
            if not self.may_pass(state):
                ended = state.outcome is not None
                raise self.illegal(
                    action, "the game has ended" if ended else "there is a point to play at"
                )
            return self._after(state, 0)
        bit = self.bits[action]
        if not state.points & bit:
            raise self.illegal(action, self._reason(state, bit))
        return self._after(state, bit)

    def _reason(self, state: OthelloState, bit: int) -> str:
        if state.outcome is not None:
            return "the game has ended"
        if (state.first | state.second) & bit:
            return "the point is taken"
        return "it encloses no stone of the other player"

    def _after(self, state: OthelloState, bit: int) -> OthelloState:
        own, other = self._sides(state)
        if bit:
            turned = self._turned(own, other, bit)
            own |= bit | turned
            other &= ~turned
        points = self._points(other, own)
        outcome: float | None = None
        if not points and (not bit or not self._points(own, other)):
            lead = own.bit_count() - other.bit_count()
            sign = (lead > 0) - (lead < 0)
            outcome = float(-sign if state.player else sign)
        first, second = (other, own) if state.player else (own, other)
        return OthelloState(first, second, 1 - state.player, state.moves + 1, points, outcome)

    def _points(self, own: int, other: int) -> int:
        """Return the empty points at which a stone of ``own`` would enclose some of ``other``."""
        empty = self.full & ~(own | other)
        found = 0
        for step in self._steps:
            run = other & (own << step)
            for _ in range(self.size - 3):
                run |= other & (run << step)
            found |= run << step
            run = other & (own >> step)
            for _ in range(self.size - 3):
                run |= other & (run >> step)
            found |= run >> step
        return found & empty

    def _turned(self, own: int, other: int, bit: int) -> int:
        """Return the stones of ``other`` that a stone of ``own`` at ``bit`` turns."""
        turned = 0
        for step in self._steps:
            run, at = 0, bit << step
            while at & other:
                run |= at
                at <<= step
            if at & own:
                turned |= run
            run, at = 0, bit >> step
            while at & other:
                run |= at
                at >>= step
            if at & own:
                turned |= run
        return turned

    def result(self, state: OthelloState) -> float | None:
        return state.outcome

    def playout(self, state: OthelloState, random: np.random.Generator) -> float:
        while state.outcome is None:
            state = self._after(state, random_bit(state.points, random))
        return state.outcome
