"""Evaluation: exact means of loss and metrics over a data set."""

from __future__ import annotations

from functools import partial
from typing import Any

from playgrad.training.chunk_loop import ChunkSizer, Watch, run_steps
from playgrad.training.data_checks import check_count
from playgrad.training.prepare_data import prepare_data
from playgrad.training.recipe import Recipe
from playgrad.training.recovery import recover
from playgrad.training.sample_weights import sample_weights
from playgrad.training.step_graphs import build_eval_step
from playgrad.training.steps import EvalStep

EVALUATION_BATCH = 200
"""Samples of an evaluation step: large enough for few dispatches, small enough to be short."""


def evaluate(
    recipe: Recipe, x: Any, y: Any, batch_size: int | None, sample_weight: Any = None
) -> dict[str, float]:
    """Return the means of loss and metrics by name; see ``Model.evaluate``."""
    size = check_count(EVALUATION_BATCH if batch_size is None else batch_size, "batch_size")
    xs, ys = prepare_data(recipe, x, y, "")
    weights = sample_weights(ys, None, sample_weight)
    recover(recipe)
    recipe.network.session.reopen()
    data = recipe.data.upload("test", xs, ys, weights)
    step = build_eval_step(recipe, data, min(size, data.count))
    watch = Watch(recipe.network.session, None)
    with watch.over_session():
        return recipe.objectives.logs(run_evaluation(watch, ChunkSizer(step.steps), step))


def run_evaluation(watch: Watch, sizer: ChunkSizer, step: EvalStep) -> dict[str, float]:
    """Return the means of the columns over the whole data set of ``step``."""
    session = watch.session
    step.rewind(session)
    repeat = partial(session.repeat, step.run)
    run_steps(watch, sizer, repeat, step.steps, lambda _: None, training=False)
    return step.means(session)
