"""The table at the heart of execution: how many predecessors each task still waits for."""

from __future__ import annotations

from collections.abc import Sequence


class ReadyTable:
    """Says which tasks may begin, real ones and simulated ones alike.

    Args:
        after: for each task the positions of those that must end before it.

    Attributes:
        left: tasks that have not ended.
    """

    def __init__(self, after: Sequence[Sequence[int]]) -> None:
        self._missing = [len(set(before)) for before in after]
        self._followers: list[list[int]] = [[] for _ in after]
        for number, before in enumerate(after):
            for earlier in set(before):
                self._followers[earlier].append(number)
        self.left = len(after)

    def first(self) -> list[int]:
        """The tasks that wait for none."""
        return [number for number, missing in enumerate(self._missing) if missing == 0]

    def finished(self, number: int) -> list[int]:
        """Note that a task has ended; the tasks that are ready now and were not before."""
        self.left -= 1
        now = []
        for follower in self._followers[number]:
            self._missing[follower] -= 1
            if self._missing[follower] == 0:
                now.append(follower)
        return now
