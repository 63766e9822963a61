"""The data of a `fit`: arrays that are uploaded once, or batches that are streamed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from playgrad.data.input_description import InputDescription, describe_input
from playgrad.data.table_facts import facts_of
from playgrad.errors import DataError
from playgrad.graph.source import warn_user
from playgrad.graph.tensor import Node
from playgrad.training.batch_source import BatchSource, check_rounds, is_stream, known_length
from playgrad.training.checkpoints.record import LAST_BATCH
from playgrad.training.device_data import BatchStream
from playgrad.training.evaluation import (
    ArrayEvaluation,
    Evaluation,
    StreamedEvaluation,
    no_arguments_for_streams,
)
from playgrad.training.excerpt import Excerpt, GraphExcerpt, excerpt, graph_excerpt
from playgrad.training.fit_settings import BATCH, Settings
from playgrad.training.memory_needs import check_training_memory
from playgrad.training.own_step import with_targets
from playgrad.training.prepare_data import prepare_data
from playgrad.training.recipe import Recipe
from playgrad.training.round_step import with_last
from playgrad.training.sample_weights import Samples, sample_weights
from playgrad.training.step_graphs import build_train_step
from playgrad.training.steps import TrainStep
from playgrad.training.streamed_step import Windows, build_streamed_step
from playgrad.training.variable_placement import place_variables

TYPICAL_SAMPLES = 1000
"""Enough to tell the range of the inputs. Reading all of MNIST takes a tenth of a second."""
_FILLED = (
    "with this strategy, the last batch of an epoch, which has {rest:,} samples, is filled with "
    "samples of the next one. Choose another batch_size, or drop_remainder=True."
)


class TrainingData(ABC):
    """The data of one `fit`, which has been checked.

    Attributes:
        input: the description of the first samples, or of the first batch if the data is streamed;
            None if they cannot be pictures.
        train, test: some of the samples, also of the first batch if the data is streamed; None if
            there are none, or if the model has several inputs or outputs.
        graph: the only sample, if it may be a graph; else None.
    """

    recipe: Recipe
    input: InputDescription | None
    train: Excerpt | None = None
    test: Excerpt | None = None
    graph: GraphExcerpt | None = None

    @abstractmethod
    def build(self, settings: Settings) -> TrainStep:
        """Bring the data to the device, and return the training step over it."""

    @abstractmethod
    def facts(self, step: TrainStep) -> dict[str, int]:
        """Return what a resumed training must have in common with this one."""

    @abstractmethod
    def batch(self, settings: Settings) -> int:
        """Return the samples of a batch."""

    @abstractmethod
    def steps_per_epoch(self, settings: Settings, batch: int) -> int | None:
        """Return the steps of an epoch; None if only reading the data tells."""

    def validation(self, settings: Settings) -> Callable[[], Evaluation] | None:
        """Check the validation data; return a function that brings it to the device."""
        recipe, parts = self.recipe, settings.validation_data
        if parts is None:
            return None
        if is_stream(parts):
            source, steps = BatchSource(parts, "validation_data"), settings.validation_steps
            check_rounds(source, steps, settings.rounds, "validation_steps")
            return lambda: StreamedEvaluation(recipe, source, steps)
        x, y, *weight = parts
        xs, ys = prepare_data(recipe, x, y, "validation ")
        what = "the sample_weight of validation_data"
        weights = sample_weights(ys, None, weight[0] if weight else None, what)
        samples = Samples(xs, ys, weights)
        self.test = excerpt(samples)

        def evaluation() -> Evaluation:
            with with_targets(recipe.network):
                return ArrayEvaluation(recipe, samples)

        return evaluation


class ArrayData(TrainingData):
    """Arrays, which are uploaded once."""

    def __init__(self, recipe: Recipe, x: Any, y: Any, settings: Settings) -> None:
        if y is None:
            raise DataError(
                "fit needs targets.", hint="Pass x and y, or a Dataset of batches (x, y)."
            )
        xs, ys = prepare_data(recipe, x, y, "")
        weights = sample_weights(ys, settings.class_weight, settings.sample_weight)
        self.recipe = recipe
        self.samples = Samples(xs, ys, weights)
        self.last_batch: int | None = None  # of a round, if none is filled from the next round
        self.split: Samples | None = None
        if settings.validation_split:
            self.samples, self.split = self.samples.split(settings.validation_split)
            self.test = excerpt(self.split)
        self.train = excerpt(self.samples)
        self.graph = graph_excerpt(self.samples)
        self.input = describe_input([array[:TYPICAL_SAMPLES] for array in xs], facts_of(x))

    def validation(self, settings: Settings) -> Callable[[], Evaluation] | None:
        split = self.split
        if split is None:
            return super().validation(settings)
        return lambda: ArrayEvaluation(self.recipe, split)

    def facts(self, step: TrainStep) -> dict[str, int]:
        facts = {"samples": self.samples.count, "batch_size": step.batch}
        return facts if self.last_batch is None else facts | {LAST_BATCH: self.last_batch}

    def batch(self, settings: Settings) -> int:
        return min(settings.batch_size or BATCH, self.samples.count)

    def steps_per_epoch(self, settings: Settings, batch: int) -> int | None:
        return settings.steps_per_epoch or self._steps_of_round(batch, settings)

    def _steps_of_round(self, batch: int, settings: Settings) -> int:
        count = self.samples.count
        return count // batch if settings.drop_remainder else -(-count // batch)

    def build(self, settings: Settings) -> TrainStep:
        recipe, samples = self.recipe, self.samples
        session = recipe.network.session
        batch = self.batch(settings)
        arrays = samples.arrays
        check_training_memory(recipe.network, recipe.optimizer, arrays, batch, session.device)
        data = recipe.data.declare("train", samples.xs, samples.ys, samples.weights)
        placing = recipe.placing()
        rounds: tuple[int, int] | None = self._steps_of_round(batch, settings), batch
        filled, rest = 0, 0 if settings.drop_remainder else samples.count % batch
        if placing.strategy is not None and placing.strategy.fills_batches(recipe, rest):
            filled, rounds, rest = rest, None, 0
        self.last_batch = None if rounds is None else rest or batch
        stream = BatchStream(data, batch, settings.shuffle, settings.seed, rounds)
        last = replace(stream, batch=rest, first=stream) if rest else None
        if placing.strategy is None:
            placement = placing.placement
            place_variables(recipe.network, placement=placement)
            step = build_train_step(recipe, stream)
            first_use: Node | None = step.run if placement is None else None
            data.upload(session, arrays, first_use)
            if placement is not None:
                session.compiled([step.run])  # hooks learn of the training once it is placed
        else:
            data.upload(session, arrays)
            step = placing.strategy.build(recipe, stream)
            if filled:
                warn_user(_FILLED.format(rest=filled))
        return step if last is None or rounds is None else self._with_last(step, last, rounds[0])

    def _with_last(self, step: TrainStep, stream: BatchStream, length: int) -> TrainStep:
        """Return ``step`` with the step over the smaller last batch of each round."""
        strategy = self.recipe.placing().strategy
        if strategy is not None:
            return strategy.with_last(self.recipe, step, stream, length)
        return with_last(step, build_train_step(self.recipe, stream), length)


class StreamedData(TrainingData):
    """Batches that are streamed; the first one builds the model."""

    def __init__(self, recipe: Recipe, x: Any, y: Any, settings: Settings) -> None:
        no_arguments_for_streams(
            y=y,
            batch_size=settings.batch_size,
            sample_weight=settings.sample_weight,
            validation_split=settings.validation_split or None,
            drop_remainder=settings.drop_remainder or None,
            seed=settings.seed,
        )
        self.recipe = recipe
        self.source = BatchSource(x, "the data set")
        check_rounds(self.source, settings.steps_per_epoch, settings.rounds)
        length = settings.steps_per_epoch or known_length(self.source)
        self.windows = Windows(recipe, self.source, length, settings.class_weight, recipe.placing())
        try:
            self.first = self.windows.peek(self._iterations())
        except BaseException:
            self.source.close()
            raise
        self.input = describe_input(self.first.xs, self.source.dataset.table_facts())
        self.train = excerpt(self.first)
        self.graph = graph_excerpt(self.first)

    def _iterations(self) -> int:
        network, optimizer = self.recipe.network, self.recipe.optimizer
        if not network.built:
            return 0
        optimizer.prepare(network.graph)
        return int(network.session.value(optimizer.iterations))

    def facts(self, step: TrainStep) -> dict[str, int]:
        return {"batch_size": step.batch}

    def batch(self, settings: Settings) -> int:
        return len(self.first.xs[0])

    def steps_per_epoch(self, settings: Settings, batch: int) -> int | None:
        return settings.steps_per_epoch or known_length(self.source)

    def build(self, settings: Settings) -> TrainStep:
        recipe, before = self.recipe, self.windows
        windows = Windows(recipe, self.source, before.most, before.class_weight, recipe.placing())
        one_round = settings.steps_per_epoch is not None
        return build_streamed_step(recipe, windows, self.first, one_round)
