"""Every pipeline that can be run can be simulated: the same passes in the same order."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.parallel import Pipeline
from playgrad.parallel.pipeline_jobs import pipeline_jobs
from playgrad.parallel.schedules import SCHEDULES, bubble, bubble_formula, make_schedule
from playgrad.parallel.simulator import Interconnect, simulate_jobs
from playgrad.parallel.step_jobs import StageCost
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.timeline import TRANSFERS, timeline
from playgrad.runtime.trace import Trace

X = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
Order = dict[int, list[str]]


def plain() -> list[nn.Layer]:
    return [*(nn.Dense(12, "tanh") for _ in range(7)), nn.Dense(2)]


def divided() -> list[nn.Layer]:
    return [
        *nn.parallel_mlp(16, 8, ["cpu:0", "cpu:1"]),
        *nn.parallel_mlp(16, 8, ["cpu:2", "cpu:3"]),
        nn.Dense(2),
    ]


def passes(trace: Trace) -> Order:
    """Return the passes of each device by its number, in the order in which they began."""
    order: Order = {}
    for event in sorted(trace.events, key=lambda event: event.start):
        if event.kind in TRANSFERS:
            continue
        name = event.name.removeprefix(f"{event.device} ").partition(",")[0]
        number = int(event.device.partition(":")[2])
        of_device = order.setdefault(number, [])
        if re.match(r"(forward|backward|weights) ", name) and name not in of_device:
            of_device.append(name)
    return order


def executed(strategy: Pipeline, layers: list[nn.Layer]) -> Order:
    """Return the passes of a training step that is run."""
    pg.set_logical_devices(cpu=strategy.width)
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([pg.Input((8,)), *layers])
    model.compile("adam", "mse", device="cpu", strategy=strategy)
    trace = Trace()
    with options_set(Options(trace=trace)):
        model.fit(X, X[:, :2], 64, 2, 0)
    model.close()
    return passes(trace)


def simulated(strategy: Pipeline, cost: StageCost) -> Order:
    work = strategy.simulation()
    return passes(simulate_jobs(work.jobs([cost] * work.stages)))


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("devices", "micro_batches"), [(2, 4), (4, 4), (3, 5)])
def test_the_simulated_order_of_passes_matches_the_executor(
    schedule: str, devices: int, micro_batches: int
) -> None:
    strategy = Pipeline(devices, micro_batches, schedule)
    order = executed(strategy, plain())
    assert order == simulated(strategy, StageCost(1.0, 2.0, 0.5, 1000, 100))
    assert sum(map(len, order.values())) >= 2 * strategy.stage_count * micro_batches


@pytest.mark.parametrize("schedule", ["1f1b", "dualpipe"])
def test_the_simulated_order_of_replicas_matches_the_executor(schedule: str) -> None:
    strategy = Pipeline(4, 2, schedule, replicas=2)
    assert executed(strategy, plain()) == simulated(strategy, StageCost(1.0, 2.0, 0.5, 1000, 100))


@pytest.mark.parametrize(
    ("schedule", "replicas"), [("gpipe", 1), ("1f1b", 2), ("zero_bubble", 1), ("bidirectional", 1)]
)
def test_the_simulated_order_of_wide_stages_matches_the_executor(
    schedule: str, replicas: int
) -> None:
    strategy = Pipeline(4 * replicas, 2, schedule, replicas=replicas, devices_per_stage=2)
    cost = StageCost(1.0, 2.0, 0.5, 1000, 100, divided=0.9, exchanges=1, exchanged=100)
    real, predicted = executed(strategy, divided()), simulated(strategy, cost)
    for number in range(0, 4 * replicas, 2):  # the others do what the first of their stage sends
        assert real[number] == predicted[number]
    assert {number: sorted(names) for number, names in predicted.items()} == {
        number: sorted(names) for number, names in real.items()
    }


@pytest.mark.parametrize("schedule", [*SCHEDULES])
@pytest.mark.parametrize("devices", [2, 4, 8])
def test_simulated_bubbles_match_the_formula(schedule: str, devices: int) -> None:
    """Passes take as long as the formulas say, and nothing else takes time.

    The first stage need not compute the gradients of its inputs, which DualPipe's order does not
    know of: the prediction is of what runs, and may differ from the formula by a unit of time.
    """
    micro = 2 * devices
    chunks = 2 if schedule == "interleaved" else 1
    orders = make_schedule(schedule, devices, micro, chunks)
    jobs = pipeline_jobs([StageCost(1.0, 2.0, 0.0, 0, 1000)] * devices * chunks, orders)
    predicted = timeline(simulate_jobs(jobs)).bubble
    expected = bubble_formula(schedule, devices, micro, chunks)
    assert bubble(orders) == pytest.approx(expected)
    slack = 1 / (3 * micro) if schedule == "dualpipe" else 1e-9
    assert predicted == pytest.approx(expected, abs=slack)


def test_two_streams_add_up_their_gradients() -> None:
    """Each device has two stages, and exchanges the gradients of both with one other."""
    costs = [StageCost(0.0, 0.0, 3.0, 1_000_000, 0)] * 4
    link = Interconnect(0.0, 1e6)
    for way, seconds in (("ring", 8.0), ("tree", 8.0), ("central", 8.0)):
        jobs = pipeline_jobs(costs, make_schedule("bidirectional", 4, 4), way)
        moved = sum(job.sent for job in jobs)
        assert moved == 8_000_000  # for each of 4 stages, there and back
        trace = simulate_jobs(jobs, link)
        updates = [event for event in trace.events if event.name == "update"]
        assert {event.end - event.start for event in updates} == {6.0}
        assert max(event.end for event in trace.events) >= seconds
    alone = pipeline_jobs(costs, make_schedule("1f1b", 4, 4))
    assert sum(job.sent for job in alone) == 0


def test_replicas_add_up_their_gradients() -> None:
    costs = [StageCost(1.0, 2.0, 0.0, 1_000_000, 0)] * 2
    one = pipeline_jobs(costs, make_schedule("1f1b", 2, 4))
    two = pipeline_jobs(costs, make_schedule("1f1b", 2, 4), "ring", replicas=2)
    assert sum(job.seconds for job in two) == 2 * sum(job.seconds for job in one)
    assert sum(job.sent for job in two) == 4_000_000
    assert {job.device for job in two} == {f"device:{number}" for number in range(4)}


def test_devices_of_a_stage_divide_its_work() -> None:
    cost = StageCost(4.0, 8.0, 2.0, 1000, 100, divided=0.75, exchanges=2, exchanged=10)
    orders = make_schedule("gpipe", 2, 1)
    jobs = pipeline_jobs([cost] * 2, orders, width=3)
    seconds = {f"device:{n}": 0.0 for n in range(6)}
    for job in jobs:
        seconds[job.device] += job.seconds
    first, other = 14.0 * (0.25 + 0.75 / 3), 14.0 * 0.75 / 3
    for number in range(6):
        expected = other if number % 3 else first
        assert seconds[f"device:{number}"] == pytest.approx(expected)
    # A pass sends two copies twice, and two devices send back their results twice.
    within = 4 * (2 * 2 * 10 + 2 * 2 * 10)
    assert sum(job.sent for job in jobs) == within + 2 * 100
    # Layers that are not divided are the work of the first device alone.
    whole = pipeline_jobs([StageCost(4.0, 8.0, 2.0, 1000, 100)] * 2, orders, width=3)
    assert {job.device for job in whole} == {"device:0", "device:3"}
    times: list[Any] = [timeline(simulate_jobs(each)).seconds for each in (jobs, whole)]
    assert times[0] < times[1]


def test_asynchronous_updates_follow_each_backward_pass() -> None:
    strategy = Pipeline(2, 3, "pipedream")
    jobs = strategy.simulation().jobs([StageCost(1.0, 2.0, 0.5, 1000, 100)] * 2)
    last = [job.name for job in jobs if job.device == "device:1"]
    assert last == [
        *(f"{kind} {n}" for n in range(3) for kind in ("forward", "backward", "update")),
        "update",
    ]
    assert sum(job.seconds for job in jobs if job.kind == "update") == pytest.approx(3.0)
