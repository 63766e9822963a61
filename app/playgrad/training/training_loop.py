"""The training loop: epochs of chunks of steps, with callbacks and events between them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from playgrad.errors import NonFiniteError
from playgrad.runtime.options import get_options
from playgrad.training.batch_api import not_finite_error
from playgrad.training.callbacks import Callback, History, TrainedModel
from playgrad.training.chunk_loop import ChunkSizer, Watch, run_steps
from playgrad.training.evaluation import run_evaluation
from playgrad.training.progress import TrainingProgress
from playgrad.training.recipe import Recipe
from playgrad.training.state import TrainingState
from playgrad.training.step_graphs import HISTORY_ROWS
from playgrad.training.steps import EvalStep, TrainStep

Array = np.ndarray[Any, Any]


class TrainingLoop:
    """One ``fit``.

    Args:
        test: evaluates the validation data after each epoch.
        model: is passed to callbacks and hooks.
    """

    def __init__(
        self,
        recipe: Recipe,
        state: TrainingState,
        step: TrainStep,
        test: EvalStep | None,
        steps_per_epoch: int,
        model: TrainedModel,
    ) -> None:
        self.recipe = recipe
        self.state = state
        self.step = step
        self.test = test
        self.steps_per_epoch = steps_per_epoch
        self.model = model
        self.session = recipe.network.session
        self.optimizer = recipe.optimizer
        self.first = int(self.session.value(self.optimizer.iterations))
        self.done = 0
        self.sizer = ChunkSizer(HISTORY_ROWS)
        self.test_sizer = ChunkSizer(test.steps if test else 1)
        self.watch = Watch(self.session, self.optimizer)
        self.history = History(step.names)
        self.epoch_rows: list[Array] = []
        self.logs: dict[str, float] = {}

    def run(
        self, epochs: int, steps: int | None, callbacks: Sequence[Callback], verbose: int
    ) -> History:
        """Train for ``epochs``, or for exactly ``steps`` steps."""
        self.total = steps or epochs * self.steps_per_epoch
        self.epochs = epochs if steps is None else -(-steps // self.steps_per_epoch)
        self.callbacks = callbacks
        # If nothing looks at the model between epochs, chunks need not end with them: with little
        # data they would be very short.
        self.chunks_span_epochs = not (callbacks or self.test or self.step.synchronizes)
        self.progress = TrainingProgress(self.watch, self.step.names, self.total, verbose)
        state, network = self.state, self.recipe.network
        state.history, state.step, state.stop = self.history, self.step, False
        self.watch.hooks.fitting(self.model)
        self.progress.begin(
            epochs=self.epochs,
            steps_per_epoch=self.steps_per_epoch,
            batch_size=self.step.batch,
            device=self.session.device,
            adapter=self.session.adapter,
            parameters=network.count_params(),
        )
        reason, dispatches = "failed", 0
        try:
            # Compiles the step, which takes seconds with a slow adapter.
            dispatches = self.session.dispatches(self.step.run)
            with self.watch.over_session():
                self._train()
            reason = "completed"
        except KeyboardInterrupt:
            reason = "stopped"
            raise
        finally:
            self.history.parallel = self.step.finish()
            self.history.seconds = self.progress.seconds
            self.progress.end(reason, self.done, dispatches, self.history.parallel)
        return self.history

    def _train(self) -> None:
        for callback in self.callbacks:
            callback.set_model(self.model)
            callback.on_train_begin({})
        if self.chunks_span_epochs:
            self._run_steps(self.total)
        else:
            self._run_epochs()
        for callback in self.callbacks:
            callback.on_train_end(self.logs)

    def _run_epochs(self) -> None:
        for epoch in range(self.epochs):
            for callback in self.callbacks:
                callback.on_epoch_begin(epoch, {})
            end = min((epoch + 1) * self.steps_per_epoch, self.total)
            self._run_steps(end - self.done)
            self.step.synchronize(self.session)
            self._end_epoch()
            for callback in self.callbacks:
                callback.on_epoch_end(epoch, self.logs)
            if self.state.stop:
                break

    def _run_steps(self, steps: int) -> None:
        """Run ``steps`` steps.

        With the option ``trace``, the last steps of the training are traced: as many as a trace
        needs to show everything, or one.
        """
        trace = get_options().trace
        before = self.progress.seconds
        traced = 0
        if trace is not None and self.done + steps == self.total:
            traced = self.step.trace_length if self.step.trace_length <= steps else 1
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
            while len(rows):
                # A chunk can span the ends of epochs.
                left = self.steps_per_epoch - self.done % self.steps_per_epoch
                self._report(rows[:left])
                rows = rows[left:]
        if not healthy:
            value = recorder.take(arrays, last, last + 1)[0, 0]
            self.session.assign({self.step.healthy: np.bool_(True)})
            rate = float(self.session.value(self.optimizer.learning_rate))
            raise not_finite_error(float(value), self.done + 1, rate)
        unhealthy = [device for device, flag in healthy_replicas.items() if not flag]
        if unhealthy:
            self.session.assign({flags[device]: np.bool_(True) for device in unhealthy})
            when = "step" if steps == 1 else f"{steps} steps"
            raise NonFiniteError(
                f"the loss of the replica on {unhealthy[0]} became NaN or infinite in the last "
                f"{when}; the weights were not updated.",
                hint="Lower the learning rate, or scale the data to about -1 to 1.",
            )

    def _report(self, rows: Array) -> None:
        """Report finished steps, all of one epoch, to callbacks and hooks."""
        self.done += len(rows)
        self.epoch_rows.append(rows)
        self.progress.steps(self.done, rows)
        logs = dict(zip(self.step.names, map(float, rows[-1]), strict=True))
        for callback in self.callbacks:
            callback.on_steps_end(self.done, logs)
        epoch_ends = self.done % self.steps_per_epoch == 0 or self.done == self.total
        if self.chunks_span_epochs and epoch_ends:
            self._end_epoch()

    def _end_epoch(self) -> None:
        self.logs = self._epoch_logs()
        self.epoch_rows = []
        self.history.add_epoch(self.progress.epoch - 1, self.logs)
        self.progress.epoch_end(self.done, self.logs)
        self.progress.epoch += 1

    def _epoch_logs(self) -> dict[str, float]:
        """Return the means of the epoch by name, with those of the validation data."""
        means = np.concatenate(self.epoch_rows).mean(axis=0, dtype=np.float64)
        logs = dict(zip(self.step.names, map(float, means), strict=True))
        if self.test is not None:
            test_means = run_evaluation(self.watch, self.test_sizer, self.test)
            logs.update({f"val_{name}": value for name, value in test_means.items()})
        return logs
