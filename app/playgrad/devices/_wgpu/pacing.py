"""How many training steps to submit before waiting for the device."""

from __future__ import annotations

GROUP_SECONDS = 0.025
LARGEST_GROUP = 256
GROWTH = 4
SUBMIT_SECONDS = 0.005
STEPS_IN_SUBMIT = 8


class SubmissionPacer:
    """Steps go to the device in groups of about GROUP_SECONDS, each waited for before the next.

    What is in flight is thereby bounded, a stop is answered within a group's time, and a wait's
    cost is shared by the group. Steps that take next to nothing go several in one submit.

    Attributes:
        group: steps in a group now.
        submit: steps in a submit now.
    """

    def __init__(self) -> None:
        self.group = 1
        self.submit = 1

    def finished(self, steps: int, seconds: float) -> None:
        """Take note that ``steps`` took ``seconds``."""
        per_step = max(seconds / steps, 1e-9)
        fitting = int(GROUP_SECONDS / per_step)
        self.group = max(1, min(fitting, GROWTH * self.group, LARGEST_GROUP))
        self.submit = max(1, min(int(SUBMIT_SECONDS / per_step), STEPS_IN_SUBMIT))
