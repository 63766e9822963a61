"""The recipe of a model's training: everything that the builders of steps need to know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from playgrad.graph.tensor import Node
from playgrad.networks.cloning import clone_network
from playgrad.networks.network import Network
from playgrad.networks.structure import outputs_of
from playgrad.nn.layer import Layer
from playgrad.ops.state import Variable
from playgrad.optim.optimizer import Optimizer
from playgrad.parallel.rewrite import DistributedStep
from playgrad.runtime.options import SINGLE, get_options
from playgrad.runtime.session_placement import PlacementRequest
from playgrad.training.device_data import BatchStream, DeviceData, DeviceDataCache
from playgrad.training.objectives import Objectives
from playgrad.training.step_cache import StepCache
from playgrad.training.steps import BatchStep, EvalStep, TrainStep


class StepBuilder(Protocol):
    """The part of a strategy that a recipe needs: it builds a training step."""

    def build(self, recipe: Recipe, stream: BatchStream) -> TrainStep:
        """Return the training step over the batches of ``stream``."""
        ...

    def fills_batches(self, recipe: Recipe, rest: int) -> bool:
        """Return whether all batches are full, where a last one would have ``rest`` samples."""
        ...

    def with_last(
        self, recipe: Recipe, step: TrainStep, stream: BatchStream, length: int
    ) -> TrainStep:
        """Return ``step`` with a step over the smaller last batches of rounds."""
        ...


MEASURED_RUNS = 4
"""Runs of each of two ways before one is chosen; other work on the machine delays some of them."""


@dataclass(frozen=True)
class Placing:
    """The devices of a training: at most one of a strategy and a placement."""

    strategy: StepBuilder | None
    placement: PlacementRequest


Trained = tuple[Variable | Layer, ...]
"""The variables that a step changes, and the layers that are not frozen: they may have averages."""


def trained(network: Network) -> Trained:
    """Return what a step of ``network`` changes, as a part of the keys of steps."""
    layers = (layer for layer in network.layers if layer.trainable)
    return (*network.trainable_variables, *layers)


@dataclass(frozen=True)
class TrainStepKey:
    """The arguments of `playgrad.training.step_graphs.build_train_step`."""

    stream: BatchStream
    stages: tuple[int, ...]
    trained: Trained
    has_targets: bool = True

    @property
    def follows(self) -> TrainStepKey | None:
        """The step that this one alternates with, and records in the variables of."""
        first = self.stream.first
        return None if first is None else replace(self, stream=first)


@dataclass(frozen=True)
class EvalStepKey:
    """The arguments of `playgrad.training.step_graphs.build_eval_step`."""

    data: DeviceData
    batch: int
    has_targets: bool = True


@dataclass(frozen=True)
class BatchStepKey:
    """The arrays of a batch, and the variables that the step changes.

    Attributes:
        arrays: dtype and shape of a sample of each.
    """

    arrays: tuple[tuple[str, tuple[int, ...]], ...]
    trained: Trained


@dataclass(frozen=True)
class StagesKey:
    """The values that the stages of a pipeline depend on."""

    strategy: StepBuilder
    data: DeviceData
    batch: int


@dataclass(frozen=True)
class DistributionKey:
    """A training step, and the strategy that distributes it."""

    run: Node
    strategy: StepBuilder


@dataclass
class Speeds:
    """Measured seconds of the same work done in two ways, of which the faster one is chosen.

    Attributes:
        seconds: the seconds of the first and of the second way, without the first run of each,
            which compiles.
        runs: the number of runs of each.
    """

    seconds: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    runs: list[int] = field(default_factory=lambda: [0, 0])

    @property
    def chosen(self) -> int | None:
        """The faster way, 0 or 1, by the least times; None until each has been measured enough."""
        if min(map(len, self.seconds)) < MEASURED_RUNS:
            return None
        return int(min(self.seconds[1]) < min(self.seconds[0]))

    @property
    def next_measured(self) -> int:
        """The way to be measured next: they take turns."""
        return int(self.runs[1] < self.runs[0])

    def add(self, way: int, seconds: float) -> None:
        """Add a run."""
        if self.runs[way]:
            self.seconds[way].append(seconds)
        self.runs[way] += 1


@dataclass
class Recipe:
    """A network with everything that ``compile`` says about its training, and the steps built so
    far.

    Attributes:
        strategy: trains on several devices; None for one.
        placement: assigns nodes to devices in place of a strategy.
        data: the data sets on the device.
        train_steps, eval_steps: the steps over data on the device.
        batch_steps: the steps for batches that are fed, by the dtypes of their arrays.
        probes: the nodes of `playgrad.inspection.probe`, by the arrays of a sample.
        stages: the stage of each item of the structure, by strategy.
        distributed: training steps as strategies have rewritten them.
        extra_nodes: nodes that strategies run in addition to or instead of a training step.
        speeds: measured speeds of the two ways in which strategies can run a training step.
    """

    network: Network
    optimizer: Optimizer
    objectives: Objectives
    strategy: StepBuilder | None = None
    placement: PlacementRequest = None
    data: DeviceDataCache = field(init=False)
    train_steps: StepCache[TrainStepKey, TrainStep] = field(init=False)
    eval_steps: StepCache[EvalStepKey, EvalStep] = field(init=False)
    batch_steps: StepCache[BatchStepKey, BatchStep] = field(init=False)
    probes: StepCache[BatchStepKey, Any] = field(init=False)
    stages: dict[StagesKey, tuple[int, ...]] = field(default_factory=dict)
    distributed: dict[DistributionKey, DistributedStep] = field(default_factory=dict)
    extra_nodes: dict[DistributionKey, Node] = field(default_factory=dict)
    speeds: dict[DistributionKey, Speeds] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.data = DeviceDataCache(self.network)
        graph = self.network.graph
        self.train_steps, self.eval_steps = StepCache(graph), StepCache(graph)
        self.batch_steps, self.probes = StepCache(graph), StepCache(graph)

    def placing(self) -> Placing:
        """Return what places the training: the options of the host, else what the model says."""
        options = get_options()
        is_single = options.strategy == SINGLE
        placement = options.placement or (None if is_single else self.placement)
        own = self.strategy or (options.fallback_strategy if self._is_divisible else None)
        strategy = options.strategy or (None if placement else own)
        return Placing(None if is_single else strategy, placement)

    @property
    def _is_divisible(self) -> bool:
        """Whether any strategy can train the network: it has no step and no devices of its own."""
        items = self.network.structure.items if self.network.built else []
        placed = any(tensor.node.device for item in items for tensor in outputs_of(item))
        return not placed and not getattr(self.network, "has_own_step", False)

    def bookkeeping(self) -> Iterator[Variable]:
        """Yield the variables whose values matter only while steps are running."""
        for train_step in self.train_steps.values():
            yield from train_step.bookkeeping
        for eval_step in self.eval_steps.values():
            yield from eval_step.bookkeeping

    def for_network(self, network: Network) -> Recipe:
        """Return the same recipe for another network, with an optimizer that has no state."""
        return Recipe(
            network, self.optimizer.clone(), self.objectives, self.strategy, self.placement
        )

    def clone(self) -> Recipe:
        """Return the same recipe for a copy of the network, with the same weights."""
        return self.for_network(clone_network(self.network))
