"""Pacing: the number of training steps to submit before waiting for the device."""

from __future__ import annotations

GROUP_SECONDS = 0.025
LARGEST_GROUP = 256
GROWTH = 4
SUBMIT_SECONDS = 0.005
STEPS_IN_SUBMIT = 8


class SubmissionPacer:
    """Sizes groups of steps so that each takes about GROUP_SECONDS.

    The device finishes a group before the next is submitted. That bounds the work in flight, lets a
    stop take effect within a group's time, and spreads the cost of a wait over the group. Very
    short steps share a submit.

    Attributes:
        group: number of steps in the next group.
        submit: number of steps in each submit.
    """

    def __init__(self) -> None:
        self.group = 1
        self.submit = 1

    def finished(self, steps: int, seconds: float) -> None:
        """Adapt to a group of ``steps`` steps that took ``seconds``."""
        per_step = max(seconds / steps, 1e-9)
        fitting = int(GROUP_SECONDS / per_step)
        self.group = max(1, min(fitting, GROWTH * self.group, LARGEST_GROUP))
        self.submit = max(1, min(int(SUBMIT_SECONDS / per_step), STEPS_IN_SUBMIT))
