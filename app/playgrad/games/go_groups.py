"""Groups of stones and their liberties, on boards as integers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple


class Grid(NamedTuple):
    """The points of a board: bits of ``full``, with ``stride`` bits from row to row."""

    full: int
    stride: int

    def around(self, board: int) -> int:
        """Return the points beside those of ``board``; some of its own may be among them."""
        stride = self.stride
        return (board << 1 | board >> 1 | board << stride | board >> stride) & self.full

    def group(self, board: int, bit: int) -> int:
        """Return the points of ``board`` that are connected with ``bit``, itself included."""
        stride = self.stride
        grown = bit
        while True:
            group = grown
            grown |= (group << 1 | group >> 1 | group << stride | group >> stride) & board
            if grown == group:
                return group

    def groups(self, board: int) -> Iterator[int]:
        """Yield the connected groups of ``board``."""
        while board:
            group = self.group(board, board & -board)
            yield group
            board ^= group


class Liberties(NamedTuple):
    """Stones of one colour by the liberties of their groups.

    Attributes:
        atari: the stones of groups with a single liberty.
        last: these liberties.
    """

    atari: int
    last: int


@lru_cache(maxsize=8192)  # a search asks for the same position twice: to encode it and to go on
def liberties(grid: Grid, stones: int, empty: int) -> Liberties:
    """Return which groups of ``stones`` are in atari, with ``empty`` points around them."""
    atari = last = 0
    for group in grid.groups(stones):
        free = grid.around(group) & empty
        if not free & (free - 1):
            atari |= group
            last |= free
    return Liberties(atari, last)


def placed(grid: Grid, own: int, other: int, bit: int) -> tuple[int, int] | None:
    """Return own and other stones after an own stone at ``bit``, with captures.

    Returns:
        None if the stone would have no liberty.
    """
    own |= bit
    beside = grid.around(bit)
    empty = grid.full & ~(own | other)
    attacked = beside & other
    while attacked:
        group = grid.group(other, attacked & -attacked)
        attacked &= ~group
        if not grid.around(group) & empty:
            other ^= group
            empty |= group
    if not beside & empty and not grid.around(grid.group(own, bit)) & empty:
        return None
    return own, other


def area(grid: Grid, black: int, white: int) -> tuple[int, int]:
    """Return the stones of each colour with the empty points that reach only this colour."""
    points = [black.bit_count(), white.bit_count()]
    for region in grid.groups(grid.full & ~(black | white)):
        border = grid.around(region)
        reaches = bool(border & black), bool(border & white)
        if reaches == (True, False):
            points[0] += region.bit_count()
        elif reaches == (False, True):
            points[1] += region.bit_count()
    return points[0], points[1]
