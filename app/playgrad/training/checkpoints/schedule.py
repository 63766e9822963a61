"""The moments at which a run makes checkpoints."""

from __future__ import annotations

import math
import sys
from collections import deque

FIRST_SECONDS = 1.0
"""The age of a training at its first checkpoint, if there is none of its beginning."""
INTERVAL_SECONDS = 8.0
"""The most time between two checkpoints of a training, unless they are expensive."""
SHORTEST_SECONDS = 0.1
"""The least time between two checkpoints that are spread over a training: it has about this many
chunks of steps, and a point of the curve that can be told from the next one by eye."""
PART_OF_AGE = 1 / 16
"""Checkpoints that are spread over a training follow each other after this part of its age. Whoever
keeps 24 of them always has some between each two that it keeps."""
LARGEST_SHARE = 0.02
"""The largest share of the time that checkpoints may take: if they take longer, they are fewer."""
LONGEST_SECONDS = 60.0
"""The most time between two checkpoints, however expensive they are."""
SMALL_BYTES = 8 << 20
"""Values of variables of which a checkpoint is made before it is known what one costs."""
SECOND_SECONDS = 0.3
"""The most time to the second checkpoint of such a model. The first one can take 20 times as long
as others, and a training of seconds would have no more of them."""
MEASURED = 3
"""Checkpoints whose costs are compared. The smallest counts: longer times are due to other work of
the machine."""


class CheckpointSchedule:
    """Says when checkpoints are due: by the time since the last one and by what one costs, or by
    the number of steps. Times are in seconds.

    Args:
        spread: whether checkpoints are to be spread over each training, from its beginning on, so
            that one can go back along it. Otherwise they only limit the work lost in a crash.
        every: the number of steps between two checkpoints; None to go by the time.
    """

    def __init__(self, spread: bool, every: int | None = None) -> None:
        self._spread = spread
        self._every = every
        self._began = 0.0
        self._made = self._due = self._ended = -math.inf
        self._costs: deque[float] = deque(maxlen=MEASURED)
        self._is_small = False

    def begin(self, now: float, size: int, is_known: bool) -> None:
        """Begin a training.

        Args:
            size: the size of the values of its variables, in bytes.
            is_known: whether there is a checkpoint of its beginning, because it is resumed.
        """
        self._began = now
        self._is_small = size <= SMALL_BYTES
        wait = FIRST_SECONDS
        if self._spread and is_known:
            wait = self._interval(now)
        elif self._spread and self._is_small:
            wait = 0.0
        self._due = max(now + wait, self._made + self._least_interval)

    def is_due(self, now: float, done: int = 0) -> bool:
        """Return whether a checkpoint is to be made after ``done`` steps."""
        if self._every is not None:
            return done > 0 and done % self._every == 0
        return now >= self._due

    def steps_left(self, done: int) -> int:
        """Return how many more steps may be run before the next question."""
        return sys.maxsize if self._every is None else self._every - done % self._every

    def end(self, now: float) -> bool:
        """End a training. Return whether to make a checkpoint, because its end is worth one.

        A program may close the model next. Only the ends of many short trainings are too many.
        """
        is_affordable = self._every is not None or now >= self._ended + self._least_interval
        if is_affordable:
            self._ended = now
        return is_affordable

    def made(self, now: float, cost: float | None = None) -> None:
        """Note that a checkpoint was made.

        Args:
            cost: the seconds that it took, if it was one of the schedule's.
        """
        self._made = now
        if cost is not None:
            self._costs.append(cost)
            self._due = now + max(self._interval(now), self._least_interval)

    def _interval(self, now: float) -> float:
        if not self._spread:
            return INTERVAL_SECONDS
        return min(INTERVAL_SECONDS, max(SHORTEST_SECONDS, PART_OF_AGE * (now - self._began)))

    @property
    def _least_interval(self) -> float:
        """The time between two checkpoints that their cost demands."""
        wait = min(min(self._costs, default=0.0) / LARGEST_SHARE, LONGEST_SECONDS)
        is_guess = self._spread and self._is_small and len(self._costs) < 2
        return min(wait, SECOND_SECONDS) if is_guess else wait
