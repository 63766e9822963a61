"""Compares the simulator, calibrated on this machine, with two processors doing the real work.

    python -m bench.simulator [--rounds 5]

prints a table: for each network and strategy, simulated and real milliseconds per step, and their
ratio. Each round measures the whole step, its parts, and the whole step again, so that other work
on the machine affects both alike. The result is the median over the rounds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

import numpy as np

import playgrad as pg
from playgrad import nn
from playgrad.models.model import Model
from playgrad.parallel.partition import take_apart
from playgrad.parallel.pipeline_jobs import pipeline_jobs
from playgrad.parallel.rewrite import rewrite
from playgrad.parallel.simulator import Interconnect, simulate_jobs
from playgrad.parallel.stages import BALANCED, deal_out
from playgrad.parallel.step_jobs import data_parallel_jobs
from playgrad.runtime.measuring import MeasuredNode, run_in_turns
from playgrad.runtime.timeline import timeline
from playgrad.training.device_data import BatchStream, DeviceData
from playgrad.training.layer_costs import chain_of
from playgrad.training.stage_costs import measure_step
from playgrad.training.step_graphs import build_train_step
from playgrad.training.strategies.data_parallel import DataParallel
from playgrad.training.strategies.pipeline import Pipeline

DEVICES = 2
MICRO_BATCHES = 4
STEPS = 5
Stages = Sequence[int]
STRATEGIES: dict[str, DataParallel | Pipeline] = {
    "sync": DataParallel(DEVICES, "ring"),
    "gpipe": Pipeline(DEVICES, MICRO_BATCHES, "gpipe", BALANCED),
    "1f1b": Pipeline(DEVICES, MICRO_BATCHES, "1f1b", BALANCED),
    "interleaved": Pipeline(DEVICES, MICRO_BATCHES, "interleaved", BALANCED),
}


@dataclass(frozen=True)
class Workload:
    """A network, the shape of a sample, and the batch size."""

    layers: Sequence[nn.Layer]
    shape: tuple[int, ...]
    batch: int

    def samples(self, batches: int) -> tuple[np.ndarray, np.ndarray]:
        """Return random samples and labels for a number of batches."""
        random, count = np.random.default_rng(0), batches * self.batch
        x = random.normal(size=(count, *self.shape)).astype(np.float32)
        return x, random.integers(0, 10, count).astype(np.int32)

    def trained(self) -> Model:
        """Return the network as a model, after one step."""
        x, y = self.samples(1)
        model = pg.Sequential([*self.layers, nn.Dense(10)])
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=pg.optim.Adam(), loss=loss, device="cpu")
        model.fit(x, y, batch_size=self.batch, epochs=1, verbose=0)
        return model


def workloads() -> dict[str, Workload]:
    """Return small and large networks of matrix products and of convolutions."""

    def dense(width: int, count: int) -> list[nn.Layer]:
        return [nn.Dense(width, activation="relu") for _ in range(count)]

    def convolutions(*filters: int) -> list[nn.Layer]:
        return [
            *(nn.Conv2D(count, 3, padding="same", activation="relu") for count in filters),
            nn.MaxPool2D(2),
            nn.Flatten(),
        ]

    return {
        "mlp 784-128-128-128-10, batch 64": Workload(dense(128, 3), (784,), 64),
        "mlp 784-512-512-512-10, batch 256": Workload(dense(512, 3), (784,), 256),
        "cnn 6-8-8, batch 64": Workload(convolutions(6, 8, 8), (14, 14, 1), 64),
        "cnn 16-32-32, batch 32": Workload(convolutions(16, 32, 32), (28, 28, 1), 32),
    }


def trained_on(model: Model) -> DeviceData:
    """Return the data that ``model`` was trained on."""
    return model.recipe.data["train"]


def simulated_seconds(
    model: Model, batch: int, strategy: DataParallel | Pipeline, stages: Stages
) -> float:
    """Return the simulated seconds of a step, from measurements made now."""
    split = isinstance(strategy, Pipeline)
    rows = batch // (MICRO_BATCHES if split else DEVICES)
    micro_batches = MICRO_BATCHES if split else 1
    costs, machine = measure_step(
        model.recipe, trained_on(model), rows, stages, micro_batches, DEVICES
    )
    jobs = (
        pipeline_jobs(costs, strategy.orders())
        if isinstance(strategy, Pipeline)
        else data_parallel_jobs(costs[0], DEVICES)
    )
    # Devices within one process pass references, so no bytes are moved.
    return timeline(simulate_jobs(jobs, Interconnect(), machine)).seconds


def real_program(
    stack: ExitStack, model: Model, batch: int, strategy: DataParallel | Pipeline, stages: Stages
) -> MeasuredNode:
    """Return the distributed step of a copy of ``model``, after a first run."""
    twin, data = model.clone(), trained_on(model)
    session = stack.enter_context(twin.session)
    xs, ys = ([model.session.value(v) for v in variables] for variables in (data.xs, data.ys))
    pipeline_stages = stages if isinstance(strategy, Pipeline) else ()
    stream = BatchStream(twin.recipe.data.upload("real", xs, ys), batch, shuffle=False)
    step = build_train_step(twin.recipe, stream, pipeline_stages)
    rewritten = rewrite(take_apart(step.run), batch, strategy.distribution("cpu"), "real")
    session.set_placement(rewritten.placement)
    session.run(rewritten.run)
    return MeasuredNode(session, rewritten.run)


def compare(model: Model, batch: int, strategy: DataParallel | Pipeline, rounds: int) -> str:
    """Measure one strategy and return its row of the table."""
    chain = chain_of(model.recipe, trained_on(model), batch)
    count = strategy.depth * (strategy.chunks or 1) if isinstance(strategy, Pipeline) else 1
    stages = deal_out(chain, BALANCED, count)
    pairs = []
    with ExitStack() as stack:
        program = real_program(stack, model, batch, strategy, stages)
        for _ in range(rounds):
            (before,) = run_in_turns([program], STEPS)
            simulated = simulated_seconds(model, batch, strategy, stages)
            (after,) = run_in_turns([program], STEPS)
            pairs.append((simulated, median(timeline(run.trace).seconds for run in before + after)))
    ratios = sorted(first / second for first, second in pairs)
    simulated, real = (median(column) for column in zip(*pairs, strict=True))
    within = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
    return f"{1000 * simulated:.2f} | {1000 * real:.2f} | {median(ratios):.2f} | {within}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    pg.set_logical_devices(cpu=DEVICES)
    print("| network | strategy | simulated ms | real ms | ratio | range over rounds |")
    print("|---|---|---|---|---|---|")
    for name, workload in workloads().items():
        model = workload.trained()
        for title, strategy in STRATEGIES.items():
            row = compare(model, workload.batch, strategy, rounds)
            print(f"| {name} | {title} | {row} |", flush=True)
        model.close()


if __name__ == "__main__":
    main()
