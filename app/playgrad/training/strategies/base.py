"""The base class of strategies, and the description that the command line and the Lab show.

A new strategy is a subclass of `Strategy` in a file of its own, and a line in
`playgrad.training.strategies.registry`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from playgrad.devices.kinds import canonical, kind_of
from playgrad.devices.machines import full_names
from playgrad.devices.registry import ensure_devices
from playgrad.errors import DeviceError, GraphError
from playgrad.networks.network import Network
from playgrad.parallel import collectives
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.partition import Partition, take_apart
from playgrad.parallel.rewrite import DistributedStep, rewrite
from playgrad.parallel.simulator import Job
from playgrad.parallel.step_jobs import StageCost
from playgrad.training.device_data import BatchStream
from playgrad.training.recipe import DistributionKey, Recipe
from playgrad.training.round_step import with_last
from playgrad.training.steps import TrainStep
from playgrad.training.variable_placement import place_variables

Devices = int | tuple[str, ...]
"""The number of devices, of the kind that the model trains on, or their names."""


@dataclass(frozen=True)
class OptionValue:
    """One value of an option.

    Attributes:
        about: one sentence for the Lab.
        uses: names of the options that take effect only with this value.
    """

    name: str
    title: str
    about: str
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class StrategyOption:
    """A setting of a strategy on the command line and in the Lab.

    Attributes:
        name: ``micro_batches`` for ``--micro-batches``.
        help: its line in ``playgrad train --help``.
        title, about: its label and its explanation in the Lab; None if the Lab does not offer it.
        least: the smallest number allowed, if it is a number.
        choices: the values allowed, if it is not a number.
    """

    name: str
    help: str
    title: str | None = None
    about: str = ""
    least: int = 1
    choices: tuple[OptionValue, ...] = ()


@dataclass(frozen=True)
class Descriptor:
    """The name of a strategy, and the description and options that users see.

    Attributes:
        name: on the command line.
        title, about: its name and its explanation in the Lab.
        can_be_simulated: whether `Strategy.simulation` is implemented.
    """

    name: str
    title: str
    about: str
    options: tuple[StrategyOption, ...]
    can_be_simulated: bool = False


@dataclass(frozen=True)
class Simulation:
    """The work of a step for the simulator.

    Attributes:
        parts: the number of parts that the batch is divided into.
        stages: the number of pipeline stages.
        micro_batches: the number of micro-batches of a stage.
        jobs: returns the jobs of a step, from the cost of each stage.
        groups: returns the devices of each stage by the kind of device, if stages have several.
    """

    parts: int
    stages: int
    micro_batches: int
    jobs: Callable[[Sequence[StageCost]], Sequence[Job]]
    groups: Callable[[str], Sequence[Sequence[str]]] = lambda kind: ()


class Strategy(ABC):
    """A way to train one model on several devices. Subclasses are frozen dataclasses.

    Attributes:
        descriptor: the description and the options that users see.
    """

    descriptor: ClassVar[Descriptor]

    @classmethod
    def from_options(cls, devices: int, **options: Any) -> Self:
        """Return a strategy over ``devices`` devices.

        Args:
            options: values of some of the descriptor's options, by name.
        """
        return cls(devices, **options)  # type: ignore[call-arg]

    @abstractmethod
    def build(self, recipe: Recipe, stream: BatchStream) -> TrainStep:
        """Return the training step over ``stream``, and move variables to where it needs them.

        Nodes are added to the graph only once for equal arguments.

        Raises:
            GraphError: the batch or the model cannot be divided into as many parts as the strategy
                needs.
            DeviceError: a device does not exist.
        """

    @property
    def width(self) -> int:
        """The number of devices."""
        return 1

    @property
    def title(self) -> str:
        """The title in the Lab, with the settings that matter most."""
        return ", ".join([self.descriptor.title, *self.settings()])

    def settings(self) -> list[str]:
        """Return the settings that the title names: ``["4 micro-batches"]``."""
        return []

    @property
    def bubble_formula(self) -> float | None:
        """The share of a step that devices wait in theory; None if it is not a pipeline."""
        return None

    @property
    def delays_devices(self) -> bool:
        """True if the strategy itself delays devices."""
        return False

    def with_delays(self, seconds: Mapping[str, float]) -> Self | None:
        """Return a strategy that delays devices itself; None to leave that to the executor.

        Args:
            seconds: the delay of each batch, by device.
        """
        return None

    def simulation(self) -> Simulation:
        """Return the work of a step for the simulator.

        Raises:
            GraphError: this strategy cannot be simulated.
        """
        raise GraphError(f"the strategy '{self.descriptor.name}' cannot be simulated.")

    def fills_batches(self, recipe: Recipe, rest: int) -> bool:
        """Return whether all batches of arrays are full, where a last one would have ``rest``
        samples: then the last batch of a round is filled from the next one."""
        return False

    def with_last(
        self, recipe: Recipe, step: TrainStep, stream: BatchStream, length: int
    ) -> TrainStep:
        """Return ``step`` with a step over the smaller batches of ``stream``, which are the last
        ones of rounds of ``length`` batches."""
        return with_last(step, self.build(recipe, stream), length)


class SeveralDevices(Strategy):
    """A strategy for several devices.

    Attributes:
        devices: the number of devices, of the kind that the model trains on, or their names.
    """

    devices: Devices

    def __post_init__(self) -> None:
        if not isinstance(self.devices, int):  # a tuple, so that strategies can be compared
            object.__setattr__(self, "devices", tuple(self.devices))

    @property
    def width(self) -> int:
        return self.devices if isinstance(self.devices, int) else len(self.devices)


class DistributedStrategy(SeveralDevices):
    """A strategy that rewrites the training step for several devices.

    Attributes:
        name: name scope of the nodes that it adds.
    """

    name: ClassVar[str]

    @abstractmethod
    def distribution(self, kind: str, placed_on: tuple[str, ...] = ()) -> Distribution:
        """Return the distribution of a step over devices of ``kind``, or over the named devices.

        Args:
            placed_on: the devices that the user placed layers on.

        Raises:
            GraphError: layers placed in this way cannot be distributed.
        """

    def fills_batches(self, recipe: Recipe, rest: int) -> bool:
        # A smaller batch must have a sample for each part.
        kind = device_kind(recipe.network)
        return rest > 0 and rest < sum(self.distribution(kind).micro_batches)

    def distribute(self, recipe: Recipe, step: TrainStep) -> DistributedStep:
        """Return ``step`` rewritten for the devices, once for equal arguments."""
        key = DistributionKey(step.run, self)
        if key not in recipe.distributed:
            parts = self.take_apart(recipe, step)
            distribution = self.distribution(device_kind(recipe.network), parts.user_devices)
            first = self._first(recipe, step)
            recipe.distributed[key] = rewrite(parts, step.batch, distribution, self.name, first)
        return recipe.distributed[key]

    def take_apart(self, recipe: Recipe, step: TrainStep) -> Partition:
        """Return the nodes of ``step`` by when and where they run."""
        return take_apart(step.run)

    def place(self, recipe: Recipe, step: TrainStep) -> DistributedStep:
        """Distribute ``step``, and move variables to where it needs them."""
        distributed = self.distribute(recipe, step)
        place_variables(recipe.network, distributed, first=self._first(recipe, step))
        return distributed

    def _first(self, recipe: Recipe, step: TrainStep) -> DistributedStep | None:
        """Return the distributed step that alternates with ``step``, if there is one."""
        if step.first_run is None:
            return None
        return recipe.distributed[DistributionKey(step.first_run, self)]

    def expect_unplaced(self, placed_on: tuple[str, ...]) -> None:
        """Raise GraphError if the user placed layers on several devices."""
        if len(placed_on) > 1:
            raise GraphError(
                f"'{self.name}' cannot train layers placed on {full_names(placed_on)}.",
                hint="Remove the device scopes, or use DataParallel.",
            )


_COLLECTIVES = {
    "auto": ("Automatic", "The algorithm that should be fastest for each size."),
    "central": ("Through one device", "One device computes the sum and sends it back."),
    "fastest": (
        "Fastest",
        "By the transport where that should be faster. The last digits may differ.",
    ),
    "native": ("By the transport", "One operation between all: on several machines that of MPI."),
    "ring": ("Ring", "Each device sends parts to its neighbour: most even load, most messages."),
    "tree": ("Tree", "Pairs add up, then pairs of pairs: few rounds."),
}
COLLECTIVE = StrategyOption(
    "collective",
    "how gradients are added up",
    choices=tuple(OptionValue(name, *_COLLECTIVES[name]) for name in collectives.NAMES),
)
DEVICES = StrategyOption(
    "devices", "number of devices (default: 2)", "Devices", "How many devices share the work."
)


def device_kind(network: Network) -> str:
    """Return the name of the kind of device that ``network`` trains on."""
    return kind_of(network.session.device).name


def named_devices(devices: Devices, kind: str, there: bool = False) -> tuple[str, ...]:
    """Return the names of ``devices``: a number means that many of ``kind``.

    Args:
        there: they are on other machines, so that they need not exist here.

    Raises:
        DeviceError: there are no devices, one is named twice, or a GPU does not exist.
    """
    if isinstance(devices, int):
        names = tuple(f"{kind}:{index}" for index in range(devices))
    else:
        names = tuple(canonical(name) for name in devices)
    if not names or len(set(names)) < len(names):
        raise DeviceError(f"a strategy needs one or more different devices, got {devices!r}.")
    if not there:
        ensure_devices(names)
    return names
