"""Operations that compute rows by rows as one: what the pass finds, and that values stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compiler import join_rows, joined_rows
from playgrad.compiler.compile import run_passes
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.devices.target import Limits, Target
from playgrad.devices.tuning import HARDWARE, JOINED
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable
from tests.compiler.interpreter import interpret

GPU = "gpu:0"
UNMEASURED = Target(is_software=False, limits=Limits())
HARD = replace(UNMEASURED, measured=replace(HARDWARE, rows=JOINED))
Build = Callable[[pg.Tensor], pg.Tensor]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small layers are joined as large ones are."""
    monkeypatch.setattr(joined_rows, "MOST_IN_CHAINS", 0)


def joined(
    build: Build,
    shape: tuple[int, ...] = (3, 6, 8),
    target: Target = HARD,
    watched: tuple[str, ...] = (),
) -> list[Node]:
    """Compile a loss of ``build`` with its gradients, compare all values with those of the graph,
    and return the recurrences.

    Args:
        watched: operations whose results are fetched too.
    """
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
        seen = [node.outputs[0] for node in graph.nodes if node.op.name in watched]
    state = {
        node.name: np.asarray(0.5 * random.standard_normal(node.output.shape), node.output.dtype)
        for node in variables
    }
    feeds = {"x": random.standard_normal(shape).astype(np.float32)}
    program = Program(graph, [loss, y, *found, *seen], feeds={"x": x})
    policy = Policy(GPU, [GPU], target={GPU: target}.get)
    result = run_passes(program, {"x": shape}, policy).program
    expected, _ = interpret(program, feeds, state)
    actual, _ = interpret(result, feeds, state)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    return [node for node in result.order() if node.op.name == "recurrence"]


def operations(node: Node) -> list[str]:
    return [each["op"] for each in node.attrs["body"]]


def block(**options: object) -> Build:
    return lambda x: nn.TransformerDecoder(16, 2, **options)(x)


@pytest.mark.parametrize("first", [False, True], ids=["after", "before"])
def test_a_block_is_what_lies_between_attentions(first: bool) -> None:
    def build(x: pg.Tensor) -> pg.Tensor:
        return block(normalize_first=first)(block(normalize_first=first)(x))

    forward = [node for node in joined(build) if node.phase == "forward"]
    middle = max(operations(node).count("matmul") for node in forward)
    # The attention's product, two of the network, and those for the next attention.
    assert middle == 6
    assert all(operations(node).count("layer_normalization") for node in forward)


def test_gradients_of_normalizations_are_joined() -> None:
    found = joined(block(normalize_first=True))
    backward = [node for node in found if "layer_normalization_gradient" in operations(node)]
    assert backward and all(node.attrs["steps"] == 1 for node in found)
    assert max(operations(node).count("matmul") for node in backward) >= 3


def test_values_that_others_read_are_outputs() -> None:
    plain = joined(block())
    watched = joined(block(), watched=("add",))
    assert sum(len(node.outputs) for node in watched) > sum(len(node.outputs) for node in plain)


def test_rows_of_a_matrix_and_of_a_single_sample() -> None:
    def build(x: pg.Tensor) -> pg.Tensor:
        hidden = nn.Dense(9, activation="tanh")(nn.LayerNormalization()(x))
        return nn.LayerNormalization()(nn.Dense(5)(hidden))

    for shape in ((7, 8), (1, 8), (2, 1, 3, 8)):
        assert len(joined(build, shape)) >= 1


def test_a_way_out_and_back_is_not_joined() -> None:
    """The sum over all rows comes between the product and what reads both."""

    def build(x: pg.Tensor) -> pg.Tensor:
        rows = nn.Dense(8)(nn.LayerNormalization()(x))
        return nn.Dense(8)(nn.LayerNormalization()(rows - pg.reduce_sum(rows, 0, keepdims=True)))

    first, second, last = joined(build, (6, 8))
    assert first.phase == "forward" and second.phase == last.phase == "gradient"


def test_two_ways_that_cross_are_not_joined_both() -> None:
    """Each of two normalizations needs the sums of the other one's product."""

    def build(x: pg.Tensor) -> pg.Tensor:
        one = nn.Dense(8)(nn.LayerNormalization()(x))
        two = nn.Dense(8)(nn.LayerNormalization()(x * 2.0))
        first = nn.Dense(8)(nn.LayerNormalization()(one + pg.reduce_mean(two, 0, keepdims=True)))
        other = nn.Dense(8)(nn.LayerNormalization()(two + pg.reduce_mean(one, 0, keepdims=True)))
        return first * other

    assert joined(build, (6, 8))


def test_masks_and_numbers_are_read_in_place() -> None:
    def build(x: pg.Tensor) -> pg.Tensor:
        kept = pg.reduce_sum(x, -1, keepdims=True) > 0.0
        return nn.Dense(4)(nn.LayerNormalization()(pg.where(kept, x, 0.5)))

    assert len(joined(build)) >= 1


def test_what_is_left_alone() -> None:
    def normal(x: pg.Tensor) -> pg.Tensor:
        return nn.Dense(8)(nn.LayerNormalization()(x))

    assert not joined(lambda x: nn.Dense(8)(nn.Dense(8, activation="relu")(x)))
    assert not joined(lambda x: nn.LayerNormalization()(pg.tanh(x)))
    assert joined(normal)
    assert not joined(normal, target=UNMEASURED)
    assert not joined(normal, target=replace(UNMEASURED, is_software=True))
    wide = replace(HARD, limits=Limits(max_compute_workgroup_storage_size=64))
    assert not joined(normal, target=wide)
    large = nn.Dense(1024)
    assert not joined(lambda x: large(nn.LayerNormalization()(x)), (2, 300))


def test_a_matrix_with_as_many_rows_as_the_data_is_computed_before() -> None:
    def adapted(x: pg.Tensor) -> pg.Tensor:
        """As in LoRA (Hu and others, 2021)."""
        down, up = (pg.Variable(np.ones(shape, np.float32)) for shape in ((8, 2), (2, 8)))
        whole = pg.Variable(np.ones((8, 8), np.float32))
        return pg.matmul(nn.LayerNormalization()(x), whole + pg.matmul(down, up))

    def squared(x: pg.Tensor) -> pg.Tensor:
        h = nn.LayerNormalization()(x)
        return pg.matmul(h, pg.tanh(h))

    def attention(x: pg.Tensor) -> pg.Tensor:
        h = nn.LayerNormalization()(x)
        return pg.matmul(pg.softmax(pg.matmul(nn.Dense(8)(h), h, transpose_b=True)), h)

    for build in (adapted, squared, attention):
        joined(build, (8, 8))


def test_a_region_binds_no_more_buffers_than_the_adapter_has() -> None:
    """Tensors that lie far apart in a buffer are bound one by one."""
    assert len(joined(block())) > 0
    near = Limits(max_storage_buffer_binding_size=1 << 12)
    for node in joined(block(), target=replace(HARD, limits=near)):
        bound = len(node.inputs) + len(node.outputs)
        assert bound <= near.max_storage_buffers_per_shader_stage


def test_many_kernels_of_a_kind_stay_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(x: pg.Tensor) -> pg.Tensor:
        return block()(block()(x))

    assert len(joined(build)) > 2
    monkeypatch.setattr(join_rows, "MOST_KERNELS", 2)
    assert not joined(build)
