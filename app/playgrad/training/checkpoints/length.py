"""The length of a resumed fit: the program's epochs or steps, compared with the completed ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from playgrad.errors import CheckpointError
from playgrad.training.checkpoints.record import FitRecord
from playgrad.training.fit_settings import Settings


@dataclass(frozen=True)
class Length:
    """The length of a fit.

    Attributes:
        epochs: the number of epochs, of which the last may be shorter.
        steps: the number of steps; 0 if it is not known before the training.
        of_epoch: the number of steps of an epoch; None if it is not known before the training.
    """

    epochs: int
    steps: int
    of_epoch: int | None

    @staticmethod
    def of(settings: Settings, of_epoch: int | None) -> Length:
        """Return the length that the arguments of ``fit`` ask for."""
        if settings.steps is None:
            return Length(settings.rounds, settings.rounds * (of_epoch or 0), of_epoch)
        epochs = settings.steps if of_epoch is None else -(-settings.steps // of_epoch)
        return Length(epochs, settings.steps, of_epoch)


def continued(recorded: FitRecord, length: Length) -> FitRecord:
    """Return the last fit of a checkpoint as it is resumed with ``length``.

    A completed fit is under way again if more is asked for than was done. An epoch that the number
    of steps had cut short is then not completed any more.

    Raises:
        CheckpointError: more steps or epochs were done than are asked for, or a callback had ended
            the training that is to be longer.
    """
    if _is_same(length, recorded):
        return recorded
    if _is_less(length, recorded):
        raise CheckpointError(
            f"the checkpoint has {_done(recorded)} of this training, more than the "
            f"{_asked(length)} asked for.",
            hint="Ask for at least as many, or train from the start.",
        )
    if not _is_more(length, recorded):
        return recorded
    if recorded.outcome == "completed" and recorded.stop:
        raise CheckpointError(
            f"a callback ended the training in the checkpoint after {_done(recorded)}, so it "
            f"cannot be continued to {_asked(length)}.",
            hint=f"Ask for {_number(recorded.epochs, 'epoch')} as before, or train from the start.",
        )
    ended = recorded.epochs_ended - _has_cut_epoch(recorded, length)
    return replace(
        recorded,
        outcome="running" if recorded.outcome == "completed" else recorded.outcome,
        history={name: means[:ended] for name, means in recorded.history.items() if ended},
    )


def check_unchanged(recorded: FitRecord, number: int, length: Length) -> None:
    """Check that an earlier fit of a checkpoint, which others followed, has the same length.

    Args:
        number: the number of the fit in the program, from 1.

    Raises:
        CheckpointError: it has another length.
    """
    if _is_same(length, recorded):
        return
    before = Length(recorded.epochs, recorded.total_steps, length.of_epoch)
    raise CheckpointError(
        f"training number {number} of the program had {_asked(before)} when the checkpoint was "
        f"made, and others have followed it; it cannot have {_asked(length)} now.",
        hint="Undo the change to resume, or train from the start.",
    )


def _is_same(length: Length, recorded: FitRecord) -> bool:
    return (length.epochs, length.steps) == (recorded.epochs, recorded.total_steps)


def _is_less(length: Length, recorded: FitRecord) -> bool:
    if length.steps:
        return length.steps < recorded.step
    return length.epochs < recorded.epochs_ended


def _is_more(length: Length, recorded: FitRecord) -> bool:
    if length.steps:
        return length.steps > recorded.step
    return length.epochs > recorded.epochs_ended or bool(recorded.total_steps)


def _has_cut_epoch(recorded: FitRecord, length: Length) -> bool:
    """Return whether the last recorded epoch ended with the training rather than with the data."""
    if not recorded.epochs_ended or recorded.step != recorded.total_steps:
        return False
    return length.of_epoch is None or recorded.step % length.of_epoch > 0


def _done(recorded: FitRecord) -> str:
    return f"{_number(recorded.epochs_ended, 'epoch')} ({_number(recorded.step, 'step')})"


def _asked(length: Length) -> str:
    if length.of_epoch is None and length.steps:
        return _number(length.steps, "step")
    epochs = _number(length.epochs, "epoch")
    return f"{epochs} ({_number(length.steps, 'step')})" if length.steps else epochs


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")
