"""The simulator, fed with what one processor was measured to do, against two of them at work.

    python -m bench.simulator

prints simulated and real milliseconds a step, and their ratio. On a machine that does nothing else.
"""

from __future__ import annotations

import numpy as np
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
ROUNDS = 6
X = np.random.default_rng(0).normal(size=(BATCH, 784)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 10, BATCH).astype(np.int32)


def trained() -> Model:
    layers = [nn.Dense(512, activation="relu") for _ in range(3)]
    model = pg.Sequential([*layers, nn.Dense(10)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=pg.optim.Adam(), loss=loss, device="cpu")
    model.fit(X, Y, batch_size=BATCH, epochs=1, verbose=0)
    return model


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


def compare(model: Model, strategy: str) -> tuple[float, float]:
    """Seconds of a step on two devices, simulated and real: the shortest of several rounds."""
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
    return min(simulated), min(real)


def main() -> None:
    pg.set_logical_devices(cpu=2)
    # As two devices on two cores have it: one thread of linear algebra each.
    with threadpool_limits(1, user_api="blas"):
        model = trained()
        for strategy in ("sync", "1f1b"):
            simulated, real = compare(model, strategy)
            times = f"simulated {1000 * simulated:.2f} ms, real {1000 * real:.2f} ms"
            print(f"{strategy}: {times}, ratio {simulated / real:.2f}")
        model.close()


if __name__ == "__main__":
    main()
