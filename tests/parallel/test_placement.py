"""Automatic placement: list scheduling, decisions, and their explanations."""

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
from playgrad.parallel.placement.heft import ListScheduler, Work
from playgrad.runtime.timeline import timeline
from playgrad.runtime.trace import Trace

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


def test_the_example_of_the_paper_is_reproduced() -> None:
    """Figures 2 to 4 of Topcuoglu et al. 2002: ten tasks on three processors end at 80."""
    costs = [
        (14, 16, 9), (13, 19, 18), (11, 13, 19), (13, 8, 17), (12, 13, 10),
        (13, 16, 9), (7, 15, 11), (5, 11, 14), (18, 12, 20), (21, 7, 16),
    ]  # fmt: skip
    edges = {
        (1, 2): 18, (1, 3): 12, (1, 4): 9, (1, 5): 11, (1, 6): 14, (2, 8): 19, (2, 9): 16,
        (3, 7): 23, (4, 8): 27, (4, 9): 23, (5, 9): 13, (6, 8): 15, (7, 10): 17, (8, 10): 11,
        (9, 10): 13,
    }  # fmt: skip
    works = [
        Work(
            dict(zip(("p1", "p2", "p3"), map(float, row), strict=True)),
            {a - 1: size for (a, b), size in edges.items() if b == number},
        )
        for number, row in enumerate(costs, start=1)
    ]
    placed = ListScheduler(works, lambda a, b, size: float(size * (a != b))).run()
    assert max(work.end for work in placed) == 80
    assert [work.device for work in placed] == [
        "p3", "p1", "p3", "p2", "p3", "p2", "p3", "p1", "p2", "p2",
    ]  # fmt: skip


def test_equal_branches_go_to_two_devices(graph: pg.Graph) -> None:
    """Each branch stays on one device, with few transfers and the same values."""
    pg.set_logical_devices(cpu=2)
    x, total = branches(graph, 2)
    with pg.Session(graph, "cpu") as session:
        expected = session.run(total, {x: FEED})
    with pg.Session(graph, "cpu", placement="auto") as session:
        np.testing.assert_array_equal(session.run(total, {x: FEED}), expected)
        summary = session.placement_summary(total, {x: FEED})
        traces = [Trace() for _ in range(3)]
        for trace in traces:
            session.run(total, {x: FEED}, trace)
    real = min(timeline(trace).seconds for trace in traces)
    print(f"predicted {summary.prediction.seconds:.4f} s, measured {real:.4f} s")
    homes = {d.node: d.device for d in summary.decisions}
    for branch in ("branch_0", "branch_1"):
        assert len({home for name, home in homes.items() if name.startswith(branch)}) == 1
    assert homes["branch_0/nap_1"] != homes["branch_1/nap_1"]
    assert 0 < summary.prediction.bytes_moved <= 3 * FEED.nbytes
    assert 4 * NAP < summary.alone.seconds < 8 * NAP
    assert summary.prediction.seconds < 0.9 * summary.alone.seconds
    assert summary.conclusion is not None and "ms on cpu:0 alone" in summary.conclusion
    text = str(summary)
    assert "earliest finish: " in text and " on cpu:1" in text and " against " in text
    assert "bytes from cpu:0)" in text  # what the second branch waits for


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


def test_variables_bound_to_conflicting_devices_are_refused() -> None:
    works = [Work({"p1": 1.0}, groups=frozenset("w")), Work({"p2": 1.0}, groups=frozenset("w"))]
    with pytest.raises(
        GraphError, match=r"that p1 can run uses .* not all there: w can be on no d"
    ):
        ListScheduler(works, lambda a, b, size: 0.0).run()
    with pytest.raises(GraphError, match=r"that p1 can run uses .* not all there: w is on p2\."):
        ListScheduler(works[:1], lambda a, b, size: 0.0, {"w": "p2"}).run()


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
    with graph.as_default():
        x = pg.placeholder("float32", (1, 64), name="x")
        value = x
        for number in range(2):
            weight = pg.Variable(np.full((64, 64), 0.01, np.float32), name=f"w_{number}")
            value = pg.matmul(value, weight)
    feeds = {x: np.ones((1, 64), np.float32)}
    room = pg.parallel.Automatic(memory={"cpu:0": 20_000, "cpu:1": 20_000})
    with pg.Session(graph, "cpu", placement=room) as session:
        session.run(value, feeds)
        homes = {session.policy.requested_device(graph.node(f"w_{number}")) for number in range(2)}
        assert homes == {"cpu:0", "cpu:1"}
        headline = session.placement_summary(value, feeds).headline
        assert "no device has room for all of it" in headline
    room = pg.parallel.Automatic(memory={"cpu:0": 20_000, "cpu:1": 10_000})
    with (
        pg.Session(graph, "cpu", placement=room) as session,
        pytest.raises(OutOfMemoryError, match="no device has room for 16,384 bytes"),
    ):
        session.run(value, feeds)


def test_variables_move_with_their_values(graph: pg.Graph) -> None:
    pg.set_logical_devices(cpu=2)
    x, total = branches(graph, 2)
    first, second = graph.node("branch_0/w"), graph.node("branch_1/w")
    with pg.Session(graph, "cpu") as session:
        session.assign({second.output: np.full(4, 7.0, np.float32)})
        expected = session.run(total, {x: FEED})
        session.set_placement("auto")
        np.testing.assert_array_equal(session.run(total, {x: FEED}), expected)
        assert session.policy.requested_device(first) != session.policy.requested_device(second)
        session.set_placement("auto")  # already the case
        assert session.policy.requested_device(first) != session.policy.requested_device(second)
        session.set_placement(None)
        assert session.policy.requested_device(first) is None
        np.testing.assert_array_equal(session.run(total, {x: FEED}), expected)


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
