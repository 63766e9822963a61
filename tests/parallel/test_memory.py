"""Memory of a pipeline's devices: earlier backward passes keep fewer activations."""

from __future__ import annotations

import numpy as np
import pytest

import playgrad as pg
from playgrad.compiler.compile import compile_program
from playgrad.compiler.place import Policy
from playgrad.compiler.plan import PlanBuilder
from playgrad.compiler.program import Program
from playgrad.compiler.steps import Place
from playgrad.devices.target import Limits, Target
from playgrad.ops.state import is_variable
from playgrad.parallel import collectives
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.partition import take_apart
from playgrad.parallel.passes import INPUTS
from playgrad.parallel.rewrite import rewrite
from playgrad.parallel.schedules import TWO_STREAMS, make_schedule, simulate
from playgrad.runtime.memory import device_memory
from playgrad.training.device_data import BatchStream
from playgrad.training.step_graphs import build_train_step

rng = np.random.default_rng(0)
X = rng.normal(size=(64, 32)).astype(np.float32)
Y = rng.integers(0, 5, 64).astype(np.int32)
DEVICES, MICRO_BATCHES, STAGES = 3, 8, (0, 0, 1, 1, 2, 2)


def compiled_model(strategy: pg.parallel.Pipeline | None) -> pg.Model:
    with pg.Graph(seed=1).as_default():
        layers = [pg.nn.Dense(32, activation="tanh") for _ in range(5)]
        model = pg.Sequential([*layers, pg.nn.Dense(5)])
    loss = pg.nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss, device="cpu", strategy=strategy)
    return model


def trained(schedule: str) -> pg.Model:
    model = compiled_model(pg.parallel.Pipeline(DEVICES, MICRO_BATCHES, schedule, stages=(2, 2, 2)))
    model.fit(X, Y, batch_size=64, verbose=0)
    return model


def bytes_on_cpus(schedule: str) -> list[int]:
    model = trained(schedule)
    runnable = model.session.compiled(model.training_targets)
    assert runnable is not None
    memory = device_memory(runnable)
    model.session.close()
    assert list(memory) == [f"cpu:{i}" for i in range(DEVICES)]
    assert all(used.variables >= 2 * 4 * 32 * 33 for used in list(memory.values())[:2])
    return [used.values for used in memory.values()]


def bytes_on_gpus(schedule: str) -> list[int]:
    """Return the bytes of the Plans, which need no GPUs to be built."""
    model = compiled_model(None)
    model.build((32,))
    data = model.recipe.data.upload("train", [X], [Y])
    step = build_train_step(model.recipe, BatchStream(data, 64), STAGES)
    names = tuple(f"gpu:{i}" for i in range(DEVICES))
    passes = tuple(item.entry for item in simulate(make_schedule(schedule, DEVICES, MICRO_BATCHES)))
    distribution = Distribution((names,), passes, collectives.get("central"))
    rewritten = rewrite(take_apart(step.run), 64, distribution, "pipeline")
    policy = Policy("gpu:0", names, lambda node: rewritten.homes.get(node.name))
    compiled = compile_program(Program(model.graph, targets=[rewritten.run]), {}, policy)
    places = {
        node.name: Place("state", 256 * number)
        for number, node in enumerate(filter(is_variable, compiled.order))
    }
    plans = [
        PlanBuilder(
            compiled.segments[name],
            compiled.program.fetches,
            Target(True, Limits()),
            places,
        ).build()
        for name in names
    ]
    model.session.close()
    return [sum(buffer["size"] for buffer in plan["buffers"]) for plan in plans]


def test_1f1b_needs_less_memory_than_gpipe() -> None:
    pg.set_logical_devices(cpu=DEVICES)
    for measure in (bytes_on_cpus, bytes_on_gpus):
        late, early = measure("gpipe"), measure("1f1b")
        assert all(b < 0.75 * a for a, b in zip(late, early, strict=True)), (late, early)
        # A later stage has fewer micro-batches in flight.
        assert early[0] > early[1] > early[2]


@pytest.mark.parametrize(
    ("schedule", "stages"),
    [
        ("gpipe", (2, 2, 2)),
        ("1f1b", (2, 2, 2)),
        ("interleaved", (1,) * 6),
        ("bidirectional", (2, 2, 2)),
        ("zero_bubble", (2, 2, 2)),
        ("dualpipe", (2, 2, 2)),
        ("pipedream", (2, 2, 2)),
    ],
)
def test_devices_follow_the_schedule(schedule: str, stages: tuple[int, ...]) -> None:
    """Each pass is exactly one segment, in the order of the schedule."""
    pg.set_logical_devices(cpu=DEVICES)
    strategy = pg.parallel.Pipeline(DEVICES, MICRO_BATCHES, schedule, stages=stages)
    model = compiled_model(strategy)
    model.fit(X, Y, batch_size=64, verbose=0)
    runnable = model.session.compiled(model.training_targets)
    assert runnable is not None
    for number, order in enumerate(strategy.orders()):
        segments = runnable.compiled.segments[f"cpu:{number}"]
        tasks = [segment.task or "" for segment in segments]
        expected = []
        for entry in order:
            if entry.stage == 0 and entry.part == INPUTS:
                continue  # nothing waits for the gradients of the first stage's inputs
            name = f"{entry.kind} {entry.micro_batch}"
            name += f" of stage {entry.stage}" if schedule == "interleaved" else ""
            name += f" of stream {entry.stream}" if schedule in TWO_STREAMS else ""
            expected.append(name)
        assert [
            task for task in tasks if task.startswith(("forward", "backward", "weights"))
        ] == expected
        if schedule == "pipedream":  # each backward pass is followed by its update
            for place, task in enumerate(tasks):
                if task.startswith("backward"):
                    assert tasks[place + 1] == f"update {task.split()[1]}"
        else:
            assert tasks[-1] == "update"
    model.close()


def test_a_run_leaves_no_values_behind() -> None:
    """Values are freed once during a run, and fetched values are not freed."""
    pg.set_logical_devices(cpu=2)
    with pg.Graph().as_default() as graph:
        with pg.device("cpu:1"):
            x = pg.placeholder("float32", [2]) * 3.0
            y = x + 1.0
        with pg.device("cpu:0"):
            z = y * x
    feeds = {graph.tensor("placeholder:0"): np.float32([1, 2])}
    with pg.Session(graph, "cpu") as session:
        for _ in range(2):
            values = session.run([x, y, z], feeds)
            np.testing.assert_array_equal(np.stack(values), [[3, 6], [4, 7], [12, 42]])
        runnable = session.compiled([x, y, z], feeds)
        assert runnable is not None and not runnable.values.tensors
        assert sum(map(len, runnable.dying.values())) > 0
