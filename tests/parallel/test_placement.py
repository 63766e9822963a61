"""Automatic placement: cuts into stages, decisions, and their explanations."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compiler.place import Policy, decide
from playgrad.compiler.program import Program
from playgrad.errors import DeviceError, GraphError, OutOfMemoryError, UnsupportedOpError
from playgrad.graph.opdef import OpDef
from playgrad.parallel.placement.cut import cut

NAP = 0.02
MIXED = pg.parallel.Automatic(("cpu:0", "gpu:0"))


def _nap(inputs: Any, attrs: Any) -> list[np.ndarray]:
    time.sleep(NAP)
    return [inputs[0] + 1]


HEAVY = OpDef("nap", lambda inputs, attrs: [inputs[0]], _nap)
"""Sleeps for a known time, using no core: two at the same time take as long as one."""


def branches(graph: pg.Graph, count: int) -> tuple[pg.Tensor, pg.Tensor]:
    """Return an input and the sum of equally expensive branches, each with a variable."""
    x = pg.placeholder("float32", (4,), name="x")
    total = x
    for number in range(count):
        with pg.name_scope(f"branch_{number}"):
            weight = pg.Variable(np.full(4, number + 2.0, np.float32), name="w")
            value = graph.add(HEAVY, [x * weight], name="nap_0").output
            value = graph.add(HEAVY, [pg.tanh(value) * weight], name="nap_1").output
        total = total + value
    return x, total


FEED = np.array([0.1, -0.2, 0.3, 0.4], np.float32)


ROOM_FOR_ONE = pg.parallel.Automatic(memory={"cpu:0": 20_000, "cpu:1": 20_000})


def products() -> tuple[pg.Tensor, pg.Tensor]:
    """Return an input, and its product with two matrices, each too large to be with the other."""
    x = value = pg.placeholder("float32", (1, 64), name="x")
    for number in range(2):
        weight = pg.Variable(np.full((64, 64), 0.01, np.float32), name=f"w_{number}")
        value = pg.matmul(value, weight)
    return x, value


def chain(graph: pg.Graph, count: int) -> list[pg.Node]:
    """Return the nodes that train a chain of products of matrices, in their order."""
    value = pg.placeholder("float32", (8, 8), name="x")
    for number in range(count):
        weight = pg.Variable(np.eye(8, dtype=np.float32), name=f"w_{number}")
        value = pg.matmul(value, weight, name=f"product_{number}")
    update = pg.optim.Adam().minimize(pg.reduce_sum(value))
    return Program(graph, [], [update]).order()


@pytest.mark.parametrize(("speed", "first"), [(1.0, 2), (3.0, 1), (1 / 3, 3)])
def test_a_cut_gives_each_device_a_share_of_its_speed(
    graph: pg.Graph, speed: float, first: int
) -> None:
    """Gradients, and what updates a variable, are in the stage of the forward work."""
    order = chain(graph, 4)
    seconds = {node: 1.0 for node in order if node.op.name == "matmul"}
    faster = {node: time / speed for node, time in seconds.items()}
    found = cut(order, ["cpu:0", "cpu:1"], [seconds, faster], {}, {})
    assert found is not None
    for number in range(4):
        home = "cpu:0" if number < first else "cpu:1"
        names = [name for name in found.devices if f"product_{number}/" in f"{name}/"]
        assert len(names) > (number > 0), "the product and its gradients"
        states = [name for name in found.devices if f"w_{number}" in name]
        assert len(states) >= 3, "the weight and two moments"
        assert {found.devices[name] for name in (*names, *states)} == {home}
        stage = 1 + (home == "cpu:1")
        assert {found.reasons[name] for name in names} == {f"stage {stage} of 2"}


def test_a_cut_that_has_no_room_fills_each_device_first(graph: pg.Graph) -> None:
    order = chain(graph, 4)
    seconds = [{node: 1.0 for node in order if node.op.name == "matmul"}] * 2
    size = 3 * 8 * 8 * 4  # of a weight with its moments
    for rooms, homes in (((3, 1), "0001"), ((1, 3), "0111"), ((2, 1), None)):
        # Scalars such as the optimizer's rate have their place, too.
        memory = {f"cpu:{i}": rooms[i] * size + 100 for i in range(2)}
        found = cut(order, ["cpu:0", "cpu:1"], seconds, {}, memory)
        if homes is None:
            assert found is None
        else:
            assert found is not None
            assert [found.devices[f"w_{i}"] for i in range(4)] == [f"cpu:{home}" for home in homes]


def test_a_chain_stays_on_one_device(graph: pg.Graph) -> None:
    pg.set_logical_devices(cpu=3)
    x, total = branches(graph, 1)
    with pg.Session(graph, "cpu", placement="auto") as session:
        summary = session.placement_summary(total, {x: FEED})
    assert {d.device for d in summary.decisions} == {"cpu:0"}
    assert "one device is best: " in summary.headline
    assert "all on one device: cpu:0" in str(summary)
    assert summary.prediction.bytes_moved == 0


def test_device_scopes_take_precedence(graph: pg.Graph) -> None:
    """Device scopes are respected, and updates in place run where their variable is."""
    pg.set_logical_devices(cpu=2)
    with pg.device("cpu:1"):
        w = pg.Variable(np.ones(4, np.float32), name="w")
    free = pg.Variable(np.ones(4, np.float32), name="free")
    x, total = branches(graph, 2)
    changes = [w.assign_add(total * free), free.assign_add(total, name="change")]
    update = pg.group(*changes)
    with pg.Session(graph, "cpu", placement="auto") as session:
        session.run(update, {x: FEED})
        decisions = {d.node: d for d in session.placement_summary(update, {x: FEED}).decisions}
        assert session.policy.requested_device(w.node) == "cpu:1"
    assert decisions["change"].reason == "with the variable free"
    assert decisions["change"].device == decisions["free"].device
    assert (decisions["w"].device, decisions["w"].reason) == ("cpu:1", "set by device scope")


def test_a_reader_elsewhere_does_not_move_a_variable(graph: pg.Graph) -> None:
    """A pinned operation may only read a variable whose update runs on one of the devices in
    question."""
    pg.set_logical_devices(cpu=3)
    w = pg.Variable(np.ones(4, np.float32), name="w")
    with pg.device("cpu:2"):
        read = pg.tanh(w)
    update = w.assign_add(read)
    expected = np.float32(1) + np.tanh(np.ones(4, np.float32))
    with pg.Session(graph, "cpu", placement="auto") as session:
        np.testing.assert_allclose(session.run(update), expected, rtol=1e-6)


@pytest.mark.parametrize("placement", ["auto", None])
def test_variables_that_are_written_together_share_a_device(
    graph: pg.Graph, placement: str | None
) -> None:
    pg.set_logical_devices(cpu=2)
    w = pg.Variable(np.ones(4, np.float32), name="w")
    update = pg.optim.SGD(0.1, momentum=0.9).minimize(pg.reduce_sum(w * w))
    w.node.device = "cpu:0"
    graph.node("sgd/w/velocity").device = "cpu:1"
    with (
        pg.Session(graph, "cpu", placement=placement) as session,
        pytest.raises(GraphError, match=r"'w' on cpu:0, 'sgd/w/velocity' on cpu:1\."),
    ):
        session.run(update)


@pytest.mark.parametrize("placement", ["auto", None])
def test_impossible_device_scopes_are_refused_or_softened(
    graph: pg.Graph, placement: str | None
) -> None:
    pg.set_logical_devices(cpu=2)
    x = pg.placeholder("float32", (4,), name="x")
    with pg.device("cpu:7"):
        y = pg.exp(x, name="y")
    feeds = {"x:0": FEED}
    with (
        pg.Session(graph, "cpu", placement=placement) as session,
        pytest.raises(DeviceError, match=r"'y' is placed on cpu:7, which does not exist"),
    ):
        session.run(y, feeds)
    with pg.Session(graph, "cpu", placement=placement, soft_placement=True) as session:
        np.testing.assert_allclose(session.run(y, feeds), np.exp(FEED), rtol=1e-6)
        summary = session.placement_summary(y, feeds)
    (decision,) = [d for d in summary.decisions if d.node == "y"]
    assert decision.device == "cpu:0"
    if placement is None:
        assert decision.reason == "soft: cpu:7 does not exist"


def test_operations_without_a_gpu_kernel_go_to_the_cpu(graph: pg.Graph) -> None:
    x = pg.constant(np.ones(3), dtype="float64")
    y = pg.exp(x, name="y")
    policy = Policy("gpu:0", ("cpu:0", "gpu:0"))
    program = Program(graph, [y])
    decisions = {node.name: decision for node, decision in decide(program, policy).items()}
    assert decisions["y"].device == "cpu:0"
    assert decisions["y"].reason == "only the cpu can run it: no GPU has float64 values"
    y.node.device = "gpu:0"
    with pytest.raises(UnsupportedOpError, match=r"cannot run on gpu:0: no GPU has float64"):
        decide(program, policy)
    soft = Policy("cpu:0", ("cpu:0", "gpu:0"), soft=True)
    decisions = {node.name: decision for node, decision in decide(program, soft).items()}
    assert decisions["y"].reason == "soft: gpu:0 cannot run it: no GPU has float64 values"


def test_invalid_placements_are_refused(graph: pg.Graph) -> None:
    with pytest.raises(GraphError, match=r"'best' is not a placement. Use 'auto'"):
        pg.Session(graph, "cpu", placement="best")
    wish = pg.parallel.Automatic(("cpu:0", "cpu:9"))
    x, total = branches(graph, 1)
    with (
        pg.Session(graph, "cpu", placement=wish) as session,
        pytest.raises(DeviceError, match="there is no cpu:9 here to place operations on"),
    ):
        session.run(total, {x: FEED})
    model = pg.Sequential([nn.Dense(2)])
    with pytest.raises(GraphError, match="Pass either a strategy or a placement"):
        model.compile(loss="mse", strategy=pg.parallel.DataParallel(2), placement="auto")


def test_a_placement_function_is_explained(graph: pg.Graph) -> None:
    """The summary explains placements by a function, too."""
    pg.set_logical_devices(cpu=2)
    x, total = branches(graph, 2)

    def second_branch(node: pg.Node) -> str | None:
        return "cpu:1" if node.name.startswith("branch_1/") else None

    with pg.Session(graph, "cpu", placement=second_branch) as session:
        summary = session.placement_summary(total, {x: FEED})
    assert summary.conclusion is None
    assert summary.headline.startswith("By measured times: ")
    assert " ms with all of it on cpu:0; " in summary.headline
    assert summary.headline.endswith(" bytes moved.")
    lines = str(summary).splitlines()
    scope = lines.index("branch_1")
    assert lines[scope + 1] == (
        "  cpu:1  w, mul, nap_0 and 3 more: chosen by the placement function"
    )
    plain = summary.as_dict()
    assert plain["seconds"] == summary.prediction.seconds
    assert {row["device"] for row in plain["rows"]} == {"cpu:0", "cpu:1"}


def test_placement_respects_the_memory_of_devices(graph: pg.Graph) -> None:
    """Variables too large for one device are distributed; too large for all, they are an error."""
    pg.set_logical_devices(cpu=2)
    x, value = products()
    feeds = {x: np.ones((1, 64), np.float32)}
    with pg.Session(graph, "cpu", placement=ROOM_FOR_ONE) as session:
        session.run(value, feeds)
        homes = {session.policy.requested_device(graph.node(f"w_{number}")) for number in range(2)}
        assert homes == {"cpu:0", "cpu:1"}
        summary = session.placement_summary(value, feeds)
        assert "no device has room for all of it" in summary.headline
        assert " bytes moved" in summary.headline
        reasons = {decision.node: decision.reason for decision in summary.decisions}
        assert (reasons["matmul"], reasons["matmul_1"]) == ("stage 1 of 2", "stage 2 of 2")
        assert reasons["w_1"] == "with its first user 'matmul_1'"
    room = pg.parallel.Automatic(memory={"cpu:0": 20_000, "cpu:1": 10_000})
    with (
        pg.Session(graph, "cpu", placement=room) as session,
        pytest.raises(OutOfMemoryError, match="fits neither on one device nor on all together"),
    ):
        session.run(value, feeds)


def test_variables_move_with_their_values(graph: pg.Graph) -> None:
    pg.set_logical_devices(cpu=2)
    x, value = products()
    first, second = graph.node("w_0"), graph.node("w_1")
    feeds = {x: np.ones((1, 64), np.float32)}
    with pg.Session(graph, "cpu") as session:
        session.assign({second.output: np.full((64, 64), 7.0, np.float32)})
        expected = session.run(value, feeds)
        session.set_placement(ROOM_FOR_ONE)
        np.testing.assert_array_equal(session.run(value, feeds), expected)
        assert session.policy.requested_device(first) != session.policy.requested_device(second)
        session.set_placement(ROOM_FOR_ONE)  # already the case
        assert session.policy.requested_device(first) != session.policy.requested_device(second)
        session.set_placement(None)
        assert session.policy.requested_device(first) is None
        np.testing.assert_array_equal(session.run(value, feeds), expected)


@pytest.mark.parametrize(
    "wish", ["auto", pytest.param(MIXED, marks=pytest.mark.gpu)], ids=["auto", "mixed"]
)
def test_training_with_automatic_placement_matches_one_device(wish: Any) -> None:
    """A model with two branches has the same losses as on one device."""
    pg.set_logical_devices(cpu=2)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 6)).astype(np.float32)
    y = x[:, :3].argmax(1)
    losses = []
    for placement in (None, wish):
        pg.reset_default_graph(3)
        points = pg.Input((6,))
        ends = [nn.Dense(8, activation="tanh")(points) for _ in range(2)]
        model = pg.Model(points, nn.Dense(3)(nn.Concatenate()(ends)))
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, device="cpu", placement=placement)
        losses.append(model.fit(x, y, batch_size=20, epochs=3, verbose=0).losses)
        if placement:
            summary = model.session.placement_summary(model.training_targets)
            assert summary.conclusion is not None
        model.close()
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)


@pytest.mark.gpu
def test_automatic_placement_uses_processor_and_gpu_together(graph: pg.Graph) -> None:
    """Operations without a GPU kernel run on the processor; values do not depend on the plan."""
    x, total = branches(graph, 1)
    y = pg.matmul(pg.reshape(total, [1, 4]), np.full((4, 4), 0.5, np.float32), name="product")
    wish = pg.parallel.Automatic(("gpu:0", "cpu:0"))
    with pg.Session(graph, "cpu") as session:
        expected = session.run(y, {x: FEED})
    with pg.Session(graph, "gpu", placement=wish) as session:
        np.testing.assert_allclose(session.run(y, {x: FEED}), expected, rtol=1e-4)
        decisions = {d.node: d for d in session.placement_summary(y, {x: FEED}).decisions}
    assert decisions["branch_0/nap_0"].device == "cpu:0"


@pytest.mark.gpu
def test_logical_devices_of_one_adapter_are_no_faster(graph: pg.Graph) -> None:
    pg.set_logical_devices(gpu=2)
    x = pg.placeholder("float32", (64, 64), name="x")
    y = pg.matmul(x, x) + pg.matmul(x, x, transpose_b=True)
    feeds = {x: np.ones((64, 64), np.float32)}
    with pg.Session(graph, "gpu", placement="auto") as session:
        summary = session.placement_summary(y, feeds)
    assert {d.device for d in summary.decisions} == {"gpu:0"}
    assert "one device: " in summary.headline and "there is no other" in summary.headline
