"""Symmetries of boards: turned and mirrored games are the same game."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Symmetry:
    """A renaming of the points of a board that the rules do not notice.

    Attributes:
        name: such as "turned by 90°".
        points: int (rows · columns,): the point that comes to each point.
        actions: int (actions,): the action that comes to each action.
    """

    name: str
    points: Array
    actions: Array

    def planes(self, planes: Array) -> Array:
        """Return planes (..., rows, columns) of the turned or mirrored board."""
        flat = planes.reshape(*planes.shape[:-2], -1)
        moved: Array = flat[..., self.points].reshape(planes.shape)
        return moved

    def policy(self, policy: Array) -> Array:
        """Return numbers for each action (..., actions) on the turned or mirrored board."""
        moved: Array = policy[..., self.actions]
        return moved

    def action(self, action: int) -> int:
        """Return what becomes of an action on the turned or mirrored board."""
        return int(np.flatnonzero(self.actions == action)[0])


def identity(rows: int, columns: int, actions: int) -> Symmetry:
    """Return the symmetry that changes nothing."""
    return Symmetry("as it is", np.arange(rows * columns), np.arange(actions))


_NAMES = (
    "as it is",
    "turned by 90°",
    "turned by 180°",
    "turned by 270°",
    "mirrored left to right",
    "mirrored across the rising diagonal",
    "mirrored top to bottom",
    "mirrored across the falling diagonal",
)


def square_symmetries(
    size: int, has_pass: bool, chosen: Iterable[int] = range(8)
) -> tuple[Symmetry, ...]:
    """Return symmetries of a square board whose actions are its points, and maybe a pass.

    Args:
        chosen: 0 to 3 turn by so many quarters, 4 to 7 mirror left to right after that.
    """
    board = np.arange(size * size).reshape(size, size)
    symmetries = []
    for each in chosen:
        turned = np.rot90(board, each % 4)
        points = (turned if each < 4 else turned[:, ::-1]).reshape(-1)
        actions = np.append(points, size * size) if has_pass else points
        symmetries.append(Symmetry(_NAMES[each], points, actions))
    return tuple(symmetries)
