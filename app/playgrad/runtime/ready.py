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
        return [follower for follower in self._followers[number] if self._one_less(follower)]

    def passed(self, number: int, follower: int) -> bool:
        """Note that ``follower`` need not wait any more for ``number``, which has not ended yet;
        whether it is ready now."""
        self._followers[number].remove(follower)
        return self._one_less(follower)

    def _one_less(self, follower: int) -> bool:
        self._missing[follower] -= 1
        return self._missing[follower] == 0
