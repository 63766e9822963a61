"""The simulator, compared with theory and with real runs."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import GraphError
from playgrad.parallel.pipeline_jobs import pipeline_jobs
from playgrad.parallel.schedules import bubble_formula, make_schedule
from playgrad.parallel.simulator import Interconnect, Job, Machine, jobs_of, measured, simulate_jobs
from playgrad.parallel.step_jobs import BUCKET_BYTES, StageCost, data_parallel_jobs
from playgrad.runtime.session import Session
from playgrad.runtime.timeline import timeline
from playgrad.runtime.trace import Event, Trace
from playgrad.training.device_data import DeviceData
from playgrad.training.stage_costs import machine_of, measure_step
from tests.sweeps import slow


def span(
    jobs: list[Job], link: Interconnect | None = None, machine: Machine | None = None
) -> float:
    trace = simulate_jobs(jobs, link or Interconnect(), machine or Machine())
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
    assert span(jobs, Interconnect(0.5, 100.0)) == pytest.approx(1 + 2 + 0.5 + 2 + 1)


def test_devices_that_share_a_machine_slow_each_other_down() -> None:
    jobs = [Job(str(i), f"d{i}", 1.0, "forward") for i in range(4)]
    two = Machine((1.0, 0.8))
    assert span(jobs) == pytest.approx(1)
    assert span(jobs[:1], machine=two) == pytest.approx(1)
    assert span(jobs[:2], machine=two) == pytest.approx(1 / 0.8)
    # Four together are as fast as two: they do 1.6 seconds of work per second.
    assert span(jobs, machine=two) == pytest.approx(4 / 1.6)
    # 2 seconds together until a has done its 1.0, then b alone has 2.0 to do.
    uneven = [Job("a", "x", 1.0, "forward"), Job("b", "y", 3.0, "forward")]
    assert span(uneven, machine=Machine((1.0, 0.5))) == pytest.approx(2 + 2)


def test_each_job_takes_time_to_begin() -> None:
    """Overhead occupies no device: meanwhile the other one computes at full speed."""
    jobs = [
        Job("a", "x", 1.0, "forward"),
        Job("b", "x", 1.0, "forward", (0,)),
        Job("c", "y", 2.5, "forward"),
    ]
    trace = simulate_jobs(jobs, machine=Machine((1.0, 0.5), 0.25))
    # Two jobs at a time until a ends at 2.25; then c alone for 0.25; then two again.
    assert [(e.name, e.start, e.end) for e in trace.events] == [
        ("a", 0.25, 2.25), ("b", 2.5, 4.5), ("c", 0.25, 4.75),
    ]  # fmt: skip


def test_messages_take_their_latency_besides() -> None:
    jobs = [Job("a", "x", 1.0, "forward"), Job("b", "y", 1.0, "forward", (0,))]
    assert span(jobs, Interconnect(0.5), Machine(overhead=0.25)) == pytest.approx(
        0.25 + 1 + 0.75 + 1
    )


def test_circular_jobs_are_refused() -> None:
    with pytest.raises(RuntimeError, match="circle"):
        simulate_jobs([Job("a", "x", 1.0, "forward", (1,)), Job("b", "x", 1.0, "forward", (0,))])


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "zero_bubble"])
@pytest.mark.parametrize("devices", [1, 4, 16, *slow(64)])
def test_bubbles_match_the_formula(schedule: str, devices: int) -> None:
    micro = 2 * devices
    costs = [StageCost(1.0, 2.0, 0.0, 0, 1000)] * devices
    jobs = pipeline_jobs(costs, make_schedule(schedule, devices, micro))
    times = timeline(simulate_jobs(jobs))
    assert times.bubble == pytest.approx(bubble_formula(schedule, devices, micro))


@pytest.mark.parametrize("devices", [2, 5, 32, *slow(256)])
def test_a_ring_takes_the_time_of_its_formula(devices: int) -> None:
    size, link = 1_000_000, Interconnect(1e-5, 1e9)
    jobs = data_parallel_jobs(StageCost(0.0, 0.0, 0.0, size), devices, "ring")
    # In each of 2 (n - 1) rounds a device sends a part and receives one.
    part = -(-size // devices)
    expected = 2 * (devices - 1) * (1e-5 + 2 * part / 1e9)
    assert span(jobs, link) == pytest.approx(expected, rel=0.02)


def test_the_best_reduction_depends_on_the_message_size() -> None:
    """Few bytes need few messages; many bytes need all links at once."""
    slow_messages, slow_bytes = Interconnect(1e-3, 1e12), Interconnect(0.0, 1e8)
    cost = StageCost(0.0, 0.0, 0.0, 1_000_000)
    times = {
        way: [span(data_parallel_jobs(cost, 32, way), link) for link in (slow_messages, slow_bytes)]
        for way in ("ring", "tree", "central")
    }
    assert times["tree"][0] < times["ring"][0]
    assert times["ring"][1] < times["tree"][1] < times["central"][1]
    with pytest.raises(GraphError, match="no collective"):
        data_parallel_jobs(cost, 2, "star")


@pytest.mark.parametrize("devices", [2, 5])
def test_the_jobs_of_a_step_match_its_graph(devices: int) -> None:
    """Devices do the same work in the same order, with the same dependencies."""
    small, large = 1000, 3 * BUCKET_BYTES
    tasks = {
        size: data_parallel_jobs(StageCost(1.0, 2.0, 3.0, size, adding=0.5), devices)
        for size in (small, large)
    }
    # One bucket: work before the first message, the rounds, and the update after the last one.
    rounds = 2 * (devices - 1)
    names = [job.name for job in tasks[small] if job.device == "device:0"]
    assert names == ["backward 0", *(f"ring {n}" for n in range(1, rounds)), "update"]
    assert sum(job.seconds for job in tasks[small]) == pytest.approx(
        devices * (6.0 + 0.5 * rounds / devices)
    )
    # Three buckets: each is reduced once the next one has been computed.
    ring = ["ring", *(f"ring {n}" for n in range(1, rounds + 1))]
    names = [job.name for job in tasks[large] if job.device == "device:0"]
    assert names == [
        "input", "forward", "backward 0", "backward 1", *ring, "backward 2", *ring, *ring, "update",
    ]  # fmt: skip


def test_stages_update_once_the_first_has() -> None:
    """The first stage's task decides whether the step counts."""
    costs = [StageCost(1.0, 2.0, 3.0, 0, input=0.5), *[StageCost(1.0, 2.0, 1.0, 0)] * 2]
    trace = simulate_jobs(pipeline_jobs(costs, make_schedule("gpipe", 3, 1)))
    updates = {e.device: (e.start, e.end) for e in trace.events if e.name == "update"}
    # After the input, and three passes forward and three backward.
    assert updates == {"device:0": (9.5, 12.5), "device:1": (12.5, 13.5), "device:2": (12.5, 13.5)}


def trained(batch: int) -> tuple[pg.Sequential, DeviceData]:
    model = pg.Sequential([nn.Dense(32, activation="relu"), nn.Dense(2)])
    model.compile(optimizer=pg.optim.Adam(), loss=nn.MeanSquaredError(), device="cpu")
    x = np.ones((batch, 8), np.float32)
    model.fit(x, x[:, :2], batch_size=batch, epochs=1, verbose=0)
    return model, model.recipe.data["train"]


@pytest.mark.parametrize("micro_batches", [1, 8])
def test_the_costs_of_a_stage_are_the_sum_of_its_parts(micro_batches: int) -> None:
    model, data = trained(16)
    ((single,), alone), (parts, _) = (
        measure_step(model.recipe, data, 4, stages, micro_batches) for stages in ([0, 0], [0, 1])
    )
    model.close()
    for cost in (single, *parts):
        assert min(cost.forward, cost.backward, cost.update, cost.adding) > 0
    assert single.parameters == sum(part.parameters for part in parts)
    assert [part.activations for part in parts] == [4 * 32 * 4, 0]
    assert single.input > 0 and parts[1].input == 0
    assert alone.rates == ()  # devices share nothing
    assert 0 < alone.overhead < 0.1 and 0 < alone.between < 1


def trace_of_devices(devices: int, seconds: float, gap: float, noise: float = 0.0) -> Trace:
    """Return two passes and an update on each of ``devices`` devices, each after a gap."""
    trace = Trace()
    for device in range(devices):
        now = 0.0
        for task in ("forward 0", "backward 0", "update"):
            trace.events.append(
                Event(f"cpu:{device} {task}", f"cpu:{device}", now, now, now + seconds)
            )
            now += seconds + gap + noise
        # Not part of the measured work.
        trace.events.append(Event(f"cpu:{device} inputs", f"cpu:{device}", now, now, now + 100))
    return trace


def test_rates_of_a_machine_ignore_noise_and_overhead() -> None:
    """A rate is the least time over the median; gaps between tasks are overhead, not slowness."""
    alone = [trace_of_devices(1, seconds, 0.1) for seconds in (1.25, 1.0, 2.0)]
    together = [trace_of_devices(2, 2.0, 0.25, noise) for noise in (0.0, 0.0, 5.0)]
    machine = machine_of([alone, together])
    assert machine.overhead == pytest.approx(0.25)
    assert machine.rates == pytest.approx((3.0 / 3.75, 3.0 / 6.0))


@pytest.mark.parametrize("stages", [[0, 0], [0, 1]])
def test_a_machine_is_measured_with_so_many_lanes_at_work(stages: list[int]) -> None:
    model, data = trained(16)
    _, machine = measure_step(model.recipe, data, 4, stages, 2, 2)
    model.close()
    assert all(0 < rate <= 1 for rate in machine.rates)
    assert len(machine.rates) == min(2, os.cpu_count() or 1)
    assert machine.overhead > 0


NAP = 0.04


def test_the_real_timeline_is_as_simulated() -> None:
    """Work of known duration on three devices ends within 20 % of the simulated time."""

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
            for hop in range(3):  # from device to device, in a circle
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
