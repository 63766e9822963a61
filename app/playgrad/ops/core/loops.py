"""The loops of a kernel, and the rounds that they take.

llvmpipe ends all loops of an invocation after 65,535 rounds, without a word. It adds up the
rounds of nested and of successive loops; so work must be divided among
invocations or dispatches, or a round must do more (`compiler/long_loops.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Loop:
    """A loop of at most ``trips`` rounds, and the loops inside of it."""

    trips: int
    inside: tuple[Loop, ...] = ()


def nested(*trips: int) -> Loop:
    """Return a loop of ``trips[0]`` rounds, in it one of ``trips[1]``, and so on."""
    first, *rest = trips
    return Loop(first, (nested(*rest),) if rest else ())


def rounds(loops: Sequence[Loop], copies: int = 1) -> int:
    """Return the most rounds that ``loops`` take, one after the other.

    A loop takes one more round to end.

    Args:
        copies: how often the body of each loop was written into a round.
    """
    return sum(
        loop.trips // copies + 1 + loop.trips * rounds(loop.inside, copies) for loop in loops
    )


def innermost(loops: Sequence[Loop]) -> int:
    """Return how often bodies without further loops run."""
    return sum(loop.trips * (innermost(loop.inside) or 1) for loop in loops)


def depth(loops: Sequence[Loop]) -> int:
    """Return how many loops are inside of each other."""
    return max((1 + depth(loop.inside) for loop in loops), default=0)
