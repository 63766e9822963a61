"""What ``Model.fit``, ``evaluate``, ``predict`` and ``train_on_batch`` do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from playgrad.errors import DataError, NonFiniteError
from playgrad.graph.tensor import Tensor
from playgrad.nn import arrays as checks
from playgrad.nn.callbacks import Callback, History
from playgrad.nn.loop import Pace, Watch, run_steps
from playgrad.nn.progress import Progress
from playgrad.nn.resident import Resident, make_resident
from playgrad.nn.scopes import at_top
from playgrad.nn.steps import HISTORY_ROWS, EvalStep, TrainStep, build_eval_step, build_train_step
from playgrad.ops.elementwise import is_finite
from playgrad.ops.reduce import reduce_mean
from playgrad.ops.state import placeholder
from playgrad.runtime.options import get_options

if TYPE_CHECKING:
    from playgrad.nn.model import Model

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
        """Raise DataError for numbers that are none, and for validation data that is no pair."""
        for name in ("batch_size", "epochs", "steps"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, (int, np.integer)) or value < 1):
                raise DataError(f"{name} must be a whole number of at least 1, not {value!r}.")
        pair = self.validation_data
        if pair is not None and not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise DataError("validation_data must be a pair (x, y).")


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
    data = make_resident(model, "train", xs, ys)
    model.input_maximum = max(float(array.max()) for array in xs)
    batch = min(settings.batch_size, data.count)
    step = build_train_step(model, data, batch, settings.shuffle, settings.seed)
    test = None
    if validation is not None:
        held_out = make_resident(model, "test", *validation)
        test = build_eval_step(model, held_out, min(EVALUATION_BATCH, held_out.count))
    return _Training(model, settings, data, batch, step, test).run()


class _Training:
    """One ``fit`` under way."""

    def __init__(
        self,
        model: Model,
        settings: Settings,
        data: Resident,
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
        self.pace = Pace(HISTORY_ROWS)
        self.test_pace = Pace(test.steps if test else 1)
        self.watch = Watch(self.session, self.optimizer)
        self.history = History(step.names)
        self.epoch_rows: list[Array] = []
        self.progress = Progress(self.watch, step.names, self.total, settings.verbose)
        self.batch = batch

    def run(self) -> History:
        self.model.history = self.history
        self.model.stop_training = False
        self.model.training_step = self.step.run
        dispatches = self.session.dispatches(self.step.run)  # and compiles it
        self.watch.hooks.fitting(self.model)
        self.progress.begin(
            epochs=self.epochs,
            steps_per_epoch=self.steps_per_epoch,
            batch_size=self.batch,
            device=self.session.device,
            adapter=self.session.adapter,
            parameters=self.model.count_params(),
        )
        reason = "failed"
        try:
            with self.watch.over_session():
                self._epochs()
            reason = "completed"
        except KeyboardInterrupt:
            reason = "stopped"
            raise
        finally:
            self.history.seconds = self.progress.seconds
            self.progress.end(reason, self.done, dispatches)
        return self.history

    def _epochs(self) -> None:
        for callback in self.callbacks:
            callback.set_model(self.model)
            callback.on_train_begin({})
        logs: dict[str, float] = {}
        for epoch in range(self.epochs):
            for callback in self.callbacks:
                callback.on_epoch_begin(epoch, {})
            self.epoch_rows = []
            end = min((epoch + 1) * self.steps_per_epoch, self.total)
            self.progress.epoch = epoch + 1
            self._steps(end - self.done)
            logs = self._epoch_logs()
            self.history.add_epoch(epoch, logs)
            self.progress.epoch_end(self.done, logs)
            for callback in self.callbacks:
                callback.on_epoch_end(epoch, logs)
            if self.model.stop_training:
                break
        for callback in self.callbacks:
            callback.on_train_end(logs)

    def _collect(self, steps: int) -> None:
        """Read what the device noted of the last steps."""
        recorder = self.step.recorder
        healthy, iterations, *arrays = self.session.run(
            [self.step.healthy, self.optimizer.iterations, *recorder.variables]
        )
        last = int(iterations)
        before = self.first + self.done
        if last > before:
            rows = recorder.take(arrays, before, last)
            self.done = last - self.first
            self.history.add_steps(rows)
            self.epoch_rows.append(rows)
            self.progress.steps(self.done, rows)
            logs = dict(zip(self.step.names, map(float, rows[-1]), strict=True))
            for callback in self.callbacks:
                callback.on_steps_end(self.done, logs)
        if not healthy:
            value = recorder.take(arrays, last, last + 1)[0, 0]
            self.session.assign({self.step.healthy: np.bool_(True)})
            rate = float(self.session.value(self.optimizer.learning_rate))
            raise _not_finite(float(value), self.done + 1, rate)

    def _epoch_logs(self) -> dict[str, float]:
        rows = np.concatenate(self.epoch_rows)
        means = rows.mean(axis=0, dtype=np.float64)
        logs = dict(zip(self.step.names, map(float, means), strict=True))
        if self.test is not None:
            means_of_test = run_evaluation(self.watch, self.test_pace, self.test)
            logs.update({f"val_{name}": value for name, value in means_of_test.items()})
        return logs

    def _steps(self, steps: int) -> None:
        """Run ``steps`` steps; with tracing on, the very last one of all is traced."""
        trace = get_options().trace
        before = self.progress.seconds
        last_of_all = self.done + steps == self.total and trace is not None
        run_steps(
            self.watch,
            self.pace,
            self.step.run,
            steps - last_of_all,
            self._collect,
            training=True,
        )
        if last_of_all:
            self.session.run(self.step.run, trace=trace)
            self._collect(1)
        self.history.train_seconds += self.progress.seconds - before


def _not_finite(value: float, step: int, rate: float) -> NonFiniteError:
    kind = "NaN" if math.isnan(value) else "infinite"
    return NonFiniteError(
        f"the loss became {kind} at step {step}; the weights are as they were before it.",
        hint=f"Lower the learning rate (it is {rate:g}), or scale the data to about -1 to 1.",
    )


def run_evaluation(watch: Watch, pace: Pace, step: EvalStep) -> dict[str, float]:
    """Means of loss and metrics over the whole data set of ``step``."""
    step.rewind(watch.session)
    run_steps(watch, pace, step.run, step.steps, lambda _: None, training=False)
    return step.means(watch.session)


def evaluate(model: Model, x: Any, y: Any, batch_size: int | None) -> dict[str, float]:
    """Means by name; see ``Model.evaluate``."""
    xs, ys = prepare(model, x, y, "")
    data = make_resident(model, "test", xs, ys)
    batch = min(batch_size or EVALUATION_BATCH, data.count)
    if batch < 1:
        raise DataError(f"batch_size must be at least 1, not {batch_size}.")
    step = build_eval_step(model, data, batch)
    watch = Watch(model.session, None)
    with watch.over_session():
        return run_evaluation(watch, Pace(step.steps), step)


def prepare(model: Model, x: Any, y: Any, role: str) -> tuple[list[Array], list[Array]]:
    """Inputs and targets, checked against the model, which is built for them if need be.

    Raises:
        DataError, ShapeError, DTypeError: they cannot be used; nothing has changed.
    """
    xs = prepare_inputs(model, x, f"{role}x")
    ys = checks.as_arrays(y, len(model.outputs), f"{role}y")
    checks.check_lengths([*xs, *ys], f"{role}x and {role}y")
    _, heads = model.compiled()
    return xs, heads.targets(ys, model.outputs, f"{role}y")


def prepare_inputs(model: Model, x: Any, what: str) -> list[Array]:
    """Inputs, checked against the model, which is built for them if need be."""
    count = len(model.inputs) if model.built else 1
    xs = checks.as_arrays(x, count, what)
    model.ensure_built(xs)
    checks.check_lengths(xs, f"the arrays of {what}")
    for i, (array, tensor) in enumerate(zip(xs, model.inputs, strict=True)):
        name = what if len(xs) == 1 else f"{what}[{i}]"
        checks.check_samples(array, tensor.spec, name, model.layers[0].name or "input")
    return xs


def predict(model: Model, x: Any, batch_size: int) -> Any:
    """Outputs as arrays; see ``Model.predict``."""
    xs = prepare_inputs(model, x, "x")
    count = len(xs[0])
    parts: list[list[Array]] = []
    for start in range(0, count, batch_size):
        feeds = {}
        for tensor, array in zip(model.inputs, xs, strict=True):
            piece = array[start : start + batch_size].astype(tensor.dtype)
            short = min(batch_size, count) - len(piece)
            # A last part of another size would be compiled for itself: filled up instead.
            feeds[tensor] = np.concatenate([piece, np.repeat(piece[-1:], short, axis=0)])
        results = model.session.run(list(model.outputs), feeds)
        parts.append([result[: count - start] for result in results])
    outputs = [np.concatenate(pieces) for pieces in zip(*parts, strict=True)]
    return outputs[0] if len(outputs) == 1 else outputs


def train_on_batch(model: Model, x: Any, y: Any) -> dict[str, float]:
    """One update; see ``Model.train_on_batch``."""
    xs, ys = prepare(model, x, y, "")
    feeds, columns, update, gate = _batch_step(model, xs, ys)
    values = model.session.run([*columns, gate, update], dict(zip(feeds, (*xs, *ys), strict=True)))
    if not values[len(columns)]:
        optimizer, _ = model.compiled()
        rate = float(model.session.value(optimizer.learning_rate))
        raise _not_finite(float(values[0]), 1, rate)
    names = model.compiled()[1].names(model.output_names)
    return {name: float(value) for name, value in zip(names, values, strict=False)}


def _batch_step(model: Model, xs: Sequence[Array], ys: Sequence[Array]) -> Any:
    """Placeholders, loss and metrics, update and gate, made once for arrays of such types."""
    key = ("batch", *(array.dtype.name for array in (*xs, *ys)))
    if key in model.cache:
        return model.cache[key]
    optimizer, heads = model.compiled()
    graph = model.graph
    with at_top(graph), graph.name_scope("batch") as scope:
        x_in = [placeholder(x.dtype.name, (None, *x.shape[1:]), "x") for x in xs]
        y_in = [placeholder(y.dtype.name, (None, *y.shape[1:]), "y") for y in ys]
        per_sample = heads.per_sample(y_in, model.apply(x_in, training=True))
        columns: list[Tensor] = [reduce_mean(values) for values in per_sample]
    with at_top(graph), graph.reenter_scope(scope):
        gate = is_finite(columns[0])
        update = optimizer.minimize(columns[0], model.trainable_variables, gate)
    model.cache[key] = ([*x_in, *y_in], columns, update, gate)
    return model.cache[key]
