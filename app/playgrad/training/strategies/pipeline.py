"""Pipelines: layers on different devices, through which micro-batches pass."""

from __future__ import annotations

from dataclasses import dataclass, replace

from playgrad.errors import GraphError
from playgrad.parallel import collectives
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.partition import Partition, take_apart
from playgrad.parallel.passes import Orders
from playgrad.parallel.pipeline_jobs import pipeline_jobs
from playgrad.parallel.schedules import (
    PIPEDREAM,
    SCHEDULES,
    bubble_formula,
    make_schedule,
    simulate,
)
from playgrad.parallel.stages import BALANCED, ESTIMATED, Chain, Stages, deal_out
from playgrad.training.device_data import BatchStream
from playgrad.training.layer_costs import chain_of
from playgrad.training.recipe import Recipe, StagesKey
from playgrad.training.step_graphs import build_train_step
from playgrad.training.steps import TrainStep
from playgrad.training.strategies.base import (
    COLLECTIVE,
    DEVICES,
    Descriptor,
    Devices,
    DistributedStrategy,
    OptionValue,
    Simulation,
    StrategyOption,
    device_kind,
    named_devices,
)

_SCHEDULES = {
    "gpipe": OptionValue("gpipe", "GPipe", "All parts forward, then all parts backward."),
    "1f1b": OptionValue(
        "1f1b", "1F1B", "Forward and backward in turn: as fast as GPipe, using less memory."
    ),
    "interleaved": OptionValue(
        "interleaved",
        "Interleaved",
        "Several groups of layers on each device: shorter gaps, more transfers.",
        uses=("chunks",),
    ),
    # Each of its two streams has a copy of the parameters; their gradients are added up.
    "bidirectional": OptionValue(
        "bidirectional",
        "Bidirectional",
        "Two streams, from both ends, each filling the other's gaps.",
        uses=("collective",),
    ),
    "zero_bubble": OptionValue(
        "zero_bubble",
        "Zero bubble",
        "1F1B whose gradients of weights are computed while a device would wait.",
    ),
    "dualpipe": OptionValue(
        "dualpipe",
        "DualPipe",
        "Two streams, from both ends, whose gradients of weights fill the gaps that are left.",
        uses=("collective",),
    ),
    PIPEDREAM: OptionValue(
        PIPEDREAM,
        "PipeDream",
        "An update after every part, so a device may compute with weights that lack the last few "
        "updates: not the result of one device.",
    ),
}
_OPTIONS = (
    DEVICES,
    StrategyOption(
        "micro_batches",
        "parts of a batch in a pipeline",
        "Micro-batches",
        "Parts of each batch: more parts, less waiting.",
    ),
    StrategyOption(
        "schedule",
        "order of a pipeline's passes",
        choices=tuple(_SCHEDULES[name] for name in SCHEDULES),
    ),
    StrategyOption(
        "chunks",
        "groups of layers on each device, with the schedule interleaved",
        "Chunks",
        "Groups of layers on each device. The network needs a layer for each.",
    ),
    # Not in the Lab: they mean something only with more devices than it offers.
    StrategyOption("replicas", "pipelines, each with its share of a batch and of the devices"),
    StrategyOption(
        "devices_per_stage",
        "devices of a pipeline's stage, which layers name and are divided among",
    ),
    COLLECTIVE,
)


@dataclass(frozen=True)
class Pipeline(DistributedStrategy):
    """Pipeline parallelism: micro-batches pass through groups of layers on different devices.

    A step ends when all passes are done (a flush), so its result is that of one device on the whole
    batch. The exception is the schedule "pipedream", in which each micro-batch is a separate
    update: see `playgrad.parallel.stashing`.

    Args:
        devices: the number of devices, of the kind that the model trains on, or their names, for
            all replicas together.
        micro_batches: parts of a replica's share of the batch.
        schedule: the order of the passes: "gpipe", "1f1b", "interleaved", "bidirectional",
            "zero_bubble", "dualpipe" or "pipedream"; see `playgrad.parallel.schedules`.
        stages: the layers of each stage: their names, or their number, for each stage; or
            "estimated" to divide them by their amount of arithmetic, or "balanced" by measured
            times.
        chunks: stages on each device. Two or more need the schedule "interleaved", for which the
            default is 2.
        replicas: number of pipelines, each of which processes its share of the batch.
        devices_per_stage: number of devices of each stage. Layers that are divided among devices
            (`nn.ColumnParallelDense` and others) name their stage's devices in the first pipeline;
            all other layers are on the first device of their stage.
        collective, bucket_bytes: as in `DataParallel`.

    Raises:
        GraphError: the schedule is not possible with these numbers.
    """

    devices: Devices
    micro_batches: int = 4
    schedule: str = "1f1b"
    stages: Stages = ESTIMATED
    chunks: int | None = None
    replicas: int = 1
    collective: str = "auto"
    bucket_bytes: int = 1 << 20
    devices_per_stage: int = 1

    name = "pipeline"
    descriptor = Descriptor(
        "pipeline",
        "Pipeline",
        "The layers are divided among the devices, and parts of the batch pass through them one "
        "after the other. The result is that of one device.",
        _OPTIONS,
        can_be_simulated=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.stages, str):
            stages = tuple(e if isinstance(e, int) else tuple(e) for e in self.stages)
            object.__setattr__(self, "stages", stages)
        if self.chunks is None:
            object.__setattr__(self, "chunks", 2 if self.schedule == "interleaved" else 1)
        if self.replicas < 1 or self.width % self.replicas:
            raise GraphError(
                f"{self.width} devices cannot make up {self.replicas} equal pipelines."
            )
        self._check_stages()
        if self.replicas > 1 and self.schedule == PIPEDREAM:
            raise GraphError("an asynchronous pipeline cannot have replicas.")
        self.orders()

    def _check_stages(self) -> None:
        """Raise GraphError if stages cannot have as many devices as they should."""
        of_pipeline = self.width // self.replicas
        if self.devices_per_stage < 1 or of_pipeline % self.devices_per_stage:
            raise GraphError(
                f"a pipeline of {of_pipeline} devices cannot be divided into stages of "
                f"{self.devices_per_stage} devices."
            )
        if self.devices_per_stage > 1 and (
            self.chunks != 1 or self.schedule == PIPEDREAM or self.stages == BALANCED
        ):
            raise GraphError(
                "stages of several devices can neither be interleaved, nor asynchronous, nor "
                "divided by measured times.",
                hint="Use another schedule, and stages='estimated' or the layers of each stage.",
            )

    @property
    def depth(self) -> int:
        """The number of devices of one pipeline, or of groups of devices that share a stage."""
        return self.width // self.replicas // self.devices_per_stage

    def groups(self, kind: str) -> list[tuple[str, ...]]:
        """Return the devices of each stage of the first pipeline, if they have several."""
        if self.devices_per_stage == 1:
            return []
        names, width = named_devices(self.devices, kind), self.devices_per_stage
        return [names[width * stage : width * (stage + 1)] for stage in range(self.depth)]

    @property
    def stage_count(self) -> int:
        """The number of stages of one pipeline."""
        assert self.chunks is not None
        return self.depth * self.chunks

    def orders(self) -> Orders:
        """Return the passes of each device of one pipeline, in order."""
        assert self.chunks is not None
        return make_schedule(self.schedule, self.depth, self.micro_batches, self.chunks)

    def stages_of(self, chain: Chain, kind: str = "cpu") -> tuple[int, ...]:
        """Return the stage of each item of the structure that ``chain`` describes."""
        groups = self.groups(kind)
        return deal_out(chain, self.stages, self.stage_count, groups)

    def build(self, recipe: Recipe, stream: BatchStream) -> TrainStep:
        # Divided once: with newly measured times, the stages might differ from fit to fit.
        divided = stream.first or stream
        key = StagesKey(self, divided.data, divided.batch)
        if key not in recipe.stages:
            chain = chain_of(recipe, divided.data, divided.batch)
            recipe.stages[key] = self.stages_of(chain, device_kind(recipe.network))
        step = build_train_step(recipe, stream, recipe.stages[key])
        distributed = self.place(recipe, step)
        return replace(step, run=distributed.run, parts=distributed.parts)

    def distribution(self, kind: str, placed_on: tuple[str, ...] = ()) -> Distribution:
        if self.devices_per_stage == 1:
            self.expect_unplaced(placed_on)
        assert self.chunks is not None
        names, width = named_devices(self.devices, kind), self.devices_per_stage
        schedule = tuple(item.entry for item in simulate(self.orders()))
        groups = [names[first : first + width] for first in range(0, len(names), width)]
        rows = []
        for first in range(0, len(groups), self.depth):
            stages = groups[first : first + self.depth]
            for stream in range(1 + max(entry.stream for entry in schedule)):
                ordered = stages if stream == 0 else stages[::-1]
                rows.append(tuple(device for group in ordered for device in group) * self.chunks)
        return Distribution(
            tuple(rows),
            schedule,
            collectives.get(self.collective),
            self.bucket_bytes,
            stashing=self.schedule == PIPEDREAM,
            width=width,
        )

    def take_apart(self, recipe: Recipe, step: TrainStep) -> Partition:
        groups = self.groups(device_kind(recipe.network))
        devices = [device for group in groups for device in group]
        return take_apart(step.run, devices, self.devices_per_stage)

    def settings(self) -> list[str]:
        count = self.micro_batches
        return [_SCHEDULES[self.schedule].title, f"{count} micro-batch{'es' * (count > 1)}"]

    @property
    def bubble_formula(self) -> float | None:
        assert self.chunks is not None
        return bubble_formula(self.schedule, self.depth, self.micro_batches, self.chunks)

    def simulation(self) -> Simulation:
        # The simulator does not choose an algorithm, as "auto" would.
        algorithm = "ring" if self.collective == "auto" else self.collective
        return Simulation(
            parts=self.micro_batches * self.replicas,
            stages=self.stage_count,
            micro_batches=self.micro_batches,
            jobs=lambda costs: pipeline_jobs(
                costs,
                self.orders(),
                algorithm,
                self.replicas,
                self.devices_per_stage,
                updates_each=self.schedule == PIPEDREAM,
            ),
            groups=self.groups,
        )
