"""Boards as integers: one bit for each point, so that rules are shifts and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from playgrad.games.protocol import Game, State

Array = np.ndarray[Any, Any]
S = TypeVar("S", bound=State)


class BitGame(Game[S]):
    """A game whose states have an integer for the stones of each player.

    The point (row, column) is bit ``row * stride + column``. Each row ends with a column that is
    always empty, so that a shift by one never leads from one row into the next.

    Args:
        rows, columns: the size of the board.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self.stride = columns + 1
        row = (1 << columns) - 1
        self.full = sum(row << (self.stride * each) for each in range(rows))
        self._bytes = (rows * self.stride + 7) // 8
        places = (np.arange(rows)[:, None] * self.stride + np.arange(columns)).reshape(-1)
        self.bits = [1 << int(place) for place in places]
        self.point_of = {bit: point for point, bit in enumerate(self.bits)}

    def points(self, boards: Sequence[int]) -> Array:
        """Return the bits of boards as numbers 0 and 1, uint8 (boards, rows, columns)."""
        packed = b"".join([board.to_bytes(self._bytes, "little") for board in boards])
        table = np.frombuffer(packed, np.uint8).reshape(len(boards), self._bytes)
        bits = np.unpackbits(table, axis=1, count=self.rows * self.stride, bitorder="little")
        return bits.reshape(len(boards), self.rows, self.stride)[:, :, : self.columns]

    def stones(self, state: S) -> tuple[int, int]:
        """Return the stones of the player that began, and of the other one."""
        raise NotImplementedError

    def plane_boards(self, state: S) -> Sequence[int]:
        """Return the planes of `encode` as boards: own stones, the other's, and what else."""
        first, second = self.stones(state)
        return (second, first) if state.player else (first, second)

    def legal_board(self, state: S) -> int:
        """Return the points at which the player may move, none once the game has ended."""
        raise NotImplementedError

    def may_pass(self, state: S) -> bool:
        """Return whether the player may pass."""
        return False

    def encode(self, state: S) -> Array:
        return self.encode_all([state])[0]

    def encode_all(self, states: Sequence[S]) -> Array:
        boards = [board for state in states for board in self.plane_boards(state)]
        shape = (len(states), self.planes, self.rows, self.columns)
        return self.points(boards).astype(np.float32).reshape(shape)

    def legal(self, state: S) -> Array:
        return self.legal_all([state])[0]

    def legal_all(self, states: Sequence[S]) -> Array:
        points = self.points([self.legal_board(state) for state in states])
        legal = points.reshape(len(states), -1).astype(bool)
        if self.pass_action is None:
            return legal
        passes = np.array([self.may_pass(state) for state in states], bool)
        return np.concatenate([legal, passes[:, None]], axis=1)

    def board(self, state: S) -> Array:
        first, second = self.points(self.stones(state)).astype(np.int8)
        board: Array = first + 2 * second
        return board

    def action_at(self, row: int, column: int) -> int | None:
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            return None
        return row * self.columns + column

    def action_name(self, action: int) -> str:
        if action == self.pass_action:
            return "pass"
        row, column = divmod(action, self.columns)
        return f"{'abcdefghijklmnopqrstuvwxyz'[column]}{row + 1}"


def random_bit(board: int, random: np.random.Generator) -> int:
    """Return one of the bits of ``board``, each as likely as the others."""
    for _ in range(int(random.random() * board.bit_count())):
        board &= board - 1
    return board & -board


def in_a_row(board: int, length: int, stride: int) -> bool:
    """Return whether ``length`` stones lie side by side in a row, a column or a diagonal."""
    for step in (1, stride, stride + 1, stride - 1):
        run = board
        for _ in range(length - 1):
            run &= run >> step
        # run now has the stones that `length - 1` others follow, one after the other
        if run:
            return True
    return False
