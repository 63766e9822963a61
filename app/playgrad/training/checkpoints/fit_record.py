"""The state of a training as a record for checkpoints, and back."""

from __future__ import annotations

from dataclasses import replace

from playgrad.training.checkpoints.record import REPLACED, FitRecord
from playgrad.training.observers import TrainingLoop

_EPOCH_END = "end of epoch "
_EARLIER = "earlier steps"


def fit_record(loop: TrainingLoop) -> FitRecord:
    """Return the state of a fit between two chunks of steps."""
    history = loop.history
    return FitRecord(
        model=0,
        outcome=_outcome(loop),
        data=loop.data,
        step=len(history.steps),
        total_steps=loop.total,
        epochs_begun=loop.epochs_begun,
        epochs=loop.epochs,
        stop=loop.state.stop,
        seconds=history.seconds if loop.has_ended else max(loop.progress.seconds, history.seconds),
        train_seconds=history.train_seconds,
        names=loop.step.names,
        steps=history.steps,
        history=history.history,
        parallel=history.parallel,
        step_state=_step_state(loop),
        callbacks=[c.get_state() for c in loop.callbacks] if loop.callbacks_begun else [],
        settings=loop.facts_of_settings,
    )


def _outcome(loop: TrainingLoop) -> str:
    if loop.replaced is not None:
        return REPLACED
    return "completed" if loop.has_ended else "running"


def _step_state(loop: TrainingLoop) -> dict[str, int]:
    state = loop.step.resume_state()
    if loop.step.follows_epochs:
        state |= {f"{_EPOCH_END}{i}": end for i, end in enumerate(loop.epoch_ends)}
    if loop.earlier:
        state[_EARLIER] = loop.earlier
    return state


def record_after_loss(loop: TrainingLoop) -> FitRecord:
    """Return the state of a fit at the step to which the variables have gone back."""
    record = fit_record(loop)
    iterations = int(loop.session.value(loop.optimizer.iterations))
    step = min(max(iterations - loop.first, 0), record.step)
    epochs = sum(end <= step for end in loop.epoch_ends)
    return replace(
        record,
        step=step,
        steps=record.steps[:step],
        epochs_begun=min(record.epochs_begun, epochs + 1),
        history={name: means[:epochs] for name, means in record.history.items() if epochs},
    )


def restore_fit(loop: TrainingLoop, resumed: FitRecord) -> None:
    """Bring a fit to the end of the last epoch that ``resumed`` has completed."""
    loop.first = int(loop.session.value(loop.optimizer.iterations)) - resumed.step
    loop.earlier = resumed.step_state.get(_EARLIER, 0)
    history = loop.history
    history.restore(resumed.steps, resumed.history, resumed.seconds, resumed.train_seconds)
    history.parallel = resumed.parallel
    loop.logs = {name: means[-1] for name, means in history.history.items()}
    history.epoch = [loop.initial_epoch + epoch for epoch in history.epoch]
    loop.progress.epoch = loop.initial_epoch + resumed.epochs_ended + 1
    loop.progress.logs = loop.logs
    loop.epochs_begun = resumed.epochs_begun
    loop.state.stop = resumed.stop
    ended = range(resumed.epochs_ended)
    if loop.step.follows_epochs:
        loop.epoch_ends = [resumed.step_state[f"{_EPOCH_END}{i}"] for i in ended]
    else:
        assert loop.steps_per_epoch is not None
        loop.epoch_ends = [(i + 1) * loop.steps_per_epoch for i in ended]
    loop.done = loop.epoch_start
