"""Collectives: their values, bit for bit the same for all members, and their costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import playgrad as pg
from playgrad.errors import DTypeError, GraphError, ShapeError
from playgrad.graph.tensor import Node, Tensor
from playgrad.parallel import collectives
from playgrad.parallel.collectives.buckets import bucketed
from tests.sweeps import examples

WAYS = ("central", "ring", "tree")
MEMBERS = (1, 2, 3, 4)
PLACES = [
    pytest.param(["cpu:0", "cpu:1", "cpu:2", "cpu:3"], id="cpus"),
    pytest.param(["gpu:0", "gpu:1", "gpu:2"], id="gpus", marks=pytest.mark.gpu),
    pytest.param(["gpu:0", "cpu:1", "gpu:1", "cpu:0"], id="mixed", marks=pytest.mark.gpu),
]


@pytest.fixture(autouse=True)
def logical_devices(request: pytest.FixtureRequest) -> None:
    gpu = request.node.get_closest_marker("gpu")
    pg.set_logical_devices(cpu=5, gpu=3 if gpu else None)


def members(
    devices: Sequence[str], shape: Sequence[int], dtype: str = "float32", seed: int = 0
) -> tuple[list[Tensor], list[np.ndarray]]:
    """Return a tensor for each member, computed on its device, and their values."""
    rng = np.random.default_rng(seed)
    tensors, values = [], []
    for device in devices:
        value = (100 * rng.normal(size=shape)).astype(dtype)
        with pg.device(device):
            tensors.append(pg.Variable(value, name="x") * np.asarray(1, dtype))
        values.append(value)
    return tensors, values


class TestValues:
    @pytest.mark.parametrize("devices", PLACES)
    @pytest.mark.parametrize("way", WAYS)
    def test_all_reduce_gives_every_device_the_same_sum(
        self, graph: pg.Graph, way: str, devices: list[str]
    ) -> None:
        tensors, values = members(devices, (5, 7))
        sums = collectives.get(way).all_reduce(tensors, devices)
        assert [total.node.device for total in sums] == devices
        with pg.Session(graph, device="cpu") as session:
            results = session.run(sums)
        np.testing.assert_allclose(results[0], np.sum(values, axis=0), rtol=1e-4, atol=1e-4)
        assert len({result.tobytes() for result in results}) == 1

    @pytest.mark.parametrize("devices", PLACES)
    @pytest.mark.parametrize("way", WAYS)
    def test_all_gather_completes_a_reduce_scatter(
        self, graph: pg.Graph, way: str, devices: list[str]
    ) -> None:
        tensors, values = members(devices, (5, 7))
        parts = collectives.get(way).reduce_scatter(tensors, devices)
        wholes = collectives.get(way).all_gather(parts, devices)
        with pg.Session(graph, device="cpu") as session:
            sizes = [part.size for part in session.run(parts)]
            results = session.run(wholes)
        assert sum(sizes) == 35 and max(sizes) - min(sizes) <= 1
        expected = np.sum(values, axis=0).reshape(-1)
        for result in results:
            np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)

    @pytest.mark.parametrize("devices", PLACES)
    @pytest.mark.parametrize("way", WAYS)
    def test_broadcast_and_all_gather_copy_their_values(
        self, graph: pg.Graph, way: str, devices: list[str]
    ) -> None:
        tensors, values = members(devices, (2, 3), "int32")
        broadcast = collectives.get(way).broadcast(tensors[1], devices)
        gathered = collectives.get(way).all_gather(tensors, devices, axis=-1)
        assert [copy.device for copy in broadcast] == devices
        with pg.Session(graph, device="cpu") as session:
            for copy, whole in zip(*session.run([broadcast, gathered]), strict=True):
                np.testing.assert_array_equal(copy, values[1])
                np.testing.assert_array_equal(whole, np.concatenate(values, axis=1))

    @pytest.mark.parametrize("way", (*WAYS, "auto"))
    @pytest.mark.parametrize("count", MEMBERS)
    @pytest.mark.parametrize("shape", [(), (3,), (1, 6)])
    def test_all_reduce_accepts_few_elements_and_few_members(
        self, graph: pg.Graph, way: str, count: int, shape: tuple[int, ...]
    ) -> None:
        devices = [f"cpu:{i}" for i in range(count)]
        tensors, values = members(devices, shape, "int32")
        sums = collectives.get(way).all_reduce(tensors, devices)
        with pg.Session(graph, device="cpu") as session:
            for result in session.run(sums):
                np.testing.assert_array_equal(result, np.sum(values, axis=0, dtype=np.int32))

    @pytest.mark.parametrize("way", WAYS)
    def test_sums_have_gradients(self, graph: pg.Graph, way: str) -> None:
        devices = ["cpu:0", "cpu:1", "cpu:2"]
        variables = []
        for device in devices:
            with pg.device(device):
                variables.append(pg.Variable(np.arange(5, dtype=np.float32), name="x"))
        sums = collectives.get(way).all_reduce(variables, devices)
        # Each member multiplies its copy by a weight: the gradient of each x is their sum.
        losses = [pg.reduce_sum(total * weight) for weight, total in enumerate(sums, 1)]
        grads = pg.gradients(losses, variables)
        with pg.Session(graph, device="cpu") as session:
            for grad in session.run(grads):
                np.testing.assert_array_equal(grad, np.full(5, 6.0))

    @pytest.mark.parametrize("way", ("central", "tree", "auto"))
    def test_all_reduce_accepts_tensors_of_unknown_size(self, graph: pg.Graph, way: str) -> None:
        x = pg.placeholder("float32", [None, 2], name="x")
        devices = ["cpu:0", "cpu:1", "cpu:2", "cpu:3"]
        scaled = []
        for number, device in enumerate(devices):
            with pg.device(device):
                scaled.append(x * float(number))
        sums = collectives.get(way).all_reduce(scaled, devices)
        with pg.Session(graph, device="cpu") as session:
            for result in session.run(sums, {x: np.ones((3, 2))}):
                np.testing.assert_array_equal(result, np.full((3, 2), 6.0))

    def test_a_barrier_waits_for_all_devices(self, graph: pg.Graph) -> None:
        """Nodes after it see every write before it, on every device."""
        devices = ["cpu:0", "cpu:1", "cpu:2"]
        with pg.device("cpu:0"):
            v = pg.Variable(1.0, name="v")
            write = v.assign(2.0)
        with pg.device("cpu:1"):
            other = pg.Variable(3.0, name="other")
            second = other.assign(4.0)
        waits = collectives.get("auto").barrier([write, second], devices)
        assert [wait.device for wait in waits] == devices
        with pg.control_dependencies([waits[0]]):
            after = v.read_value()
        with pg.control_dependencies([waits[1]]):
            after_other = other.read_value()
        with pg.Session(graph, device="cpu") as session:
            session.executor.delays = {"cpu:1": 0.02}
            assert session.run([after, after_other]) == [2.0, 4.0]


@st.composite
def mixed_tensors(draw: st.DrawFn) -> list[tuple[tuple[int, ...], str]]:
    shapes = st.lists(st.integers(1, 9), max_size=3).map(tuple)
    dtypes = st.sampled_from(["float32", "int32"])
    return draw(st.lists(st.tuples(shapes, dtypes), min_size=1, max_size=7))


class TestBuckets:
    @examples(25)
    @given(mixed_tensors(), st.integers(1, 400), st.sampled_from((*WAYS, "auto")))
    def test_bucketed_sums_keep_their_shapes(
        self, kinds: list[tuple[tuple[int, ...], str]], bucket_bytes: int, way: str
    ) -> None:
        graph = pg.Graph()
        devices = ["cpu:0", "cpu:1", "cpu:2"]
        with graph.as_default():
            groups = [members(devices, shape, dtype, i) for i, (shape, dtype) in enumerate(kinds)]
            lists = [[tensors[m] for tensors, _ in groups] for m in range(len(devices))]
            sums = collectives.get(way).all_reduce_many(lists, devices, bucket_bytes)
        with pg.Session(graph, device="cpu") as session:
            for member in session.run(sums):
                for result, (_, values) in zip(member, groups, strict=True):
                    assert result.dtype == values[0].dtype
                    np.testing.assert_allclose(result, np.sum(values, axis=0), rtol=1e-4, atol=1e-3)

    def test_buckets_are_filled_in_order_by_type(self, graph: pg.Graph) -> None:
        sizes = [("float32", 4), ("int32", 1), ("float32", 4), ("float32", 50), ("float32", 2)]
        tensors = [pg.Variable(np.zeros(size, dtype)) for dtype, size in sizes]
        assert bucketed(tensors, 32) == [[0, 2], [1], [3], [4]]
        assert bucketed(tensors, 1) == [[0], [1], [2], [3], [4]]
        assert bucketed(tensors, 1000) == [[0, 2, 3, 4], [1]]
        large = [pg.Variable(np.zeros(size, np.float32)) for size in (1, 1 << 14, 1)]
        assert bucketed(large, 1 << 30) == [[0, 2], [1]]

    def test_a_full_bucket_is_not_copied(self, graph: pg.Graph) -> None:
        devices = ["cpu:0", "cpu:1"]
        lists = [[tensor] for tensor in members(devices, (64, 64))[0]]
        collectives.get("central").all_reduce_many(lists, devices, 1 << 20)
        assert not [node for node in graph.nodes if node.op.name == "concat"]


class TestCosts:
    """The formulae, compared with a run's trace and the compiled graph."""

    def measured(self, graph: pg.Graph, results: list[Tensor]) -> tuple[int, int, int]:
        """Return bytes sent by all and by the busiest device, and the longest chain of sends."""
        run = pg.group(*results)
        trace = pg.Trace()
        with pg.Session(graph, device="cpu") as session:
            session.run(run, trace=trace)
            order = session.compiled(run).compiled.order
        moved = [e for e in trace.events if e.kind in ("send", "receive")]
        through = {
            d: sum(e.bytes for e in moved if e.device == d) for d in {e.device for e in moved}
        }
        sent = sum(event.bytes for event in moved if event.kind == "send")
        depth: dict[Node, int] = {}
        for node in order:
            before = max((depth[b] for b in node.predecessors), default=0)
            depth[node] = before + (node.op.name == "send")
        return sent, max(through.values(), default=0), max(depth.values())

    @pytest.mark.parametrize("way", (*WAYS, "auto"))
    @pytest.mark.parametrize("count", MEMBERS)
    @pytest.mark.parametrize("kind", ["all_reduce", "reduce_scatter", "all_gather", "broadcast"])
    def test_cost_formulas_match_the_graph(
        self, graph: pg.Graph, way: str, count: int, kind: str
    ) -> None:
        devices = [f"cpu:{i + 1}" for i in range(count)]
        ways = collectives.get(way)
        nbytes = 12 * 40 * 4
        tensors, _ = members(devices, (12, 40))
        if kind == "all_gather":
            tensors, _ = members(devices, (12 // count, 40))
            results = ways.all_gather(tensors, devices)
        elif kind == "broadcast":
            results = ways.broadcast(tensors[0], devices)
        else:
            results = getattr(ways, kind)(tensors, devices)
        cost = ways.cost(kind, nbytes, count)
        assert (cost.bytes_moved, cost.busiest, cost.rounds) == self.measured(graph, results)
        if kind == "all_reduce":
            assert ways.bytes_moved(nbytes, count) == 2 * (count - 1) * nbytes

    @pytest.mark.parametrize("way", WAYS)
    def test_costs_of_uneven_parts_are_exact(self, graph: pg.Graph, way: str) -> None:
        devices = ["cpu:1", "cpu:2", "cpu:3"]
        tensors, _ = members(devices, (7,))
        ways = collectives.get(way)
        sent, _, _ = self.measured(graph, ways.all_reduce(tensors, devices))
        assert sent == ways.bytes_moved(28, 3)

    def test_the_algorithm_is_chosen_by_size(self) -> None:
        sizes = [4, 1 << 20, 1 << 26]
        links = collectives.LinkModel(latency=3e-4, bandwidth=3e9, at_once=8)
        names = [collectives.choose(size, 8, link=links).algorithm.name for size in sizes]
        assert names == ["central", "tree", "ring"]
        reason = collectives.choose(1 << 26, 8, link=links).reason
        assert reason.startswith("ring: 67,108,864 bytes among 8 take an estimated central ")
        assert collectives.choose(None, 8).algorithm.name == "tree"
        assert "the size is not known" in collectives.choose(None, 8).reason
        # More rounds do not pay if each is slow, or if only one member can send at a time.
        for link in (collectives.LinkModel(1.0, 1e9, 8), collectives.LinkModel(3e-4, 3e9, 1)):
            assert collectives.choose(1 << 26, 8, link=link).algorithm.name == "central"


class TestMistakes:
    def test_mistakes_raise_explaining_errors(self, graph: pg.Graph) -> None:
        ways = collectives.get("ring")
        a, b = pg.Variable(np.zeros(3)), pg.Variable(np.zeros(4))
        with pytest.raises(ShapeError, match=r"\(3,\) on cpu:0, but \(4,\) on cpu:1"):
            ways.all_reduce([a, b], ["cpu:0", "cpu:1"])
        with pytest.raises(DTypeError, match="float32 on cpu:0, but int32 on cpu:1"):
            ways.all_reduce([a, pg.cast(a, "int32")], ["cpu:0", "cpu:1"])
        with pytest.raises(GraphError, match="of 2 members needs 2 tensors, got 1"):
            ways.all_gather([a], ["cpu:0", "cpu:1"])
        with pytest.raises(GraphError, match="at least one device"):
            ways.broadcast(a, [])
        with pytest.raises(GraphError, match=r"3 elements of .* cannot be divided among 4"):
            ways.reduce_scatter([a] * 4, [f"cpu:{i}" for i in range(4)])
        with pytest.raises(GraphError, match=r"different numbers of tensors: \[1, 2\]"):
            ways.all_reduce_many([[a], [a, b]], ["cpu:0", "cpu:1"], 1)
        with pytest.raises(GraphError, match="at least one node to wait for"):
            ways.barrier([], ["cpu:0"])
        x = pg.placeholder("float32", [None])
        with pytest.raises(GraphError, match=r"shape \(\?,\) cannot be divided.*'auto'"):
            ways.all_reduce([x, x], ["cpu:0", "cpu:1"])
        with pytest.raises(
            GraphError, match=r"no collective algorithm 'star'\. Use one of: auto, central"
        ):
            collectives.get("star")
