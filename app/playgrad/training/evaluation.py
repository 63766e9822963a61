"""Evaluation: exact means of loss and metrics over a data set."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

from playgrad.errors import DataError
from playgrad.training.batch_source import BatchSource, check_rounds, is_stream
from playgrad.training.chunk_loop import ChunkSizer, Watch, run_steps
from playgrad.training.data_checks import check_count
from playgrad.training.prepare_data import prepare_data
from playgrad.training.recipe import Recipe
from playgrad.training.recovery import recover
from playgrad.training.sample_weights import Samples, sample_weights
from playgrad.training.step_graphs import build_eval_step
from playgrad.training.steps import EvalStep
from playgrad.training.streamed_evaluation import sample_windows

EVALUATION_BATCH = 200
"""Samples of an evaluation step: large enough for few dispatches, small enough to be short."""


class Evaluation(Protocol):
    """An evaluation that can be repeated, such as after each epoch.

    Attributes:
        samples: the number of samples; of streamed ones, that of the last run.
    """

    samples: int

    def run(self, watch: Watch) -> dict[str, float]:
        """Return the means of the columns by name."""
        ...


class ArrayEvaluation:
    """The evaluation of samples that are uploaded once."""

    def __init__(self, recipe: Recipe, samples: Samples, batch_size: int = EVALUATION_BATCH):
        data = recipe.data.upload("test", samples.xs, samples.ys, samples.weights)
        self.samples = data.count
        self.step = build_eval_step(recipe, data, min(batch_size, data.count))
        self.sizer = ChunkSizer(self.step.steps)

    def run(self, watch: Watch) -> dict[str, float]:
        return run_evaluation(watch, self.sizer, self.step)


class StreamedEvaluation:
    """The evaluation of streamed batches, a window of samples at a time.

    Args:
        steps: the number of batches; None for one round.
    """

    def __init__(self, recipe: Recipe, source: BatchSource, steps: int | None) -> None:
        self.recipe = recipe
        self.source = source
        self.steps = steps
        self.samples = 0

    def run(self, watch: Watch) -> dict[str, float]:
        sums: dict[str, float] = {}
        count = 0
        try:
            self.source.close()
            self.source.seek(0, 0)
            for role, samples in sample_windows(self.recipe, self.source, self.steps):
                data = self.recipe.data.upload(role, samples.xs, samples.ys, samples.weights)
                step = build_eval_step(self.recipe, data, min(EVALUATION_BATCH, data.count))
                means = run_evaluation(watch, ChunkSizer(step.steps), step)
                for name, mean in means.items():
                    sums[name] = sums.get(name, 0.0) + mean * data.count
                count += data.count
        finally:
            self.source.close()
        if not count:
            raise DataError(f"{self.source.name} is empty.")
        self.samples = count
        return {name: total / count for name, total in sums.items()}


def evaluate(
    recipe: Recipe,
    x: Any,
    y: Any,
    batch_size: int | None,
    sample_weight: Any = None,
    steps: int | None = None,
) -> dict[str, float]:
    """Return the means of loss and metrics by name; see ``Model.evaluate``."""
    if steps is not None:
        check_count(steps, "steps")
    evaluation: Evaluation
    if is_stream(x):
        no_arguments_for_streams(y=y, batch_size=batch_size, sample_weight=sample_weight)
        source = BatchSource(x, "the data set")
        check_rounds(source, steps, 1, "steps")
        evaluation = StreamedEvaluation(recipe, source, steps)
        recover(recipe)
        recipe.network.session.reopen()
    else:
        size = check_count(EVALUATION_BATCH if batch_size is None else batch_size, "batch_size")
        if steps is not None:
            raise DataError("steps is for data sets; arrays are evaluated whole.")
        xs, ys = prepare_data(recipe, x, y, "")
        samples = Samples(xs, ys, sample_weights(ys, None, sample_weight))
        recover(recipe)
        recipe.network.session.reopen()
        evaluation = ArrayEvaluation(recipe, samples, size)
    watch = Watch(recipe.network.session, None)
    with watch.over_session():
        means = evaluation.run(watch)
        return recipe.objectives.logs(means, evaluation.samples)


def no_arguments_for_streams(**arguments: Any) -> None:
    """Raise DataError if one of ``arguments``, which batches bring themselves, is set."""
    for name, value in arguments.items():
        if value is not None:
            raise DataError(
                f"{name} cannot be set for a data set that yields batches: they come as they are.",
                hint=_HINTS.get(name),
            )


_HINTS = {
    "y": "Let it yield pairs (x, y).",
    "batch_size": "Use batch(batch_size) of the Dataset.",
    "sample_weight": "Let it yield (x, y, sample_weight).",
    "validation_split": "Use take and skip of the Dataset.",
    "drop_remainder": "Use batch(batch_size, drop_remainder=True) of the Dataset.",
    "seed": "Use shuffle(buffer_size, seed) of the Dataset.",
}


def run_evaluation(watch: Watch, sizer: ChunkSizer, step: EvalStep) -> dict[str, float]:
    """Return the means of the columns over the whole data set of ``step``."""
    session = watch.session
    for part in step.parts:
        part.rewind(session)
        repeat = partial(session.repeat, part.run)
        run_steps(watch, sizer, repeat, part.steps, lambda _: None, training=False)
    return step.means(session)
