"""The course of the losses: where they began, where they are, and whether they have fallen."""

from __future__ import annotations

from dataclasses import dataclass

from playgrad.doctor import thresholds
from playgrad.doctor.evidence import Evidence
from playgrad.doctor.median import median


@dataclass(frozen=True)
class Course:
    """Medians of the losses.

    Attributes:
        start: of the first steps.
        middle: of a part in the middle.
        now: of the last part.
    """

    start: float
    middle: float
    now: float


def course(evidence: Evidence) -> Course | None:
    """Return the course of the losses; None before there have been enough steps."""
    losses = evidence.losses
    if len(losses) < thresholds.FEWEST_STEPS:
        return None
    last = max(thresholds.FIRST_STEPS, int(thresholds.WINDOW * len(losses)))
    return Course(
        start=float(median(losses[: thresholds.FIRST_STEPS])),
        middle=float(median(losses[(len(losses) - last) // 2 :][:last])),
        now=float(median(losses[-last:])),
    )


def was_patient(evidence: Evidence) -> bool:
    """Return whether there have been enough steps for the loss to begin to fall."""
    steps = len(evidence.losses)
    enough = thresholds.FEWEST_ROUNDS * evidence.rows if evidence.rows else thresholds.MANY_STEPS
    return steps >= max(thresholds.FEWEST_STEPS, min(enough, thresholds.MANY_STEPS))


def limit(evidence: Evidence, start: float) -> float:
    """Return the loss of a network that has learnt nothing: at the start, or of guessing."""
    return start if evidence.baseline is None else min(start, evidence.baseline)


def has_learnt(evidence: Evidence) -> bool:
    """Return whether the loss has fallen, or may still: False only if it is known not to."""
    known = course(evidence)
    if known is None or not was_patient(evidence):
        return True
    return known.now < thresholds.LEARNT * limit(evidence, known.start)


def knew(evidence: Evidence) -> bool:
    """Return whether the network was clearly better than guessing from the start."""
    known = course(evidence)
    return is_better(evidence, None if known is None else known.start)


def knows(evidence: Evidence) -> bool:
    """Return whether the network is clearly better than guessing, whenever it has learnt that."""
    known = course(evidence)
    return is_better(evidence, None if known is None else known.now)


def is_better(evidence: Evidence, loss: float | None) -> bool:
    """Return whether a loss is known to be clearly lower than that of guessing."""
    if loss is None or evidence.baseline is None:
        return False
    return loss < thresholds.LEARNT * evidence.baseline


def has_diverged(evidence: Evidence) -> bool:
    """Return whether the loss has grown so much that the training is lost."""
    losses = evidence.losses
    few = thresholds.FIRST_STEPS
    if len(losses) < 2 * few:
        return False
    start = float(median(losses[:few]))
    if evidence.baseline is not None:
        start = max(start, evidence.baseline)
    return bool(start > 0 and float(median(losses[-few:])) > thresholds.DIVERGED * start)
