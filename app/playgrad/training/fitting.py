"""What ``Model.fit`` and ``Model.evaluate`` do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from playgrad.errors import DataError, GraphError, NonFiniteError
from playgrad.runtime.options import SINGLE, get_options
from playgrad.training.batch_api import not_finite_error, prepare
from playgrad.training.callbacks import Callback, History
from playgrad.training.chunk_loop import ChunkSizer, Watch, run_steps
from playgrad.training.data_checks import check_count
from playgrad.training.device_data import DeviceData, declare_resident, make_resident
from playgrad.training.progress import Progress
from playgrad.training.recovery import recover
from playgrad.training.step_graphs import (
    HISTORY_ROWS,
    EvalStep,
    TrainStep,
    build_eval_step,
    build_train_step,
)
from playgrad.training.strategy_steps import AsynchronousStep, build_parallel_step, settle

if TYPE_CHECKING:
    from playgrad.models.model import Model

Array = np.ndarray[Any, Any]
BATCH = 32
EVALUATION_BATCH = 200
"""Samples of one evaluation step: large enough for few dispatches, small enough to be short."""


@dataclass(frozen=True)
class Settings:
    """The arguments of ``fit``."""

    batch_size: int
    epochs: int
    verbose: int
    callbacks: tuple[Callback, ...]
    validation_data: tuple[Any, Any] | None
    shuffle: bool
    seed: int | None
    steps: int | None = None

    def overridden(self) -> Settings:
        """With what the host's options decide."""
        options = get_options()
        names = ("batch_size", "epochs", "verbose", "steps")
        chosen = {name: getattr(options, name) for name in names}
        return replace(self, **{name: v for name, v in chosen.items() if v is not None})

    def check(self) -> None:
        """Look at what can be judged without the model.

        Raises:
            DataError: numbers that are none, or validation data that is no pair.
            GraphError: callbacks that are none.
        """
        for name in ("batch_size", "epochs", "steps"):
            value = getattr(self, name)
            if value is not None:
                check_count(value, name)
        pair = self.validation_data
        if pair is not None and not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise DataError("validation_data must be a pair (x, y).")
        for callback in self.callbacks:
            if not isinstance(callback, Callback):
                raise GraphError(f"a callback must be an nn.Callback, not {callback!r:.60}.")


def fit(model: Model, x: Any, y: Any, settings: Settings) -> History:
    """Train ``model``; see ``Model.fit``."""
    settings = settings.overridden()
    settings.check()
    optimizer, _ = model.compiled()
    xs, ys = prepare(model, x, y, "")
    validation = None
    if settings.validation_data is not None:
        validation = prepare(model, *settings.validation_data, "validation ")
    optimizer.prepare(model.graph)
    recover(model)
    data = declare_resident(model, "train", xs, ys)
    batch = min(settings.batch_size, data.count)
    options = get_options()
    placement = options.placement or (None if options.strategy == SINGLE else model.placement)
    strategy = options.strategy or (None if placement else model.strategy)
    if strategy is None or strategy == SINGLE:
        settle(model, placement=placement)
        step = build_train_step(model, data, batch, settings.shuffle, settings.seed)
        data.fill(model, xs, ys, soon=step.run if placement is None else None)
        if placement is not None:
            model.session.compiled([step.run])  # who is told of the training sees where it is done
    else:
        data.fill(model, xs, ys)
        step = build_parallel_step(model, data, batch, settings.shuffle, settings.seed, strategy)
    try:
        model.input_maximum = max(float(array.max()) for array in xs)
        test = None
        if validation is not None:
            held_out = make_resident(model, "test", *validation)
            test = build_eval_step(model, held_out, min(EVALUATION_BATCH, held_out.count))
        return _Training(model, settings, data, batch, step, test).run()
    except BaseException:
        step.finish()  # replicas have threads of their own, also where training did not begin
        raise


class _Training:
    """One ``fit`` under way."""

    def __init__(
        self,
        model: Model,
        settings: Settings,
        data: DeviceData,
        batch: int,
        step: TrainStep,
        test: EvalStep | None,
    ) -> None:
        self.model = model
        self.step = step
        self.test = test
        self.session = model.session
        self.optimizer, _ = model.compiled()
        self.callbacks = settings.callbacks
        self.steps_per_epoch = -(-data.count // batch)
        self.epochs = settings.epochs
        self.total = settings.steps or settings.epochs * self.steps_per_epoch
        if settings.steps is not None:
            self.epochs = -(-settings.steps // self.steps_per_epoch)
        self.done = 0
        self.first = int(self.session.value(self.optimizer.iterations))
        self.pace = ChunkSizer(HISTORY_ROWS)
        self.test_pace = ChunkSizer(test.steps if test else 1)
        self.watch = Watch(self.session, self.optimizer)
        self.history = History(step.names)
        self.epoch_rows: list[Array] = []
        self.logs: dict[str, float] = {}
        # Where nobody looks at the model between epochs, chunks of steps need not end with them:
        # on little data they would be very short.
        self.in_one_go = not (self.callbacks or test or step.settles)
        self.progress = Progress(self.watch, step.names, self.total, settings.verbose)
        self.batch = batch

    def run(self) -> History:
        self.model.history = self.history
        self.model.stop_training = False
        self.model.training_step = self.step.run
        step = self.step
        self.model.parameter_server = step.server if isinstance(step, AsynchronousStep) else None
        self.watch.hooks.fitting(self.model)
        self.progress.begin(
            epochs=self.epochs,
            steps_per_epoch=self.steps_per_epoch,
            batch_size=self.batch,
            device=self.session.device,
            adapter=self.session.adapter,
            parameters=self.model.count_params(),
        )
        reason, dispatches = "failed", 0
        try:
            # Compiles it, which takes seconds where the adapter is slow at it.
            dispatches = self.session.dispatches(self.step.run)
            with self.watch.over_session():
                self._epochs()
            reason = "completed"
        except KeyboardInterrupt:
            reason = "stopped"
            raise
        finally:
            self.history.parallel = self.step.finish()
            self.history.seconds = self.progress.seconds
            self.progress.end(reason, self.done, dispatches, self.history.parallel)
        return self.history

    def _epochs(self) -> None:
        for callback in self.callbacks:
            callback.set_model(self.model)
            callback.on_train_begin({})
        if self.in_one_go:
            self._steps(self.total)
        else:
            self._one_by_one()
        for callback in self.callbacks:
            callback.on_train_end(self.logs)

    def _one_by_one(self) -> None:
        """Epochs with something to do between them."""
        for epoch in range(self.epochs):
            for callback in self.callbacks:
                callback.on_epoch_begin(epoch, {})
            end = min((epoch + 1) * self.steps_per_epoch, self.total)
            self._steps(end - self.done)
            self.step.settle(self.session)
            self._end_epoch()
            for callback in self.callbacks:
                callback.on_epoch_end(epoch, self.logs)
            if self.model.stop_training:
                break

    def _end_epoch(self) -> None:
        self.logs = self._epoch_logs()
        self.epoch_rows = []
        self.history.add_epoch(self.progress.epoch - 1, self.logs)
        self.progress.epoch_end(self.done, self.logs)
        self.progress.epoch += 1

    def _collect(self, steps: int) -> None:
        """Read what the device noted of the last steps."""
        recorder, others = self.step.recorder, self.step.replicas
        healthy, elsewhere, iterations, *arrays = self.session.run(
            [self.step.healthy, others, self.optimizer.iterations, *recorder.variables]
        )
        last = int(iterations)
        before = self.first + self.done
        if last > before:
            rows = recorder.take(arrays, before, last)
            self.history.add_steps(rows)
            while len(rows):
                # In one go, a chunk can hold the ends of epochs.
                left = self.steps_per_epoch - self.done % self.steps_per_epoch
                self._note(rows[:left])
                rows = rows[left:]
        if not healthy:
            value = recorder.take(arrays, last, last + 1)[0, 0]
            self.session.assign({self.step.healthy: np.bool_(True)})
            rate = float(self.session.value(self.optimizer.learning_rate))
            raise not_finite_error(float(value), self.done + 1, rate)
        ill = [device for device, flag in elsewhere.items() if not flag]
        if ill:
            self.session.assign({others[device]: np.bool_(True) for device in ill})
            when = "step" if steps == 1 else f"{steps} steps"
            raise NonFiniteError(
                f"the loss of the replica on {ill[0]} became NaN or infinite in the last {when}; "
                "nothing of that went into the weights.",
                hint="Lower the learning rate, or scale the data to about -1 to 1.",
            )

    def _note(self, rows: Array) -> None:
        """Tell of steps of one epoch."""
        self.done += len(rows)
        self.epoch_rows.append(rows)
        self.progress.steps(self.done, rows)
        logs = dict(zip(self.step.names, map(float, rows[-1]), strict=True))
        for callback in self.callbacks:
            callback.on_steps_end(self.done, logs)
        if self.in_one_go and (self.done % self.steps_per_epoch == 0 or self.done == self.total):
            self._end_epoch()

    def _epoch_logs(self) -> dict[str, float]:
        rows = np.concatenate(self.epoch_rows)
        means = rows.mean(axis=0, dtype=np.float64)
        logs = dict(zip(self.step.names, map(float, means), strict=True))
        if self.test is not None:
            means_of_test = run_evaluation(self.watch, self.test_pace, self.test)
            logs.update({f"val_{name}": value for name, value in means_of_test.items()})
        return logs

    def _steps(self, steps: int) -> None:
        """Run ``steps`` steps; with tracing on, the very last of all are traced: one, or as many
        as it takes to see how they are done together."""
        trace = get_options().trace
        before = self.progress.seconds
        kept = 0
        if trace is not None and self.done + steps == self.total:
            kept = self.step.together if self.step.together <= steps else 1
        run_steps(
            self.watch,
            self.pace,
            lambda wanted: self.step.repeat(self.session, wanted),
            steps - kept,
            self._collect,
            training=True,
            traced=partial(self.step.traced, self.session),
        )
        if trace is not None and kept:
            trace.events.clear()  # of several times that a program trains, the last
            trace.steps = self.step.traced(self.session, trace, kept)
            self._collect(trace.steps)
        self.history.train_seconds += self.progress.seconds - before


def run_evaluation(watch: Watch, pace: ChunkSizer, step: EvalStep) -> dict[str, float]:
    """Means of loss and metrics over the whole data set of ``step``."""
    step.rewind(watch.session)
    session = watch.session
    repeat = partial(session.repeat, step.run)
    run_steps(watch, pace, repeat, step.steps, lambda _: None, training=False)
    return step.means(watch.session)


def evaluate(model: Model, x: Any, y: Any, batch_size: int | None) -> dict[str, float]:
    """Means by name; see ``Model.evaluate``."""
    size = check_count(EVALUATION_BATCH if batch_size is None else batch_size, "batch_size")
    xs, ys = prepare(model, x, y, "")
    data = make_resident(model, "test", xs, ys)
    batch = min(size, data.count)
    step = build_eval_step(model, data, batch)
    watch = Watch(model.session, None)
    with watch.over_session():
        return run_evaluation(watch, ChunkSizer(step.steps), step)
