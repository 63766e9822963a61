"""The simulator: against theory, and against what really happened."""

from __future__ import annotations

import time

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import GraphError
from playgrad.nn.layer_costs import stage_costs
from playgrad.nn.resident import Resident
from playgrad.parallel.many import StageCost, data_parallel_jobs, pipeline_jobs
from playgrad.parallel.schedules import bubble_formula, make_schedule
from playgrad.parallel.simulator import Job, Network, jobs_of, measured, simulate_jobs
from playgrad.runtime.session import Session
from playgrad.runtime.timeline import timeline
from playgrad.runtime.trace import Trace


def span(jobs: list[Job], link: Network | None = None, processors: int | None = None) -> float:
    trace = simulate_jobs(jobs, link or Network(), processors)
    return max(event.end for event in trace.events)


def test_a_device_does_one_job_after_the_other() -> None:
    jobs = [
        Job("a", "x", 1.0, "forward"),
        Job("b", "x", 2.0, "forward"),
        Job("c", "y", 2.5, "forward"),
    ]
    trace = simulate_jobs(jobs)
    assert [(e.name, e.start, e.end) for e in trace.events] == [
        ("a", 0, 1), ("c", 0, 2.5), ("b", 1, 3),
    ]  # fmt: skip


def test_transfers_take_latency_and_bandwidth() -> None:
    jobs = [
        Job("a", "x", 1.0, "forward", sent=200),
        Job("b", "y", 1.0, "forward", (0,), received=200),
    ]
    assert span(jobs, Network(0.5, 100.0)) == pytest.approx(1 + 2 + 0.5 + 2 + 1)


def test_devices_that_share_processors_slow_each_other_down() -> None:
    jobs = [Job(str(i), f"d{i}", 1.0, "forward") for i in range(4)]
    assert span(jobs) == pytest.approx(1)
    assert span(jobs, processors=2) == pytest.approx(2)
    uneven = [Job("a", "x", 1.0, "forward"), Job("b", "y", 3.0, "forward")]
    assert span(uneven, processors=1) == pytest.approx(4)


def test_jobs_in_a_circle() -> None:
    with pytest.raises(RuntimeError, match="circle"):
        simulate_jobs([Job("a", "x", 1.0, "forward", (1,)), Job("b", "x", 1.0, "forward", (0,))])


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b"])
@pytest.mark.parametrize("devices", [1, 4, 64])
def test_bubbles_are_those_of_the_formula(schedule: str, devices: int) -> None:
    micro = 2 * devices
    costs = [StageCost(1.0, 2.0, 0.0, 0, 1000)] * devices
    jobs = pipeline_jobs(costs, make_schedule(schedule, devices, micro))
    times = timeline(simulate_jobs(jobs))
    assert times.bubble == pytest.approx(bubble_formula(schedule, devices, micro))


@pytest.mark.parametrize("devices", [2, 5, 256])
def test_a_ring_takes_the_time_of_its_formula(devices: int) -> None:
    size, link = 1_000_000, Network(1e-5, 1e9)
    jobs = data_parallel_jobs(StageCost(0.0, 0.0, 0.0, size), devices, "ring")
    # In each of 2 (n - 1) rounds a device sends a part and receives one.
    part = -(-size // devices)
    expected = 2 * (devices - 1) * (1e-5 + 2 * part / 1e9)
    assert span(jobs, link) == pytest.approx(expected, rel=0.02)


def test_ways_of_adding_up_on_many_devices() -> None:
    """Few bytes want few messages, many bytes want all links at work."""
    slow_messages, slow_bytes = Network(1e-3, 1e12), Network(0.0, 1e8)
    cost = StageCost(0.0, 0.0, 0.0, 1_000_000)
    times = {
        way: [span(data_parallel_jobs(cost, 64, way), link) for link in (slow_messages, slow_bytes)]
        for way in ("ring", "tree", "central")
    }
    assert times["tree"][0] < times["ring"][0]
    assert times["ring"][1] < times["tree"][1] < times["central"][1]
    with pytest.raises(GraphError, match="no collective"):
        data_parallel_jobs(cost, 2, "star")


def test_what_is_measured_of_a_single_stage_is_that_of_its_parts() -> None:
    model = pg.Sequential([nn.Dense(32, activation="relu"), nn.Dense(2)])
    model.compile(optimizer=pg.optim.Adam(), loss=nn.MeanSquaredError(), device="cpu")
    x = np.ones((16, 8), np.float32)
    model.fit(x, x[:, :2], batch_size=16, epochs=1, verbose=0)
    data = next(item for item in model.cache.values() if isinstance(item, Resident))
    (whole,), parts = (stage_costs(model, data, 16, stages) for stages in ([0, 0], [0, 1]))
    model.close()
    for cost in (whole, *parts):
        assert min(cost.forward, cost.backward, cost.update) > 0
    assert whole.parameters == sum(part.parameters for part in parts)


NAP = 0.04


def test_the_real_timeline_is_as_simulated() -> None:
    """A program over three devices whose work takes a known time: within a fifth."""

    def nap(inputs: list[np.ndarray], attrs: dict) -> list[np.ndarray]:
        time.sleep(NAP)
        return [inputs[0] + 1]

    from playgrad.graph.opdef import OpDef

    op = OpDef("nap", lambda inputs, attrs: [inputs[0]], nap)
    graph = pg.Graph()
    pg.set_logical_devices(cpu=3)
    with graph.as_default():
        x = pg.placeholder("float32", (4,), name="x")
        ends = []
        for device in range(3):
            value = x
            for hop in range(3):  # from device to device, and so round
                with graph.device(f"cpu:{(device + hop) % 3}"), graph.task(f"{device}.{hop}"):
                    value = graph.add(op, [value]).output
            ends.append(value)
        with graph.device("cpu:0"):
            total = ends[0] + ends[1] + ends[2]
    with Session(graph, "cpu") as session:
        feeds = {x: np.zeros(4, np.float32)}
        session.run(total, feeds)
        traces = [Trace() for _ in range(3)]
        for trace in traces:
            np.testing.assert_array_equal(session.run(total, feeds, trace=trace), np.full(4, 9.0))
        runnable = session.compiled(total, feeds)
    assert runnable is not None
    simulated = timeline(simulate_jobs(jobs_of(runnable, measured(traces))))
    real = min((timeline(trace) for trace in traces), key=lambda times: times.seconds)
    assert simulated.seconds == pytest.approx(real.seconds, rel=0.2)
    assert simulated.bytes_moved == real.bytes_moved
    assert {d.device for d in simulated.devices} == {d.device for d in real.devices}
