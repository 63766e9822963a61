"""Go on small boards, by the rules of Tromp and Taylor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from playgrad.errors import GameError
from playgrad.games.arguments import number
from playgrad.games.bitboards import BitGame, random_bit
from playgrad.games.go_groups import Grid, area, liberties, placed
from playgrad.games.symmetry import Symmetry, square_symmetries

MOST_KOMI = 1000
_COLUMNS = "abcdefghjklmnopqrst"


class GoState(NamedTuple):
    """A position of Go, with the positions before it.

    Attributes:
        first, second: the stones of black, who begins, and of white, as bits.
        passes: how many of the latest moves were passes.
        earlier: all positions so far, this one too, as (black, white).
    """

    first: int
    second: int
    moves: int
    passes: int
    earlier: frozenset[tuple[int, int]]
    outcome: float | None

    @property
    def player(self) -> int:
        return self.moves & 1


class Go(BitGame[GoState]):
    """Go, by the rules of Tromp and Taylor (logical rules, 1995), without suicide.

    Stones without liberties are captured. A move must not bring back a position that has been on
    the board before, whoever is to move (positional superko). Two passes in succession end the
    game. A player's score is the stones on the board and the empty points that reach only stones of
    this player (area scoring); white's has ``komi`` more. All stones count as alive: capture dead
    ones before you pass. A game of ``longest`` moves ends there and is scored as it stands.

    Action ``size * row + column`` places a stone; the last action passes. Points are called as on a
    Go board: columns a, b, c, ..., without i, rows 1, 2, 3, ... from the bottom.

    A network sees six planes: own stones, the other player's, own and other stones whose group has
    a single liberty, ones if black is to move, ones if the latest move was a pass.

    Args:
        size: rows and columns, 2 to 19.
        komi: the points that white gets for moving second; with half a point there are no draws.
            None for 7.5, or 0.5 on boards smaller than 9.

    Raises:
        GameError: another size, or a komi that is not a number from -1000 to 1000.
    """

    name = "Go"
    planes = 6

    def __init__(self, size: int = 9, komi: float | None = None) -> None:
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or not 2 <= size <= 19:
            raise GameError(f"Go is played on 2 to 19 rows, got {size!r}.")
        size = int(size)
        super().__init__(size, size)
        self.size = size
        self.grid = Grid(self.full, self.stride)
        if komi is None:
            komi = 0.5 if size < 9 else 7.5
        self.komi = number("komi", komi, -MOST_KOMI, MOST_KOMI)
        self.actions = size * size + 1
        self.pass_action: int = size * size
        self.longest = 2 * size * size
        self._symmetries = square_symmetries(size, has_pass=True)

    @property
    def symmetries(self) -> Sequence[Symmetry]:
        """All eight of the square."""
        return self._symmetries

    def initial(self) -> GoState:
        return GoState(0, 0, 0, 0, frozenset([(0, 0)]), None)

    def stones(self, state: GoState) -> tuple[int, int]:
        return state.first, state.second

    def plane_boards(self, state: GoState) -> Sequence[int]:
        own, other = self._sides(state)
        black, passed = state.player == 0, state.passes > 0
        empty = self.full & ~(own | other)
        return (
            own,
            other,
            liberties(self.grid, own, empty).atari,
            liberties(self.grid, other, empty).atari,
            self.full if black else 0,
            self.full if passed else 0,
        )

    def _sides(self, state: GoState) -> tuple[int, int]:
        """Return the stones of the player to move, and those of the other one."""
        return (state.second, state.first) if state.player else (state.first, state.second)

    def legal_board(self, state: GoState) -> int:
        if state.outcome is not None:
            return 0
        own, other = self._sides(state)
        grid, earlier, flips = self.grid, state.earlier, state.player
        empty = self.full & ~(own | other)
        of_own, of_other = liberties(grid, own, empty), liberties(grid, other, empty)
        captures = of_other.last
        legal = empty & grid.around(empty | own & ~of_own.atari) | captures
        left = legal
        while left:
            bit = left & -left
            left ^= bit
            after = (own | bit, other)
            if bit & captures:
                after = placed(grid, own, other, bit) or after
            if (after[::-1] if flips else after) in earlier:
                legal ^= bit
        return legal

    def may_pass(self, state: GoState) -> bool:
        return state.outcome is None

    def _position(self, state: GoState, own: int, other: int) -> tuple[int, int]:
        return (other, own) if state.player else (own, other)

    def play(self, state: GoState, action: int) -> GoState:
        action = self.checked(action)
        if state.outcome is not None:
            raise self.illegal(action, "the game has ended")
        if action == self.pass_action:
            return self._after_pass(state)
        bit = self.bits[action]
        own, other = self._sides(state)
        if (own | other) & bit:
            raise self.illegal(action, "the point is taken")
        after = placed(self.grid, own, other, bit)
        if after is None:
            raise self.illegal(action, "the stone would have no liberty (suicide)")
        position = self._position(state, *after)
        if position in state.earlier:
            raise self.illegal(action, "it would bring back an earlier position (superko)")
        return self._after(state, position)

    def _after(self, state: GoState, position: tuple[int, int]) -> GoState:
        moves = state.moves + 1
        outcome = self._winner(*position) if moves >= self.longest else None
        return GoState(*position, moves, 0, state.earlier | {position}, outcome)

    def _after_pass(self, state: GoState) -> GoState:
        moves, passes = state.moves + 1, state.passes + 1
        ends = passes == 2 or moves >= self.longest
        outcome = self._winner(state.first, state.second) if ends else None
        return GoState(state.first, state.second, moves, passes, state.earlier, outcome)

    def area(self, state: GoState) -> tuple[int, int]:
        """Return the points of black and of white, without komi."""
        return area(self.grid, state.first, state.second)

    def _winner(self, black: int, white: int) -> float:
        points = area(self.grid, black, white)
        lead = points[0] - points[1] - self.komi
        return float((lead > 0) - (lead < 0))

    def result(self, state: GoState) -> float | None:
        return state.outcome

    def action_name(self, action: int) -> str:
        if action == self.pass_action:
            return "pass"
        row, column = divmod(action, self.size)
        return f"{_COLUMNS[column]}{self.size - row}"

    def playout(self, state: GoState, random: np.random.Generator) -> float:
        """Return the result of a game that goes on by random moves.

        A player passes only if every other move is illegal or fills an eye, so that games end with
        a full board, and their score says who is stronger.
        """
        while state.outcome is None:
            state = self._random_move(state, random)
        return state.outcome

    def _random_move(self, state: GoState, random: np.random.Generator) -> GoState:
        own, other = self._sides(state)
        left = self.full & ~(own | other)
        while left:
            bit = random_bit(left, random)
            left ^= bit
            if not self.grid.around(bit) & ~own and self._is_eye(own, bit):
                continue
            after = placed(self.grid, own, other, bit)
            if after is not None:
                position = self._position(state, *after)
                if position not in state.earlier:
                    return self._after(state, position)
        return self._after_pass(state)

    def _is_eye(self, own: int, bit: int) -> bool:
        """Return whether the stones beside ``bit`` are one group that would lose an eye there."""
        beside = self.grid.around(bit)
        return not beside & ~self.grid.group(own, beside & -beside)
