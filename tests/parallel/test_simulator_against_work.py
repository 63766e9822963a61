"""The simulator, fed with what one processor was measured to do, against two of them at work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import playgrad as pg
from playgrad import nn
from playgrad.nn.layer_costs import stage_costs
from playgrad.nn.model import Model
from playgrad.nn.resident import Resident, make_resident
from playgrad.nn.steps import build_train_step
from playgrad.parallel import collectives
from playgrad.parallel.layout import Layout
from playgrad.parallel.many import data_parallel_jobs, pipeline_jobs
from playgrad.parallel.partition import take_apart
from playgrad.parallel.rewrite import rewrite
from playgrad.parallel.schedules import make_schedule, simulate
from playgrad.parallel.simulator import Network, simulate_jobs
from playgrad.runtime.timeline import timeline
from playgrad.runtime.trace import Trace

BATCH = 256
ROUNDS = 12
X = np.random.default_rng(0).normal(size=(BATCH, 784)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 10, BATCH).astype(np.int32)


@pytest.fixture
def model() -> Iterator[Model]:
    pg.set_logical_devices(cpu=2)
    layers = [nn.Dense(512, activation="relu") for _ in range(3)]
    model = pg.Sequential([*layers, nn.Dense(10)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=pg.optim.Adam(), loss=loss, device="cpu")
    # As two devices on two cores have it: one thread of linear algebra each.
    with threadpool_limits(1, user_api="blas"):
        model.fit(X, Y, batch_size=BATCH, epochs=1, verbose=0)
        yield model
    model.close()


def resident(model: Model) -> Resident:
    return next(item for item in model.cache.values() if isinstance(item, Resident))


def real_seconds(model: Model, layout: Layout, stages: list[int]) -> float:
    """The shortest of a few steps that are laid over devices so."""
    twin = model.clone()
    with twin.session as session:
        step = build_train_step(
            twin, make_resident(twin, "real", [X], [Y]), BATCH, False, None, stages
        )
        rewritten = rewrite(take_apart(step.run), BATCH, layout, "real")
        session.set_placement(rewritten.placement)
        session.run(rewritten.run)
        traces = [Trace() for _ in range(5)]
        for trace in traces:
            session.run(rewritten.run, trace=trace)
    return min(timeline(trace).seconds for trace in traces)


def test_a_single_stage_costs_something(model: Model) -> None:
    (whole,) = stage_costs(model, resident(model), BATCH, [0, 0, 0, 0])
    parts = stage_costs(model, resident(model), BATCH, [0, 0, 1, 1])
    for cost in (whole, *parts):
        assert min(cost.forward, cost.backward, cost.update) > 0
    assert whole.parameters == sum(part.parameters for part in parts)


# Only in the nightly run, on a machine that does nothing else: it compares times.
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["sync", "1f1b"])
def test_two_devices_take_as_long_as_simulated(model: Model, strategy: str) -> None:
    """Within a fifth, the shortest of several rounds of each, taken in turns."""
    split = strategy == "1f1b"
    stages = [0, 1, 1, 1] if split else [0, 0, 0, 0]
    orders = make_schedule("1f1b", 2, 4) if split else make_schedule("gpipe", 1, 1)
    devices = (("cpu:0", "cpu:1"),) if split else (("cpu:0",), ("cpu:1",))
    schedule = tuple(item.entry for item in simulate(orders))
    layout = Layout(devices, schedule, collectives.get("ring"))
    simulated, real = [], []
    for _ in range(ROUNDS):
        costs = stage_costs(model, resident(model), BATCH, stages)
        jobs = pipeline_jobs(costs, orders) if split else data_parallel_jobs(costs[0], 2)
        simulated.append(timeline(simulate_jobs(jobs, Network(), processors=2)).seconds)
        real.append(real_seconds(model, layout, stages))
    print(f"{strategy}: simulated {min(simulated):.4f} s, real {min(real):.4f} s")
    assert min(simulated) == pytest.approx(min(real), rel=0.2)
