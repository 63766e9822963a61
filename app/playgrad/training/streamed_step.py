"""The training step over streamed batches: a window of them is on the device at a time.

The window is device data whose batches are taken in turn, so that a chunk of steps needs no
transfers. When its batches are used up, the next ones are uploaded. A batch of another shape, such
as a smaller last one, has a window and a step of its own; all steps record in the same place.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from playgrad.data.pipeline.shares import Share
from playgrad.errors import DataError
from playgrad.networks.shared_session import shared_session
from playgrad.ops.state import Variable
from playgrad.parallel.parameter_server import ParameterServer
from playgrad.parallel.replicas import mirrored_by
from playgrad.runtime.members import Members
from playgrad.runtime.session import RepeatResult, Session
from playgrad.runtime.trace import Trace
from playgrad.training.batch_sizes import BatchSizes
from playgrad.training.batch_source import BatchSource
from playgrad.training.device_data import BatchStream
from playgrad.training.memory_needs import check_training_memory
from playgrad.training.recipe import Placing, Recipe
from playgrad.training.sample_weights import Samples
from playgrad.training.step_graphs import build_train_step
from playgrad.training.steps import TrainStep
from playgrad.training.variable_placement import place_variables

Array = np.ndarray[Any, Any]
WINDOW_BYTES = 8 << 20
"""The most bytes of a window, unless one batch is larger."""
MOST_BATCHES = 64
"""The most batches of a window."""
_FILL_SECONDS = 0.05
"""When reading batches for a window has taken this long, the window is used as it is."""
ROLE = "streamed"


class RoundEndError(Exception):
    """The batches of an epoch have been used up."""


class Window:
    """Batches of one shape on the device.

    Args:
        first: the window that was used first, with which this one alternates.

    Attributes:
        slots: the number of batches that it can hold.
        step: the step that takes batch ``iterations % slots``.
    """

    def __init__(
        self,
        recipe: Recipe,
        samples: Samples,
        most: int,
        placing: Placing,
        first: Window | None,
    ) -> None:
        session, batch = recipe.network.session, samples.count
        size = sum(array.nbytes for array in samples.arrays)
        self.slots = max(1, min(WINDOW_BYTES // max(size, 1), most, MOST_BATCHES))
        parts = [
            [np.zeros((self.slots * batch, *array.shape[1:]), array.dtype) for array in arrays]
            for arrays in (samples.xs, samples.ys, samples.weights)
        ]
        self.arrays: list[Array] = [array for part in parts for array in part]
        self.batch = batch
        check_training_memory(recipe.network, recipe.optimizer, self.arrays, batch, session.device)
        self.recipe, self.parts = recipe, parts
        data = recipe.data.declare(ROLE, *parts)
        alternate = None if first is None else first.stream
        self.stream: BatchStream = BatchStream(data, batch, False, first=alternate)
        if placing.strategy is None:
            if first is None:
                place_variables(recipe.network, placement=placing.placement)
            self.step = build_train_step(recipe, self.stream)
        else:
            self.step = placing.strategy.build(recipe, self.stream)
        if first is not None:
            self.step.join(first.step)

    def put(self, batches: Sequence[Samples], iterations: int, is_whole: bool) -> None:
        """Upload batches for the steps that follow step ``iterations``.

        Args:
            is_whole: whether all members of the run have read the same.
        """
        for i, samples in enumerate(batches):
            start = (iterations + i) % self.slots * self.batch
            for array, values in zip(self.arrays, samples.arrays, strict=True):
                array[start : start + self.batch] = values
        # The window of another shape may have taken its place.
        data = self.recipe.data.declare(ROLE, *self.parts)
        session = self.recipe.network.session
        data.upload(session, self.arrays, is_whole=is_whole)
        uploaded = dict(zip(data.variables, self.arrays, strict=True))
        by_name = {variable.node.name: array for variable, array in uploaded.items()}
        mirrors = shared_session(self.recipe.network.graph).mirrors
        copies = {m: by_name.get(mirrored_by(m.node.name)) for m in mirrors}
        session.assign({mirror: array for mirror, array in copies.items() if array is not None})
        self.step.take_data(uploaded, len(batches))


class Windows:
    """The windows of one training, filled from ``source``.

    Args:
        most: batches of an epoch, if they are known.
        class_weight: as in `fit`.
        placing: the strategy or the placement of the training.

    Attributes:
        current: the window in use.
        left: batches in it that no step has taken.
    """

    def __init__(
        self,
        recipe: Recipe,
        source: BatchSource,
        most: int | None,
        class_weight: Mapping[int, float] | None,
        placing: Placing,
    ) -> None:
        self.recipe = recipe
        self.placing = placing
        self.source = source
        self.most = most or MOST_BATCHES
        self.class_weight = class_weight
        self.left = 0
        self.windows: dict[Any, Window] = {}
        self.current: Window | None = None

    @property
    def active(self) -> Window:
        """The window in use, or the first one if none has been filled."""
        return self.current or next(iter(self.windows.values()))

    def peek(self, iterations: int) -> Samples:
        """Return the first batch of the next round, which is taken again later.

        Raises:
            DataError: there is none.
        """
        self.source.expect_share()
        self.source.seek(iterations, 0)
        try:
            batch = self.source.take()
        except StopIteration:
            raise DataError(f"{self.source.name} is empty.") from None
        samples = self.source.samples(self.recipe, batch, self.class_weight)
        self.source.give_back(batch)
        return samples

    def window_for(self, samples: Samples) -> Window:
        """Return the window for batches of the shapes of ``samples``."""
        key = _signature(samples)
        if key not in self.windows:
            first = next(iter(self.windows.values()), None)
            most = self.most if first is None else 1
            window = Window(self.recipe, samples, most, self.placing, first)
            self.windows[key] = window
            members = self.recipe.network.session.members
            self.source.read_only(_own_share(window.step.parts, members))
        return self.windows[key]

    def fill(self) -> Window:
        """Upload the next batches if all were used; return the window.

        Raises:
            RoundEndError: there are none.
        """
        if self.left:
            assert self.current is not None
            return self.current
        started = time.perf_counter()
        batches: list[Samples] = []
        window: Window | None = None
        while window is None or len(batches) < window.slots:
            try:
                batch = self.source.take()
            except StopIteration:
                break
            samples = self.source.samples(self.recipe, batch, self.class_weight)
            if window is not None and _signature(samples) != _signature(batches[0]):
                self.source.give_back(batch)
                break
            window = window or self.window_for(samples)
            batches.append(samples)
            is_late = time.perf_counter() - started > _FILL_SECONDS
            if self.recipe.network.session.members.first_of(is_late):
                break
        if window is None:
            raise RoundEndError
        session = self.recipe.network.session
        if self.active is not window:
            self.active.step.synchronize(session)
        iterations = session.value(self.recipe.optimizer.iterations)
        window.put(batches, int(iterations), is_whole=self.source.is_whole)
        self.left, self.current = len(batches), window
        return window


@dataclass(frozen=True)
class StreamedStep(TrainStep):
    """A training step over streamed batches.

    Attributes:
        windows: the batches on the device, and where they come from.
        one_round: whether all epochs are one round of the source; otherwise each is a round.
        sizes: the samples of its batches.
    """

    follows_epochs: ClassVar[bool] = True
    windows: Windows
    one_round: bool
    sizes: BatchSizes = field(default_factory=BatchSizes)

    @property
    def current(self) -> TrainStep:
        """The step over the window in use."""
        return self.windows.active.step

    @property
    def replica_flags(self) -> dict[str, Variable]:
        return self.current.replica_flags

    @property
    def parameter_server(self) -> ParameterServer | None:
        return self.current.parameter_server

    @property
    def trace_length(self) -> int:
        return self.current.trace_length

    @property
    def replicas_agree(self) -> bool:
        return self.current.replicas_agree

    def synchronize(self, session: Session) -> None:
        self.current.synchronize(session)

    def resume_state(self) -> dict[str, int]:
        return {**self.current.resume_state(), **self.sizes.state()}

    def resume(self, session: Session, state: Mapping[str, int]) -> None:
        self.current.resume(session, state)
        self.sizes.resume(state)

    def begin(self, session: Session, first: int, done: int, earlier: int = 0) -> None:
        self.sizes.done = done

    def samples_of(self, first: int, count: int) -> Array:
        return self.sizes.of(first, count)

    def _filled(self) -> Window:
        """Return the window with the next batches, whose size is noted.

        Raises:
            RoundEndError: there are none.
        """
        window = self.windows.fill()
        self.sizes.next(window.batch)
        return window

    def _ran(self, steps: int) -> None:
        self.sizes.done += steps
        self.windows.left -= steps

    def begin_epoch(self, session: Session, epoch: int, start: int, done: int) -> None:
        first = int(session.value(self.windows.recipe.optimizer.iterations)) - done
        if not self.one_round:
            self.windows.left = 0
            self.windows.source.seek(first + epoch, done - start)
        elif not self.windows.left:  # otherwise the window has the next batches already
            self.windows.source.seek(first, done)

    def prepare(self) -> None:
        self.windows.fill()

    def repeat(self, session: Session, steps: int) -> RepeatResult:
        window = self._filled()
        result = window.step.repeat(session, min(steps, self.windows.left))
        self._ran(result.steps_done)
        return result

    def run_traced(self, session: Session, trace: Trace, most: int = 1) -> int:
        steps = min(most, self.trace_length)
        done = 0
        while done < steps:
            try:
                window = self._filled()
            except RoundEndError:
                if done:
                    break
                raise
            traced = window.step.run_traced(session, trace, min(steps - done, self.windows.left))
            self._ran(traced)
            done += traced
            if not traced:  # a stop came first
                break
        return done

    def finish(self) -> dict[str, Any]:
        self.windows.source.close()
        reports = [window.step.finish() for window in self.windows.windows.values()]
        return reports[0]


def build_streamed_step(
    recipe: Recipe, windows: Windows, samples: Samples, one_round: bool
) -> StreamedStep:
    """Return the step over ``windows``, whose first batch is ``samples``."""
    window = windows.window_for(samples)
    step = replace(window.step, batch=samples.count)
    streamed: StreamedStep = step.extended(StreamedStep, windows=windows, one_round=one_round)
    return streamed


def _own_share(parts: Sequence[frozenset[str]], members: Members) -> Share | None:
    """Return the share of a batch that this process computes; None for all of it, or none."""
    own = [
        number
        for number, devices in enumerate(parts)
        if any(members.owner(device) == members.rank for device in devices)
    ]
    return Share(own[0], own[-1] + 1, len(parts)) if own and len(own) < len(parts) else None


def _signature(samples: Samples) -> Any:
    return tuple(
        tuple((array.shape, array.dtype.name) for array in part)
        for part in (samples.xs, samples.ys, samples.weights)
    )
