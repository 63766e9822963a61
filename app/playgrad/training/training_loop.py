"""The training loop: epochs of chunks of steps, with callbacks and events between them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from playgrad.errors import DataError, DeviceLostError, NonFiniteError, PlaygradError
from playgrad.runtime.gradual_tuning import tune_a_little
from playgrad.runtime.options import get_options
from playgrad.runtime.phrases import phrase
from playgrad.training.averages import SwapEMAWeights, take_averages
from playgrad.training.batch_api import not_finite_error, not_finite_hint
from playgrad.training.batch_callbacks import BatchCallbacks
from playgrad.training.callbacks import History, TerminateOnNaN, TrainedModel
from playgrad.training.checkpoints.capture import Replaced, capture, same_state
from playgrad.training.checkpoints.fit_record import fit_record, restore_fit
from playgrad.training.checkpoints.length import Length
from playgrad.training.checkpoints.record import FitRecord
from playgrad.training.checkpoints.resume import PRECISION, kept_weights
from playgrad.training.checkpoints.run_record import RunRecord
from playgrad.training.chunk_loop import ENDLESS, ChunkSizer, Watch, run_steps
from playgrad.training.evaluation import Evaluation
from playgrad.training.fit_settings import Settings
from playgrad.training.observers import Observers
from playgrad.training.progress import TrainingProgress
from playgrad.training.recipe import Recipe
from playgrad.training.recovery import recovering
from playgrad.training.state import TrainingState
from playgrad.training.step_graphs import HISTORY_ROWS
from playgrad.training.steps import TrainStep
from playgrad.training.streamed_step import RoundEndError

Array = np.ndarray[Any, Any]


class TrainingLoop:
    """One ``fit``.

    Args:
        test: evaluates the validation data after each epoch.
        data: the facts that the order of samples depends on; a resumed fit must have the same.
        steps_per_epoch: None if the step knows when an epoch ends, by raising RoundEndError.
        model: is passed to callbacks and hooks.
        undone: the fit as it is resumed, instead of from the first step.
        is_rest: whether it is the rest of a training in which a device was lost.

    Attributes:
        first: the optimizer's iterations before the first step.
        done: the number of steps done.
        replaced: the state at the end of a training that was interrupted, if callbacks have put
            other weights in its place.
        epoch_ends: the number of steps done at the end of each epoch.
    """

    def __init__(
        self,
        recipe: Recipe,
        state: TrainingState,
        step: TrainStep,
        test: Evaluation | None,
        data: dict[str, int],
        steps_per_epoch: int | None,
        model: TrainedModel,
        settings: Settings,
        undone: FitRecord | None = None,
        is_rest: bool = False,
    ) -> None:
        self.recipe = recipe
        self.state = state
        self.step = step
        self.test = test
        self.data = data
        self.steps_per_epoch = steps_per_epoch
        self.epoch_ends: list[int] = []
        self.model = model
        self.undone = undone
        self.is_rest = is_rest
        self.has_ended = False
        self.earlier = 0
        self.lost_device = False
        self.replaced: Replaced | None = None
        self.session = recipe.network.session
        self.optimizer = recipe.optimizer
        self.first = int(self.session.value(self.optimizer.iterations))
        self.done = 0
        self.sizer = ChunkSizer(HISTORY_ROWS)
        record: RunRecord | None = get_options().record
        self.record_of_run = None if record is None or record.fitting else record
        self.watch = Watch(self.session, self.optimizer)
        self.watch.epoch_left = self._epoch_left
        self.watch.steps_done = lambda: self.done
        self.watch.between_chunks = self._between_chunks
        self.watch.longest_chunk = self._longest_chunk
        self.history = History(step.names)
        self.epoch_rows: list[Array] = []
        self.epoch_samples: list[Array] = []
        self.logs: dict[str, float] = {}
        self.epochs_begun = 0
        self.callbacks_begun = False
        self._has_shown_rest = False
        callbacks = settings.callbacks
        self.initial_epoch = settings.initial_epoch
        self.facts_of_settings = {
            **settings.facts(),
            **kept_weights(recipe.network),
            PRECISION: self.session.precision,
        }
        self.length = Length.of(settings, steps_per_epoch)
        self.total, self.epochs = self.length.steps, self.length.epochs
        self.callbacks = callbacks
        self.in_order = sorted(callbacks, key=lambda callback: callback.runs_last)
        self.observers = Observers.of(callbacks)
        self.batches = BatchCallbacks(callbacks, step, recipe.objectives)
        # If nothing reads the model between epochs, chunks need not end with them: with little
        # data they would be very short.
        self.chunks_span_epochs = not (
            callbacks or test or step.synchronizes or step.follows_epochs
        )
        self.progress = TrainingProgress(self.watch, step.names, self.total, settings.verbose)
        self.progress.epoch += self.initial_epoch

    def run(self) -> History:
        """Train for the epochs of the settings, or for exactly their ``steps``."""
        state, network = self.state, self.recipe.network
        record = self.record_of_run
        resumed = self.undone
        if record is not None and self.is_rest:
            record.go_on(self)
        elif record is not None:
            resumed = record.begin(self) or resumed
        if resumed is None:
            self.earlier = self._earlier_steps(state.loop)
        state.loop = self
        self.has_ended = resumed is not None and resumed.outcome == "completed"
        state.history, state.step, state.stop = self.history, self.step, False
        if resumed is not None:
            self._take_up(resumed)
        self.watch.hooks.fitting(self.model)
        if self.has_ended:
            self._begin_callbacks(resumed)
            self._end_recording(None)
            return self.history
        self.observers.begin(self)
        self.progress.begin(
            epochs=self.initial_epoch + self.epochs,
            done=self.done,
            seconds=0.0 if resumed is None else resumed.seconds,
            rows=None if resumed is None else resumed.steps,
            steps_per_epoch=self.steps_per_epoch or 0,
            batch_size=self.step.batch,
            device=self.session.device,
            device_reason=self.session.device_reason,
            precision=self.session.precision,
            adapter=self.session.adapter,
            parameters=network.count_params(),
        )
        reason, dispatches = "failed", 0
        error: BaseException | None = None
        try:
            with recovering(self.recipe, self._iterations), self.watch.over_session():
                # Compiles the step, which takes seconds with a slow adapter.
                dispatches = self.session.dispatches(self.step.run)
                self.step.begin(self.session, self.first, self.done, self.earlier)
                self._train(resumed)
                self.session.keep_copy()
            reason, self.has_ended = "completed", True
        except KeyboardInterrupt as stop:
            reason, error = "stopped", stop
            self.watch.hooks.interrupted()
            raise
        except BaseException as failure:
            error = failure
            self.lost_device = isinstance(failure, DeviceLostError)
            raise
        finally:
            self.history.parallel = self.step.finish()
            self.history.seconds = self.progress.seconds
            with suppress(PlaygradError):  # whatever ended the training is more important
                self.session.keep_copy()
            self._end_recording(error)
            self.test = None  # its data may be large
            self.observers.end(self, completed=error is None)
            self._tell_interrupted(error)
            self.progress.end(reason, self.done, dispatches, self.history.parallel)
        return self.history

    def _earlier_steps(self, previous: TrainingLoop | None) -> int:
        """Return the steps of the training that this one continues after a lost device."""
        if previous is None or not previous.lost_device or previous.data != self.data:
            return 0
        return max(previous.earlier + self.first - previous.first, 0)

    def _tell_interrupted(self, error: BaseException | None) -> None:
        """Tell callbacks the error that ended the training; keep its state if they set weights."""
        if error is None or isinstance(error, DeviceLostError) or not self.callbacks_begun:
            return
        told = [each for each in self.callbacks if each.minds_interruptions]
        if not told:
            return
        try:
            before = capture(self)
            for callback in told:
                callback.on_train_interrupted(error)
            after = capture(self).state
            if not same_state(before.state, after):
                self.replaced = Replaced(before, after)
                self.session.keep_copy()
        except PlaygradError as failure:
            error.add_note(f"The callbacks could not be told: {failure}")

    def _between_chunks(self) -> None:
        if self.session.members.size == 1:  # members of a run must agree on their kernels
            tune_a_little()
        if self.record_of_run is not None:
            self.record_of_run.between_chunks()
        self.observers.between_chunks(self)

    def _longest_chunk(self) -> int:
        """Return the number of steps after which a checkpoint or a callback is due."""
        limits = [callback.steps_left(self.done) for callback in self.callbacks]
        if self.record_of_run is not None:
            limits.append(self.record_of_run.steps_left())
        return min(limits, default=ENDLESS)

    def _iterations(self) -> int:
        """Return the steps done by this training and earlier ones."""
        return self.first + self.done

    def _end_recording(self, error: BaseException | None) -> None:
        if self.record_of_run is not None:
            self.record_of_run.end(error)

    def record(self) -> FitRecord:
        """Return the state of this fit between two chunks of steps, for a checkpoint."""
        return fit_record(self)

    def _take_up(self, resumed: FitRecord) -> None:
        """Continue from where another training of the same program was."""
        restore_fit(self, resumed)
        if resumed.outcome != "completed":
            self._count(resumed.steps[self.done :])

    @property
    def epoch_start(self) -> int:
        """The steps before the running epoch."""
        return self.epoch_ends[-1] if self.epoch_ends else 0

    def _epoch_left(self) -> int:
        length = self.steps_per_epoch
        if length is None:
            return ENDLESS
        return length - (self.done - self.epoch_start) or length

    def _train(self, resumed: FitRecord | None) -> None:
        self._begin_callbacks(resumed)
        try:
            if self.chunks_span_epochs:
                self._run_steps(self.total - self.done)
            else:
                self._run_epochs()
        except NonFiniteError as error:
            ends = [c for c in self.callbacks if isinstance(c, TerminateOnNaN)]
            if not any(not callback.raise_error for callback in ends):
                raise
            print(phrase("ended", error=error, step=error.values.get("step", self.done + 1)))
        for callback in self.callbacks:
            if isinstance(callback, SwapEMAWeights):
                callback.swap(False)
        take_averages(self.optimizer, self.recipe.network.trainable_variables, self.session)
        for callback in sorted(self.callbacks, key=lambda callback: callback.ends_last):
            callback.on_train_end(self.logs)

    def _begin_callbacks(self, resumed: FitRecord | None) -> None:
        is_completed = resumed is not None and resumed.outcome == "completed"
        for callback in self.callbacks:
            callback.set_model(self.model)
            if not is_completed:
                callback.on_train_begin({})
        if resumed is not None and len(resumed.callbacks) == len(self.callbacks):
            for callback, state in zip(self.callbacks, resumed.callbacks, strict=True):
                callback.set_state(state)
        self.callbacks_begun = True

    def _run_epochs(self) -> None:
        for epoch in range(len(self.history.epoch), self.epochs):
            if self.state.stop and self.epoch_ends and self.done == self.epoch_start:
                break  # a callback had ended the training that is resumed
            if epoch >= self.epochs_begun:
                for callback in self.callbacks:
                    callback.on_epoch_begin(self.initial_epoch + epoch, {})
                self.epochs_begun = epoch + 1
            start = self.epoch_start
            self.step.begin_epoch(self.session, epoch, start, self.done)
            ends = [self.total] if self.total else []
            if self.steps_per_epoch is not None:
                ends.append(start + self.steps_per_epoch)
            try:
                self._run_steps(min(ends, default=ENDLESS) - self.done)
            except RoundEndError:
                self._end_round(start)
            self.step.synchronize(self.session)
            self._end_epoch()
            for callback in self.in_order:
                callback.on_epoch_end(self.initial_epoch + epoch, self.logs)
                self.history.update_epoch(self.logs)
            if self.state.stop or self.done == self.total:
                break

    def _end_round(self, start: int) -> None:
        """Check that the end of the data is the end of an epoch.

        Raises:
            DataError: the epoch should have had more steps, or had none.
        """
        steps = self.done - start
        if self.steps_per_epoch is not None:
            raise DataError(
                f"the data ended after {steps} batches of epoch {self.progress.epoch}, which has "
                f"{self.steps_per_epoch} steps.",
                hint="Use repeat() of the Dataset, or a smaller steps_per_epoch.",
            )
        if not steps:
            raise DataError(f"there are no batches in epoch {self.progress.epoch}.")

    def _run_steps(self, steps: int) -> None:
        """Run ``steps`` steps.

        With the option ``trace``, the last steps of the training are traced: as many as a trace
        needs to show everything, or one.
        """
        trace = get_options().trace
        before = self.progress.seconds
        traced = 0
        if trace is not None and self.done + steps == self.total and not self.batches:
            traced = self.step.trace_length if self.step.trace_length <= steps else 1
        if self.batches:
            run_steps(
                self.watch,
                ChunkSizer(1),
                lambda steps: self._announced().repeat(self.session, steps),
                steps,
                self._collect,
                training=True,
                run_traced=lambda trace, _: self._announced().run_traced(self.session, trace),
                ended=lambda: self.state.stop,
            )
        else:
            run_steps(
                self.watch,
                self.sizer,
                partial(self.step.repeat, self.session),
                steps - traced,
                self._collect,
                training=True,
                run_traced=partial(self.step.run_traced, self.session),
            )
        if trace is not None and traced:
            trace.events.clear()  # a program may train several times: the last one counts
            trace.steps = self.step.run_traced(self.session, trace, traced)
            self._collect(trace.steps)
        self.history.train_seconds += self.progress.seconds - before

    def _announced(self) -> TrainStep:
        """Return the step, whose next batch is ready and announced to callbacks."""
        self.step.prepare()
        self.batches.begin(self.done - self.epoch_start)
        return self.step

    def _collect(self, steps: int) -> None:
        """Read what the device recorded of the last ``steps`` steps.

        Raises:
            NonFiniteError: a loss was NaN or infinite.
        """
        recorder, flags = self.step.recorder, self.step.replica_flags
        healthy, healthy_replicas, iterations, *arrays = self.session.run(
            [self.step.healthy, flags, self.optimizer.iterations, *recorder.variables]
        )
        last = int(iterations)
        before = self.first + self.done
        if last > before:
            rows = recorder.take(arrays, before, last)
            self.history.add_steps(rows)
            self._count(rows, self._report)
        if not healthy:
            value = recorder.take(arrays, last, last + 1)[0, 0]
            self.session.assign({self.step.healthy: np.bool_(True)})
            self._lose()
            rate = float(self.session.value(self.optimizer.learning_rate))
            raise not_finite_error(float(value), self.done + 1, rate)
        unhealthy = [device for device, flag in healthy_replicas.items() if not flag]
        if unhealthy:
            self.session.assign({flags[device]: np.bool_(True) for device in unhealthy})
            self._lose()
            rate = float(self.session.value(self.optimizer.learning_rate))
            when = "step" if steps == 1 else f"{steps} steps"
            raise NonFiniteError(
                f"the loss of the replica on {unhealthy[0]} became NaN or infinite in the last "
                f"{when}; the weights were not updated.",
                hint=not_finite_hint(rate),
                code="not-finite",
                values={"step": self.done + 1, "rate": rate},
            )

    def _lose(self) -> None:
        """Note that a loss was not finite; wait before the error if an observer pauses."""
        self.state.lost = True
        if self.observers.lost(self):
            self.watch.pause()
            self.watch.attend()

    def _count(self, rows: Array, report: Callable[[Array, Array], None] | None = None) -> None:
        """Add finished steps to their epochs, and ``report`` them by epoch."""
        while len(rows):
            # A chunk can span the ends of epochs.
            length = None if self.step.follows_epochs else self.steps_per_epoch
            left = len(rows) if length is None else length - self.done % length
            part, rows = rows[:left], rows[left:]
            samples = self.step.samples_of(self.done, len(part))
            self.done += len(part)
            self.epoch_rows.append(part)
            self.epoch_samples.append(samples)
            if report is not None:
                report(part, samples)
            epoch_ends = (length is not None and self.done % length == 0) or self.done == self.total
            if self.chunks_span_epochs and epoch_ends:
                self._end_epoch()

    def _report(self, rows: Array, samples: Array) -> None:
        """Report finished steps, all of one epoch, to callbacks and hooks.

        Args:
            samples: their numbers of samples.
        """
        self.progress.steps(self.done, rows)
        columns = dict(zip(self.step.names, map(float, rows[-1]), strict=True))
        logs = self.recipe.objectives.logs(columns, int(samples[-1]))
        for callback in self.in_order:
            callback.on_steps_end(self.done, logs)
        if self.batches:
            self.batches.end(self.done - len(rows) - self.epoch_start, rows, samples)

    def show_rest(self, rows: Array) -> None:
        """Show steps whose losses a stop kept from being read, as the checkpoint has them."""
        if len(rows) and not self._has_shown_rest:
            self._has_shown_rest = True
            self.progress.steps(self.done + len(rows), rows)

    def _end_epoch(self) -> None:
        self.logs = self._epoch_logs()
        self.epoch_rows, self.epoch_samples = [], []
        self.history.add_epoch(self.progress.epoch - 1, self.logs)
        self.progress.epoch_end(self.done, self.logs)
        self.epoch_ends.append(self.done)
        self.progress.epoch += 1
        self.watch.epoch_ended()

    def _epoch_logs(self) -> dict[str, float]:
        """Return the means over the samples of the epoch by name, with the validation logs."""
        samples = np.concatenate(self.epoch_samples)
        rows = np.concatenate(self.epoch_rows)
        means = np.average(rows.astype(np.float64), axis=0, weights=samples)
        logs = self.recipe.objectives.logs(
            dict(zip(self.step.names, map(float, means), strict=True)), int(samples.sum())
        )
        if self.test is not None:
            for callback in self.callbacks:
                callback.on_test_begin({})
            columns = self.test.run(self.watch)
            test_means = self.recipe.objectives.logs(columns, self.test.samples)
            for callback in self.callbacks:
                callback.on_test_end(test_means)
            logs.update({f"val_{name}": value for name, value in test_means.items()})
        return logs
