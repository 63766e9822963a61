"""Steps, run with NumPy on planned memory: every operation, random programs, whole networks."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import playgrad as pg
from playgrad import nn, ops
from playgrad.compiler.compile import run_passes
from playgrad.compiler.place import Policy
from playgrad.compiler.segments import Segment
from playgrad.compiler.steps import Place
from playgrad.compiler.steps_data import steps_of
from playgrad.contract.cases import cases_of, operations
from playgrad.contract.on_device import check_gradients, check_values
from playgrad.devices import registry
from playgrad.devices.kinds import CPU, FIRST_GPU, HOST
from playgrad.graph.opdef import OpDef, lookup
from playgrad.runtime.cpu_server import Server
from playgrad.runtime.options import get_options, options_set
from playgrad.runtime.session import Session
from playgrad.runtime.steps_runner import StepsRunner
from tests.compiler.random_programs import Sampled, sampled_programs
from tests.runtime.test_interpreters import LocalConnection
from tests.sweeps import examples

OPERATIONS = operations()


@pytest.fixture(scope="module", autouse=True)
def interpreter() -> Iterator[None]:
    """A second processor, whose interpreter runs Steps."""
    registry.set_logical_devices(cpu=2)
    with registry.interpreters(lambda name: LocalConnection(Server())):
        yield
    registry.reset_logical_devices()


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_steps_give_the_values_and_gradients_of_the_reference(op: OpDef) -> None:
    cases = cases_of(op)
    check_values(op, cases, "cpu:1")
    if any(case.differentiable for case in cases):
        check_gradients(op, cases, "cpu:1")


# Fused, with variables that are overwritten, as a compiled processor may do it.
IN_PLACE = replace(CPU, updates_in_place=True)


@examples(60)
@given(sampled_programs())
def test_fused_steps_in_place_give_the_values_of_random_programs(sampled: Sampled) -> None:
    with Session(sampled.program.graph, HOST) as session:
        session.assign(sampled.state)
        run = [sampled.program.fetches, sampled.program.targets]
        expected = session.run(run, sampled.feed_dict())[0]
        state = {name: session.value(name) for name in sampled.state}

    places, memory = {}, bytearray()
    for name, array in sampled.state.items():
        places[name] = Place("state", len(memory))
        memory += array.tobytes() + bytes(-array.nbytes % 256)
    program = sampled.program
    compiled = run_passes(program, sampled.shapes, Policy(FIRST_GPU, [HOST, FIRST_GPU]))
    segments = compiled.segments[FIRST_GPU]
    data = steps_of(segments, compiled.program.fetches, places, IN_PLACE)
    external = {"state": np.frombuffer(memory, np.uint8)}
    runner = StepsRunner(json.loads(json.dumps(data)), external, "cpu:0")
    assert data["writes"] == []
    runner.feed(
        {
            name: array
            for fed, array in sampled.feeds.items()
            if (name := program.feeds[fed].node.name) in data["feeds"]
        }
    )
    runner.run(0, lambda: False)
    results = runner.results([tensor.name for tensor in compiled.program.fetches])
    for actual, value in zip(results, expected, strict=True):
        np.testing.assert_allclose(actual, value, rtol=1e-5, atol=1e-6)
    for name, value in state.items():
        offset = places[name].offset
        actual = np.frombuffer(memory, value.dtype, value.size, offset).reshape(value.shape)
        np.testing.assert_allclose(actual, value, rtol=1e-5, atol=1e-6)


NETWORKS: dict[str, list[Any]] = {
    "convolution": [
        nn.Conv2D(4, 3, activation="relu"),
        nn.BatchNormalization(),
        nn.MaxPooling2D(),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Dense(3),
    ],
    "recurrence": [nn.Reshape((12, 12)), nn.LSTM(5), nn.LayerNormalization(), nn.Dense(3)],
    "attention": [
        nn.Reshape((12, 12)),
        nn.Dense(8),
        nn.MultiHeadAttention(2, 4),
        nn.GlobalAveragePooling1D(),
        nn.Dense(3),
    ],
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_train_alike_by_steps(name: str) -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=(40, 12, 12, 1)).astype(np.float32)
    y = random.integers(0, 3, 40)
    results = []
    for device in (HOST, "cpu:1"):
        with options_set(replace(get_options(), seed=4)):
            model = pg.Sequential(copy.deepcopy(NETWORKS[name]))
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(pg.optim.Adam(0.01), loss, metrics=["accuracy"], device=device)
        assert model.session.device == device
        history = model.fit(x, y, batch_size=16, epochs=2, verbose=0)
        results.append([history.losses, model.predict(x), *model.get_weights()])
    for first, second in zip(*results, strict=True):
        np.testing.assert_array_equal(first, second)


def test_what_a_later_segment_sends_lives_until_then() -> None:
    with pg.Graph().as_default() as graph:
        x = ops.placeholder("float32", [64], name="x")
        sent, other = ops.relu(x), ops.neg(x)
        later = [ops.exp(other)]
        for _ in range(4):
            later.append(ops.neg(later[-1]))
        send = graph.add(lookup("send"), [sent], {"channel": "c"})
    first = Segment("cpu:1", 0, [x.node, sent.node, other.node])
    second = Segment("cpu:1", 1, [*(tensor.node for tensor in later), send])
    data = steps_of([first, second], [later[-1]], {}, CPU)
    runner = StepsRunner(data, {}, "cpu:1")
    value = np.linspace(-1, 1, 64, dtype=np.float32)
    runner.feed({"x": value})
    for segment in range(2):
        runner.run(segment, lambda: False)
    results = runner.results([sent.name, later[-1].name])
    np.testing.assert_array_equal(results[0], np.maximum(value, 0))
    np.testing.assert_allclose(results[1], np.exp(-value), rtol=1e-6)
