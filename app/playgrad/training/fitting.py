"""Training: checks, data, the step, then the training loop."""

from __future__ import annotations

from typing import Any

from playgrad.errors import DeviceLostError
from playgrad.graph.source import user_source
from playgrad.runtime.hooks import get_hooks
from playgrad.training.batch_source import is_stream
from playgrad.training.callbacks import History, TrainedModel
from playgrad.training.checkpoints.fit_record import record_after_loss
from playgrad.training.checkpoints.length import Length
from playgrad.training.checkpoints.record import FitRecord
from playgrad.training.checkpoints.resume import resume
from playgrad.training.excerpt import to_keep
from playgrad.training.expected_seconds import arithmetic_seconds, expected_seconds
from playgrad.training.fit_settings import Settings
from playgrad.training.recipe import Recipe
from playgrad.training.recovery import recover, recovering
from playgrad.training.state import TrainingState
from playgrad.training.training_data import ArrayData, StreamedData
from playgrad.training.training_loop import TrainingLoop


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
    get_hooks().before_training()
    settings = settings.overridden()
    settings.check()
    data = (StreamedData if is_stream(x) else ArrayData)(recipe, x, y, settings)
    validation = data.validation(settings)
    recipe.optimizer.prepare(recipe.network.graph)
    batch = data.batch(settings)
    steps = Length.of(settings, data.steps_per_epoch(settings, batch)).steps
    network = recipe.network
    network.open_session(
        expected_seconds(network, steps, batch), arithmetic_seconds(network, batch)
    )
    recover(recipe)
    undone: FitRecord | None = None
    is_rest = False
    while True:
        recipe.network.session.reopen()
        loop: TrainingLoop | None = None
        try:
            with recovering(recipe):
                step = data.build(settings)
            try:
                state.input = data.input
                has_outputs = bool(recipe.network.outputs)
                excerpts = (data.train, data.test) if has_outputs else (None, None)
                state.train, state.test = to_keep(*excerpts)
                state.graph = data.graph if has_outputs else None
                state.source, state.lost = user_source(), False
                with recovering(recipe):
                    test = None if validation is None else validation()
                    facts, length = data.facts(step), data.steps_per_epoch(settings, step.batch)
                    begun = TrainingLoop(
                        recipe, state, step, test, facts, length, model, settings, undone, is_rest
                    )
                    if settings.resume and not is_rest:
                        begun.undone = resume(begun)
                loop = begun
                return loop.run()
            except BaseException:
                step.finish()  # replicas have threads of their own, even if training did not begin
                raise
        except DeviceLostError as error:
            if not get_hooks().continues(error):
                raise
            if loop is not None:
                undone, is_rest = record_after_loss(loop), True
