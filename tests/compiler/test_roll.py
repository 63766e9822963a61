"""Steps of recurrent layers as one operation: what the pass finds, and that values stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compiler import roll as rolling
from playgrad.compiler.compile import run_passes
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.devices.target import Limits, Target
from playgrad.devices.tuning import HARDWARE, STEPS
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable
from tests.compiler.interpreter import interpret

GPU = "gpu:0"
HARD = Target(is_software=False, limits=Limits())
Build = Callable[[pg.Tensor], pg.Tensor]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small layers are rolled as large ones are."""
    monkeypatch.setattr(rolling, "MOST_IN_CHAINS", 0)


def rolled(
    build: Build, shape: tuple[int, int, int] = (3, 8, 4), target: Target = HARD
) -> list[Node]:
    """Compile a loss of ``build`` with its gradients, compare all values with those of the graph,
    and return the recurrences."""
    random = np.random.default_rng(0)
    graph = pg.Graph()
    with graph.as_default():
        x = pg.placeholder("float32", shape, "x")
        y = build(x)
        weights = random.standard_normal(y.shape).astype(np.float32)
        loss = pg.reduce_sum(pg.square(y) * weights)
        variables = [node for node in graph.nodes if is_variable(node)]
        trained = [node.output for node in variables if node.attrs["trainable"]]
        found = [each for each in pg.gradients(loss, [x, *trained]) if each is not None]
    state = {
        node.name: np.asarray(0.5 * random.standard_normal(node.output.shape), node.output.dtype)
        for node in variables
    }
    feeds = {"x": random.standard_normal(shape).astype(np.float32)}
    feeds["x"][:, shape[1] // 2] *= 0  # a step for masks to leave out
    program = Program(graph, [loss, y, *found], feeds={"x": x})
    policy = Policy(GPU, [GPU], target={GPU: target}.get)
    result = run_passes(program, {"x": shape}, policy).program
    expected, _ = interpret(program, feeds, state)
    actual, _ = interpret(result, feeds, state)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    return [node for node in result.order() if node.op.name == "recurrence"]


LAYERS: dict[str, Callable[..., nn.Layer]] = {
    "LSTM": nn.LSTM,
    "GRU": nn.GRU,
    "SimpleRNN": nn.SimpleRNN,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "sequences": {"return_sequences": True},
    "backwards": {"go_backwards": True, "return_sequences": True},
    "without bias": {"use_bias": False},
    "relu": {"activation": "relu"},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("kind", LAYERS.values(), ids=LAYERS)
def test_a_layer_is_one_recurrence_each_way(
    kind: Callable[..., nn.Layer], options: dict[str, Any]
) -> None:
    forward, backward = rolled(kind(5, **options))
    assert forward.attrs["steps"] == 7 and 5 <= backward.attrs["steps"] <= 7


def masked(layer: nn.Layer) -> Build:
    return lambda x: layer(nn.Masking()(x), training=True)


@pytest.mark.parametrize("kind", LAYERS.values(), ids=LAYERS)
def test_masks_and_dropout_are_part_of_a_step(kind: Callable[..., nn.Layer]) -> None:
    for options in (
        {},
        {"zero_output_for_mask": True, "return_sequences": True},
        {"dropout": 0.3, "recurrent_dropout": 0.4, "return_sequences": True},
    ):
        assert len(rolled(masked(kind(3, **options)))) == 2


def test_gates_may_be_reset_before_the_product() -> None:
    forward, backward = rolled(nn.GRU(4, reset_after=False, return_sequences=True))
    products = [each["op"] for each in forward.attrs["body"]].count("matmul")
    assert products == 2 and backward.attrs["steps"] >= 5


def test_stacked_layers_in_both_directions() -> None:
    def build(x: pg.Tensor) -> pg.Tensor:
        return nn.LSTM(4)(nn.Bidirectional(nn.GRU(3, return_sequences=True))(x))

    assert len(rolled(build)) == 6


def test_initial_and_final_states() -> None:
    def build(x: pg.Tensor) -> pg.Tensor:
        first = x[:, 0]
        y, hidden, memory = nn.LSTM(4, return_sequences=True, return_state=True)(
            x, initial_state=[first, pg.tanh(first)]
        )
        return pg.concat([pg.reduce_sum(y, axis=1), hidden, memory * 2.0], 1)

    forward, backward = rolled(build)
    assert forward.attrs["steps"] == 8 and backward.attrs["steps"] == 7


def test_steps_of_a_program_of_its_own() -> None:
    """A state that is more than one product, with weights of two layers in a step."""

    def build(x: pg.Tensor) -> pg.Tensor:
        inner = pg.Variable(np.eye(4, 6, dtype=np.float32), name="inner")
        outer = pg.Variable(np.eye(6, 4, dtype=np.float32), name="outer")
        state, sums = x[:, 0], pg.zeros((3, 1))
        for t in range(1, 8):
            wide = pg.relu(pg.matmul(state, inner))
            sums = sums * 0.5 + 1.0
            state = pg.tanh(pg.matmul(wide, outer) + x[:, t]) + state * 0.1
        return pg.concat([state, sums], 1)

    assert len(rolled(build)) == 2


def test_chains_with_the_same_weights_stay_apart() -> None:
    def build(x: pg.Tensor) -> pg.Tensor:
        layer = nn.SimpleRNN(4)
        return layer(x) * layer(pg.flip(x, 1))

    assert len(rolled(build)) == 4


@pytest.mark.parametrize("shape", [(1, 9, 4), (65, 6, 4), (2, 5, 1), (3, 6, 4)], ids=str)
def test_odd_shapes(shape: tuple[int, int, int]) -> None:
    assert len(rolled(nn.LSTM(1, return_sequences=True), shape)) == 2
    assert len(rolled(nn.GRU(7), shape)) >= 1


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_few_steps_stay_unrolled(steps: int) -> None:
    assert not rolled(nn.LSTM(5), (3, steps, 4))


def test_what_mixes_rows_between_steps_is_not_rolled() -> None:
    def build(x: pg.Tensor) -> pg.Tensor:
        weights = pg.Variable(np.eye(4, dtype=np.float32), name="weights")
        state = x[:, 0]
        for t in range(1, 8):
            state = pg.softmax(pg.matmul(state, weights) + x[:, t], axis=0)
        return state

    assert not rolled(build)


def test_what_depends_on_the_last_step_elsewhere_is_not_rolled() -> None:
    """Each step reads a number that is computed of the whole state before it."""

    def build(x: pg.Tensor) -> pg.Tensor:
        weights = pg.Variable(np.eye(4, dtype=np.float32), name="weights")
        state = x[:, 0]
        for t in range(1, 8):
            state = pg.tanh(pg.matmul(state, weights) * pg.reduce_mean(state) + x[:, t])
        return state

    assert not rolled(build)


def test_large_layers_and_small_ones_stay_unrolled(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not rolled(nn.LSTM(300), (2, 6, 4))  # too many weights
    narrow = replace(HARD, limits=Limits(max_compute_workgroup_storage_size=64))
    assert not rolled(nn.LSTM(5), target=narrow)
    few = replace(HARD, limits=Limits(max_storage_buffers_per_shader_stage=2))
    assert not rolled(nn.LSTM(5), target=few)
    hurried = replace(HARD, most_rounds=2100)
    assert not rolled(nn.LSTM(40), (3, 40, 4), hurried)
    steps = replace(HARD, measured=replace(HARDWARE, recurrence=STEPS))
    assert not rolled(nn.LSTM(5), target=steps)
    monkeypatch.undo()
    assert not rolled(nn.LSTM(5))


def test_few_buffers_are_bound() -> None:
    """Gates of another activation are a dozen operations, whose results the gradient reads."""
    for node in rolled(masked(nn.LSTM(5, activation="relu", recurrent_dropout=0.5))):
        assert len(node.inputs) + len(node.outputs) <= Limits().max_storage_buffers_per_shader_stage


def test_values_within_a_recurrence_can_be_fetched() -> None:
    graph = pg.Graph()
    with graph.as_default():
        x = pg.placeholder("float32", (3, 8, 4), "x")
        y = nn.LSTM(5)(x)
        cells = [node for node in graph.nodes if node.op.name == "lstm_cell"]
    program = Program(graph, [y, cells[4].outputs[1]], feeds={"x": x})
    policy = Policy(GPU, [GPU], target={GPU: HARD}.get)
    result = run_passes(program, {"x": (3, 8, 4)}, policy).program
    random = np.random.default_rng(0)
    state = {
        node.name: random.standard_normal(node.output.shape).astype(np.float32)
        for node in graph.nodes
        if is_variable(node)
    }
    feeds = {"x": random.standard_normal((3, 8, 4)).astype(np.float32)}
    for one, other in zip(
        interpret(program, feeds, state)[0], interpret(result, feeds, state)[0], strict=True
    ):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
    (node,) = (each for each in result.order() if each.op.name == "recurrence")
    assert cells[3].name in result.fused[node.name]


def test_steps_that_go_through_another_device_stay_apart() -> None:
    """A recurrence would wait for what depends on its own first step."""
    graph = pg.Graph()
    with graph.as_default():
        x = pg.placeholder("float32", (3, 8, 4), "x")
        weights = pg.Variable(np.eye(4, dtype=np.float32), name="weights")
        state = x[:, 0]
        for t in range(1, 8):
            with pg.device("cpu:0"):
                elsewhere = pg.exp(state * 0.1)
            state = pg.tanh(pg.matmul(state, weights) + x[:, t]) + elsewhere
    policy = Policy(GPU, [GPU, "cpu:0"], target={GPU: HARD}.get)
    compiled = run_passes(Program(graph, [state], feeds={"x": x}), {"x": (3, 8, 4)}, policy)
    names = [node.op.name for node in compiled.order]
    assert names.count("matmul") + names.count("with_epilogue") == 7 and "recurrence" not in names


def test_control_edges_between_steps_keep_their_order() -> None:
    def kept_in_a_variable(x: pg.Tensor) -> pg.Tensor:
        w = pg.Variable(np.eye(4, dtype=np.float32))
        memory = pg.Variable(np.ones((3, 4), np.float32), trainable=False)
        state = x[:, 0]
        for step in range(1, 8):
            with pg.control_dependencies([memory.assign(state)]):
                last = memory * 1.0
            state = pg.tanh(pg.matmul(state, w) + x[:, step]) + last * 0.1
        return state

    def after_a_state(x: pg.Tensor) -> pg.Tensor:
        w = pg.Variable(np.eye(4, dtype=np.float32))
        factor = pg.Variable(np.ones((1, 4), np.float32))
        state = x[:, 0]
        for step in range(1, 8):
            with pg.control_dependencies([state * 2.0] if step == 4 else []):
                number = factor + 1.0
            state = pg.tanh(pg.matmul(state, w) + x[:, step]) * number
        return state

    for build in (kept_in_a_variable, after_a_state):
        rolled(build)


def test_a_workgroup_has_as_many_invocations_as_allowed() -> None:
    few = Limits(max_compute_invocations_per_workgroup=128)
    assert not rolled(nn.LSTM(4), target=replace(HARD, limits=few))
