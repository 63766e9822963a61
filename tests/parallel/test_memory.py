"""What devices of a pipeline keep: fewer activations where backward passes begin earlier."""

from __future__ import annotations

import numpy as np
import pytest

import playgrad as pg
from playgrad.compiler.segments import Segment
from playgrad.runtime.memory import DeviceMemory, device_memory

rng = np.random.default_rng(0)
X = rng.normal(size=(64, 32)).astype(np.float32)
Y = rng.integers(0, 5, 64)


def trained(schedule: str, kind: str) -> pg.Model:
    with pg.Graph(seed=1).as_default():
        layers = [pg.nn.Dense(32, activation="tanh") for _ in range(5)]
        model = pg.Sequential([*layers, pg.nn.Dense(5)])
    strategy = pg.parallel.Pipeline(3, 8, schedule, stages=(2, 2, 2))
    loss = pg.nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss, device=kind, strategy=strategy)
    model.fit(X, Y, batch_size=64, verbose=0)
    return model


def memory_of(schedule: str, kind: str) -> dict[str, DeviceMemory]:
    model = trained(schedule, kind)
    runnable = model.session.compiled(model.training_targets)
    assert runnable is not None
    model.session.close()
    return device_memory(runnable)


@pytest.mark.parametrize("kind", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_1f1b_needs_less_memory_than_gpipe(kind: str) -> None:
    pg.set_logical_devices(**{kind: 3})
    late, early = memory_of("gpipe", kind), memory_of("1f1b", kind)
    assert list(late) == list(early) == [f"{kind}:{i}" for i in range(3)]
    for device in late:
        assert late[device].variables == early[device].variables
        assert early[device].values < 0.75 * late[device].values
    # Each later stage has fewer micro-batches in flight.
    values = [memory.values for memory in early.values()]
    assert values == sorted(values, reverse=True)


def test_devices_follow_the_schedule() -> None:
    pg.set_logical_devices(cpu=3)
    model = trained("1f1b", "cpu")
    runnable = model.session.compiled(model.training_targets)
    assert runnable is not None
    orders = pg.parallel.Pipeline(3, 8, "1f1b").orders()
    for number, order in enumerate(orders):
        segments: list[Segment] = runnable.compiled.segments[f"cpu:{number}"]
        tasks = [segment.task for segment in segments if segment.task not in ("inputs", None)]
        wanted = [f"{'backward' if e.backward else 'forward'} {e.micro_batch}" for e in order]
        assert tasks == [*wanted, "update"]
    model.session.close()


def test_a_run_leaves_no_values_behind() -> None:
    """What is freed on the way is freed once, and what is fetched is not freed."""
    with pg.Graph().as_default() as graph:
        with pg.device("cpu:1"):
            x = pg.constant([1.0, 2.0]) * 3.0
            y = x + 1.0
        with pg.device("cpu:0"):
            z = y * x
    pg.set_logical_devices(cpu=2)
    with pg.Session(graph, "cpu") as session:
        for _ in range(2):
            np.testing.assert_array_equal(
                np.stack(session.run([x, y, z])), [[3, 6], [4, 7], [12, 42]]
            )
            assert not session.compiled([x, y, z]).values
