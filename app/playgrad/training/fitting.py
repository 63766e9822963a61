"""Training from arrays: checks, data on the device, the step, then the training loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from playgrad.errors import DataError, DeviceLostError, GraphError
from playgrad.graph.tensor import Node
from playgrad.runtime.hooks import get_hooks
from playgrad.runtime.options import SINGLE, get_options
from playgrad.training.callbacks import Callback, History, TrainedModel
from playgrad.training.checkpoint import FitRecord
from playgrad.training.data_checks import check_count
from playgrad.training.device_data import BatchStream
from playgrad.training.evaluation import EVALUATION_BATCH
from playgrad.training.memory_needs import check_training_memory
from playgrad.training.prepare_data import prepare_data
from playgrad.training.recipe import Recipe
from playgrad.training.recovery import recover, recovering
from playgrad.training.sample_weights import Samples, check_validation_split, sample_weights
from playgrad.training.state import TrainingState
from playgrad.training.step_graphs import build_eval_step, build_train_step
from playgrad.training.steps import EvalStep, TrainStep
from playgrad.training.training_loop import TrainingLoop
from playgrad.training.variable_placement import place_variables

BATCH = 32
"""Samples of a batch if the user names no number."""


@dataclass(frozen=True)
class Settings:
    """The arguments of ``fit``.

    Attributes:
        steps: exactly this many steps, whatever ``epochs`` says.
    """

    batch_size: int
    epochs: int
    verbose: int
    callbacks: tuple[Callback, ...]
    validation_data: tuple[Any, ...] | None
    shuffle: bool
    seed: int | None
    validation_split: float = 0.0
    class_weight: Mapping[int, float] | None = None
    sample_weight: Any = None
    steps: int | None = None

    def overridden(self) -> Settings:
        """Return the settings with the overrides of the host's options."""
        options = get_options()
        names = ("batch_size", "epochs", "verbose", "steps")
        overrides = {name: getattr(options, name) for name in names}
        return replace(self, **{name: v for name, v in overrides.items() if v is not None})

    def check(self) -> None:
        """Check what can be checked without the model.

        Raises:
            DataError: a number is not a whole number of at least 1, the validation data is not a
                pair, or there are two kinds of it.
            GraphError: a callback is not a `Callback`.
        """
        for name in ("batch_size", "epochs", "steps"):
            value = getattr(self, name)
            if value is not None:
                check_count(value, name)
        parts = self.validation_data
        if parts is not None and not (isinstance(parts, (tuple, list)) and len(parts) in (2, 3)):
            raise DataError("validation_data must be a pair (x, y), or (x, y, sample_weight).")
        check_validation_split(self.validation_split, parts is not None)
        for callback in self.callbacks:
            if not isinstance(callback, Callback):
                raise GraphError(f"not a Callback: {callback!r:.60}.")


def fit(
    recipe: Recipe,
    state: TrainingState,
    x: Any,
    y: Any,
    settings: Settings,
    model: TrainedModel,
) -> History:
    """Train the network of ``recipe``; see ``Model.fit``.

    Args:
        state: takes on the state of this training.
        model: is passed to callbacks and hooks.
    """
    settings = settings.overridden()
    settings.check()
    xs, ys = prepare_data(recipe, x, y, "")
    weights = sample_weights(ys, settings.class_weight, settings.sample_weight)
    samples, validation = Samples(xs, ys, weights), None
    if settings.validation_split:
        samples, validation = samples.split(settings.validation_split)
    elif settings.validation_data is not None:
        x, y, *weight = settings.validation_data
        xs, ys = prepare_data(recipe, x, y, "validation ")
        what = "the sample_weight of validation_data"
        validation = Samples(xs, ys, sample_weights(ys, None, weight[0] if weight else None, what))
    recipe.optimizer.prepare(recipe.network.graph)
    recover(recipe)
    undone: FitRecord | None = None
    while True:
        recipe.network.session.reopen()
        loop: TrainingLoop | None = None
        try:
            with recovering(recipe):
                step = _train_step(recipe, samples, settings)
            try:
                state.input_maximum = max(float(array.max()) for array in samples.xs)
                with recovering(recipe):
                    test = None if validation is None else _eval_step(recipe, validation)
                    loop = TrainingLoop(recipe, state, step, test, samples.count, model, undone)
                return loop.run(
                    settings.epochs, settings.steps, settings.callbacks, settings.verbose
                )
            except BaseException:
                step.finish()  # replicas have threads of their own, even if training did not begin
                raise
        except DeviceLostError as error:
            if not get_hooks().goes_on(error):
                raise
            undone = undone if loop is None else loop.record_after_loss()


def _train_step(recipe: Recipe, samples: Samples, settings: Settings) -> TrainStep:
    """Upload the data and build the training step."""
    session = recipe.network.session
    batch, arrays = min(settings.batch_size, samples.count), samples.arrays
    check_training_memory(recipe.network, recipe.optimizer, arrays, batch, session.device)
    data = recipe.data.declare("train", samples.xs, samples.ys, samples.weights)
    stream = BatchStream(data, batch, settings.shuffle, settings.seed)
    options = get_options()
    placement = options.placement or (None if options.strategy == SINGLE else recipe.placement)
    strategy = options.strategy or (None if placement else recipe.strategy)
    if strategy is None or strategy == SINGLE:
        place_variables(recipe.network, placement=placement)
        step = build_train_step(recipe, stream)
        first_use: Node | None = step.run if placement is None else None
        data.upload(session, arrays, first_use)
        if placement is not None:
            session.compiled([step.run])  # hooks learn of the training once it is placed
    else:
        data.upload(session, arrays)
        step = strategy.build(recipe, stream)
    return step


def _eval_step(recipe: Recipe, samples: Samples) -> EvalStep:
    """Upload the validation data and build the evaluation step."""
    data = recipe.data.upload("test", samples.xs, samples.ys, samples.weights)
    return build_eval_step(recipe, data, min(EVALUATION_BATCH, data.count))
