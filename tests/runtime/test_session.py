"""Sessions: state, fetches, feeds of any node, repetition; the same on every device."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest

from playgrad import ops
from playgrad.errors import (
    DeviceError,
    DTypeError,
    FeedError,
    GraphError,
    PlaygradError,
    ShapeError,
)
from playgrad.graph.graph import Graph
from playgrad.runtime.session import Session
from tests.compiler.programs import network


@pytest.fixture
def session(graph, device):
    with Session(graph, device=device) as session:
        yield session


class Pair(NamedTuple):
    first: object
    second: object


class TestFetches:
    def test_fetches_keep_their_structure(self, session):
        x = ops.placeholder("float32", [2], name="x")
        y = ops.exp(x, name="y")
        node = ops.group(y, name="all")
        result = session.run({"a": [x, (y, node)], "b": Pair("y", "x:0"), "c": "all"}, {x: [0, 1]})
        assert list(result) == ["a", "b", "c"] and result["c"] is None
        assert isinstance(result["a"][1], tuple) and result["a"][1][1] is None
        assert isinstance(result["b"], Pair)
        np.testing.assert_array_equal(result["b"].second, result["a"][0])
        np.testing.assert_allclose(result["b"].first, np.exp([0, 1]), rtol=1e-6)

    def test_empty_fetches_return_empty_results(self, session):
        assert session.run([]) == [] and session.run({}) == {}

    def test_runs_repeated_without_feeds_return_arrays_of_their_own(self, session):
        """The session remembers the last such run, whose list its caller may change."""
        count = ops.Variable(np.zeros(2, np.float32), name="count")
        step = count.assign_add([1.0, 2.0], name="step")
        double, c = ops.multiply(step, 2.0, name="double"), ops.constant([7.0, 8.0])
        fetches = [step, double]
        for number in range(1, 4):
            once, twice = session.run(fetches)
            np.testing.assert_array_equal(once, [number, 2 * number])
            np.testing.assert_array_equal(twice, 2 * once)
            once[:] = twice[:] = -1
        fetches.reverse()
        np.testing.assert_array_equal(session.run(fetches), [[8, 16], [4, 8]])
        fetches[0] = "step"
        first, second = session.run(fetches)
        np.testing.assert_array_equal([first, second], [[5, 10], [5, 10]])
        assert not np.shares_memory(first, second)
        fetches[0] = c
        np.testing.assert_array_equal(session.run(fetches), [[7, 8], [6, 12]])
        np.testing.assert_array_equal(session.run(fetches, {c: [0, 0]}), [[0, 0], [7, 14]])
        np.testing.assert_array_equal(session.run([step]), [[8, 16]])
        np.testing.assert_array_equal(session.run(step), [9, 18])
        assert session.begin([c]).result()[0].tolist() == [7, 8]
        session.close()
        with pytest.raises(GraphError, match="session is closed"):
            session.run([step])

    @pytest.mark.parametrize("dtype", ["float32", "int32", "uint32", "uint8", "int8", "bool"])
    @pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 7)])
    def test_leaves_of_every_type_can_be_fetched(self, session, dtype, shape):
        value = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)
        x = ops.placeholder(dtype, shape, name="x")
        c = ops.constant(value, dtype=dtype)
        w = ops.Variable(value, name="w", dtype=dtype)
        for result in session.run([x, c, w], {x: value}):
            assert result.dtype == dtype and result.shape == shape
            np.testing.assert_array_equal(result, value)

    def test_fetched_arrays_belong_to_the_caller(self, session):
        w = ops.Variable([1.0, 2.0], name="w")
        c = ops.constant([3.0, 4.0])
        for tensor in (w, c, ops.reshape(w, [2, 1]), w.assign(c)):
            session.run(tensor)[...] = 99
        session.value(w)[...] = 99
        np.testing.assert_array_equal(session.run(c), [3, 4])
        np.testing.assert_array_equal(session.value(w), [3, 4])

    def test_none_is_refused_as_a_fetch(self, session):
        with pytest.raises(GraphError, match="cannot fetch NoneType None"):
            session.run([None])

    def test_fetches_of_two_graphs_are_refused(self, session):
        mine = ops.constant(1.0)
        with Graph().as_default():
            other = ops.constant(1.0)
        with pytest.raises(GraphError, match="one run cannot fetch from two graphs"):
            session.run([mine, other])


class TestFeeds:
    def test_any_tensor_can_be_fed(self, session):
        x = ops.placeholder("float32", [2], name="x")
        w = ops.Variable([1.0, 1.0], name="w")
        c = ops.constant([1.0, 1.0], name="c")
        y = ops.add(x * w, c, name="y")
        z = ops.neg(y)
        assert session.run(z, {"y:0": [1, 2]}).tolist() == [-1, -2]
        assert session.run(z, {x: [1, 2], c: [5, 5]}).tolist() == [-6, -7]
        assert session.run(z, {x: [1, 2], w: [3, 3]}).tolist() == [-4, -7]
        assert session.run([y, w], {y: [1, 2]})[0].tolist() == [1, 2]
        assert session.value(w).tolist() == [1, 1]

    def test_feeds_of_written_variables_are_refused(self, session):
        w = ops.Variable([1.0, 1.0], name="w")
        step = w.assign_add([1.0, 1.0])
        with pytest.raises(FeedError, match="'w' cannot be fed in a run that also writes it"):
            session.run(step, {w: [3, 3]})
        assert session.value(w).tolist() == [1, 1]

    def test_feeds_may_change_their_shape(self, session):
        x = ops.placeholder("float32", [None, 2], name="x")
        total = ops.reduce_sum(x)
        for rows in (1, 3, 1, 70):
            assert session.run(total, {x: np.ones((rows, 2))}) == 2 * rows

    def test_feeds_changed_later_do_not_change_variables(self, session):
        w = ops.Variable([0.0], name="w")
        x = ops.placeholder("float32", [1], name="x")
        value = np.array([5.0], np.float32)
        session.run(w.assign(x), {x: value})
        value[0] = 9
        assert session.value(w) == 5
        session.assign({w: value})
        value[0] = 7
        assert session.value(w) == 9


class TestVariables:
    def test_variables_keep_their_value_between_runs(self, session):
        w = ops.Variable([1.0], name="w")
        step = w.assign_add(2.0)
        assert [session.run(step).item() for _ in range(3)] == [3, 5, 7]
        assert session.value("w") == 7

    def test_variables_of_two_sessions_are_separate(self, graph, device):
        w = ops.Variable([1.0], name="w")
        step = w.assign_add(1.0)
        with Session(graph, device=device) as one, Session(graph, device=device) as two:
            one.run(step)
            one.run(step)
            two.run(step)
            assert (one.value(w), two.value(w)) == (3, 2)

    def test_variables_of_two_graphs_in_one_session_are_separate(self, session):
        values = []
        for start in (1.0, 10.0):
            with Graph().as_default():
                w = ops.Variable([start], name="w")
                values.append((w, w.assign_add(1.0)))
        for _, step in values:
            session.run(step)
            session.run(step)
        assert [session.value(w).item() for w, _ in values] == [3, 12]

    def test_variables_are_read_as_before_the_step(self, session):
        w = ops.Variable([1.0], name="w")
        new = w.assign_add(1.0)
        twice = w * 2.0
        with session.graph.control_dependencies([new]):
            late, now = w * 10.0, w.read_value()
        result = session.run([w, twice, new, late, now])
        assert [r.item() for r in result] == [1, 2, 2, 10, 2]

    def test_variables_can_be_swapped(self, session):
        a, b = ops.Variable([1.0], name="a"), ops.Variable([2.0], name="b")
        session.run(ops.group(a.assign(b), b.assign(a)))
        assert (session.value(a), session.value(b)) == (2, 1)

    def test_a_variable_can_be_read_alone(self, session):
        assert session.run(ops.Variable([4.0], name="w").read_value()) == 4

    def test_variables_can_be_initialized_from_each_other(self, session):
        a = ops.Variable([2.0], name="a")
        b = ops.Variable(a * 3.0, name="b")
        assert session.run(b) == 6

    def test_initial_values_are_equal_on_every_device(self, graph):
        for i in range(3):
            ops.Variable(ops.truncated_normal([50, 3]), name=f"w{i}")
        values = []
        for device in ("cpu", "gpu"):
            with Session(graph, device=device) as session:
                session.initialize()
                values.append([session.value(f"w{i}") for i in range(3)])
        np.testing.assert_array_equal(values[0], values[1])
        assert len(np.unique(values[0])) == 450

    def test_initial_values_do_not_depend_on_earlier_draws(self, graph, device):
        first = ops.Variable(ops.random_normal([4]), name="first")
        late = ops.Variable(ops.random_normal([4]), name="late")
        noise = ops.random_uniform([1])
        values = []
        for draws in (0, 3):
            with Session(graph, device=device) as session:
                session.value(first)
                for _ in range(draws):
                    session.run(noise)
                values.append((session.value(late), session.value("random/step")))
        np.testing.assert_array_equal(values[0][0], values[1][0])
        assert (values[0][1], values[1][1]) == (0, 3)

    def test_assigned_variables_skip_their_initializer(self, session):
        w = ops.Variable(ops.placeholder("float32", [2]), name="w")  # would have to be fed
        session.assign({"w": [1.0, 2.0]})
        assert session.value(w).tolist() == [1, 2]

    def test_variables_are_assigned_all_or_none(self, session):
        a, b = ops.Variable([1.0, 2.0], name="a"), ops.Variable([1], name="b")
        with pytest.raises(ShapeError) as caught:
            session.assign({a: [5.0, 6.0], b: [1, 2]})
        assert "variable 'b' has shape (1,), but was given a value of shape (2,)" in str(
            caught.value
        )
        with pytest.raises(DTypeError, match="variable 'b' takes int32 values, but was given"):
            session.assign({a: [5.0, 6.0], b: [1.5]})
        with pytest.raises(GraphError, match="no node named 'c'"):
            session.assign({a: [5.0, 6.0], "c": [1]})
        assert session.value(a).tolist() == [1, 2]

    def test_only_variables_can_be_assigned_and_valued(self, session):
        c = ops.constant(1.0, name="c")
        with pytest.raises(GraphError, match="'c' is not a variable"):
            session.value(c)
        with pytest.raises(GraphError, match="'c' is not a variable"):
            session.assign({"c": 1.0})


class TestRepeat:
    def test_repeat_equals_as_many_runs(self, device):
        net = network()
        feeds = net.feeds()
        values = []
        for repeated in (False, True):
            with Session(net.graph, device=device) as session:
                if repeated:
                    assert session.repeat(net.train, 7, feeds).steps_done == 7
                else:
                    for _ in range(7):
                        session.run(net.train, feeds)
                values.append([session.value(v) for v in ops.global_variables(net.graph)])
        for one, other in zip(*values, strict=True):
            np.testing.assert_array_equal(one, other)

    def test_repeat_draws_new_numbers_in_every_step(self, session):
        total = ops.Variable([0.0], name="total")
        step = total.assign_add(ops.random_uniform([1], seed=3))
        session.repeat(step, 5)
        repeated = session.value(total)
        session.assign({total: [0.0], "random/step": np.uint32(0)})
        draws = [session.run(step).item() for _ in range(5)]
        np.testing.assert_allclose(repeated, draws[-1], rtol=1e-6)
        assert len(set(np.diff(draws))) == 4

    def test_repeat_ends_on_a_stop(self, session):
        w = ops.Variable([0.0], name="w")
        asked = []
        session.stop_check = lambda: len(asked) >= 3 or bool(asked.append(1))
        result = session.repeat(w.assign_add(1.0), 1000)
        # A GPU's host polls before each submit of at most eight steps.
        assert 1 <= result.steps_done <= 3 * 8 and result.seconds >= 0
        assert session.value(w) == result.steps_done

    def test_repeating_nothing_changes_nothing(self, session):
        assert session.repeat([], 5).steps_done == 0
        w = ops.Variable([0.0], name="w")
        assert session.repeat(w.assign_add(1.0), 0).steps_done == 0
        assert session.value(w) == 0


def test_devices_train_alike():
    net = network()
    losses = {}
    for device in ("cpu", "gpu"):
        with Session(net.graph, device=device) as session:
            losses[device] = [
                session.run([net.loss, net.train], net.feeds(seed=i % 3))[0] for i in range(30)
            ]
    np.testing.assert_allclose(losses["gpu"], losses["cpu"], rtol=1e-4)
    assert losses["cpu"][-1] < 0.5 * losses["cpu"][0]


def test_threads_may_share_a_session(graph, device):
    x = ops.placeholder("float32", [None, 3], name="x")
    total = ops.reduce_sum(x @ ops.Variable(np.ones((3, 2), np.float32)))
    with Session(graph, device=device) as session, ThreadPoolExecutor(3) as pool:
        fed = [float(i % 3) for i in range(60)]
        totals = list(pool.map(lambda i: session.run(total, {x: np.full((2, 3), i)}), fed))
    assert totals == [12 * i for i in fed]


def test_a_stopped_run_changes_nothing(graph):
    with Session(graph, device="cpu") as session:
        w = ops.Variable([1.0], name="w")
        update = w.assign_add(1.0)
        session.run(update)
        session.stop_check = lambda: True
        with pytest.raises(KeyboardInterrupt):
            session.run([update, ops.exp(w)])
        session.stop_check = lambda: False
        assert session.value(w) == 2


def test_a_failing_run_changes_no_variable(graph):
    """The update has run when the error occurs, but it is discarded."""
    with Session(graph, device="cpu") as session:
        w = ops.Variable([1.0], name="w")
        update = w.assign_add(1.0)
        with graph.control_dependencies([update]):
            bad = ops.gather(ops.constant([1.0]), ops.cast(update, "int32"))
        with pytest.raises(PlaygradError, match="gather: indices must lie in"):
            session.run([update, bad])
        assert session.value(w) == 1
        assert session.run(update) == 2


class TestDevices:
    def test_device_names_are_resolved(self, graph, monkeypatch):
        with Session(graph, device="cpu") as session:
            assert (session.device, session.adapter) == ("cpu:0", "NumPy")
        monkeypatch.setenv("PLAYGRAD_DEVICE", "gpu")
        with Session(graph, device="auto") as session:
            assert session.device == "gpu:0" and session.adapter not in ("", "NumPy")

    def test_nonexistent_devices_are_refused(self, graph):
        with pytest.raises(DeviceError, match=r"there is no gpu:9 here\. Available: cpu:0"):
            Session(graph, device="gpu:9")
        with pytest.raises(DeviceError, match="'tpu' is not a device"):
            Session(graph, device="tpu")


def test_a_callable_computes_as_run_does(graph, device):
    with graph.as_default():
        x, y = ops.placeholder("float32", (None, 2), "x"), ops.placeholder("int32", (), "y")
        total = ops.reduce_sum(x, 1)
        scaled = total * ops.cast(y, "float32")
    with Session(graph, device) as session:
        call = session.make_callable({"a": scaled, "b": ["reduce_sum"]}, [y, "x:0"])
        for rows in (1, 3, 1):
            values = np.full((rows, 2), 1.5)
            results = call(2, values)
            expected = session.run({"a": scaled, "b": ["reduce_sum"]}, {x: values, y: 2})
            np.testing.assert_array_equal(results["a"], expected["a"])
            np.testing.assert_array_equal(results["b"][0], np.full(rows, 3, np.float32))
        with pytest.raises(FeedError, match="2 values must be fed, got 1"):
            call(2)
        with pytest.raises(FeedError, match="'x' has shape"):
            call(2, np.zeros(2))
        with pytest.raises(FeedError, match="twice"):
            session.make_callable(scaled, [x, "x:0"])
        with pytest.raises(FeedError, match="not a tensor in this graph"):
            session.make_callable(scaled, [3])
        with pytest.raises(GraphError, match="nothing to fetch"):
            session.make_callable([], [x])
    with pytest.raises(GraphError, match="closed"):
        call(2, values)


def test_a_callable_changes_variables_until_it_is_stopped(graph):
    with graph.as_default():
        count = ops.Variable(0.0, name="count")
        step = count.assign_add(ops.constant(1.0))
    with Session(graph, "cpu") as session:
        call = session.make_callable(step.node)
        assert call() is None and call() is None
        assert session.value(count) == 2
        session.stop_check = lambda: True
        with pytest.raises(KeyboardInterrupt):
            call()
        assert session.value(count) == 2


def test_closed_sessions_refuse_everything(graph, device):
    w = ops.Variable([1.0], name="w")
    session = Session(graph, device=device)
    session.run(w)
    session.close()
    session.close()
    for use in (
        lambda: session.run(w),
        lambda: session.value(w),
        lambda: session.assign({w: [2.0]}),
        lambda: session.initialize(),
        lambda: session.repeat(w, 3),
    ):
        with pytest.raises(GraphError, match=r"this session is closed\. Create a new one\."):
            use()
