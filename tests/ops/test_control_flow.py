"""``cond``, ``while_loop`` and ``scan``, compared with loops of PyTorch, on the cpu and a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad.errors import DTypeError, GraphError, ShapeError, UnsupportedOpError
from playgrad.graph.serialize import graph_from_json, graph_to_json
from tests.sweeps import slow

X = np.random.default_rng(0).uniform(-1, 1, (5, 2, 3)).astype(np.float32)
W = np.random.default_rng(1).uniform(-1, 1, (3, 3)).astype(np.float32)
on_both = pytest.mark.parametrize("device", ["cpu", "gpu"])


def run(fetches: Any, feeds: Any = None, device: str = "cpu") -> Any:
    with pg.Session(device=device) as session:
        return session.run(fetches, feeds)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with pg.Graph().as_default():
        yield


# scan


@on_both
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_and_two_derivatives_match_pytorch(device: str, reverse: bool) -> None:
    x, w = pg.constant(X), pg.Variable(W)
    h0 = pg.constant(X[0])
    states = pg.scan(lambda h, e: pg.tanh(h @ w + e), x, h0, reverse=reverse)
    first = pg.gradients(pg.sum(pg.square(states)), [x, w, h0])
    second = pg.gradients(pg.sum(pg.square(first[1])), w)
    ours = run([states, *first, *second], device=device)
    tx, tw, th = (torch.tensor(each, requires_grad=True) for each in (X, W, X[0]))
    h, outputs = th, []
    for e in tx.flip(0) if reverse else tx:
        h = torch.tanh(h @ tw + e)
        outputs.append(h)
    expected = torch.stack(outputs[::-1] if reverse else outputs)
    grads = torch.autograd.grad((expected**2).sum(), [tx, tw, th], create_graph=True)
    again = torch.autograd.grad((grads[1] ** 2).sum(), tw)
    for actual, tensor in zip(ours, [expected, *grads, *again], strict=True):
        np.testing.assert_allclose(actual, tensor.detach().numpy(), rtol=2e-4, atol=2e-4)


def test_scan_accepts_structures_and_a_missing_initializer() -> None:
    n = pg.constant(np.arange(1, 6, dtype=np.int32))
    product = pg.scan(lambda a, e: a * e, n)
    pair = pg.scan(
        lambda a, e: {"sum": a["sum"] + e[0], "last": e[1]},
        (n, n * 10),
        {"sum": pg.constant(0), "last": pg.constant(0)},
    )
    empty = pg.scan(lambda a, e: a + e, pg.zeros((0, 3)), pg.ones((3,)))
    a, b, c = run([product, pair, empty])
    np.testing.assert_array_equal(a, [1, 2, 6, 24, 120])
    np.testing.assert_array_equal(b["sum"], [1, 3, 6, 10, 15])
    np.testing.assert_array_equal(b["last"], [10, 20, 30, 40, 50])
    assert c.shape == (0, 3)


def test_scan_computes_loop_invariants_once() -> None:
    w = pg.Variable(W)
    pg.scan(lambda h, e: h + e @ pg.exp(w), pg.constant(X), pg.constant(X[0]))
    names = [node.op.name for node in pg.get_default_graph().nodes]
    assert (names.count("exp"), names.count("matmul")) == (1, 5)
    assert names.count("placeholder") == 0


def test_each_iteration_draws_other_numbers() -> None:
    outer = pg.scan(
        lambda a, e: pg.scan(lambda b, f: pg.random_uniform((2,)), pg.zeros((3,)), a)[2],
        pg.zeros((3,)),
        pg.zeros((2,)),
    )
    inner = pg.scan(lambda a, e: pg.dropout(e, 0.5), pg.ones((3, 64)), pg.zeros((64,)))
    total = pg.while_loop(
        lambda i, a, b: i < 2,
        lambda i, a, b: (i + 1, pg.random_uniform((2,)), a),
        (0, pg.zeros((2,)), pg.zeros((2,))),
    )
    a, b, (_, c, d) = run([outer, inner, total])
    for rows in (a, b, np.stack([c, d])):
        assert len(np.unique(rows, axis=0)) == len(rows)


@pytest.mark.parametrize("device", ["cpu", *slow("gpu")])
def test_a_recurrent_cell_learns(device: str) -> None:
    """The sign of the sum of a sequence, from the last state of a cell."""
    random = np.random.default_rng(2)
    sequences = random.normal(size=(6, 64, 1)).astype(np.float32)
    labels = (sequences.sum(axis=0) > 0).astype(np.float32)
    inward, across, out = (
        pg.Variable(random.normal(0, 0.5, shape).astype(np.float32))
        for shape in ((1, 4), (4, 4), (4, 1))
    )
    states = pg.scan(
        lambda h, e: pg.tanh(e @ inward + h @ across), pg.constant(sequences), pg.zeros((64, 4))
    )
    logits = states[5] @ out
    loss = pg.mean(pg.softplus(logits) - logits * labels)
    step = pg.optim.Adam(0.05).minimize(loss, [inward, across, out])
    with pg.Session(device=device) as session:
        before = session.run(loss)
        for _ in range(40):
            session.run(step)
        assert session.run(loss) < 0.5 * before


# cond


@on_both
def test_cond_counts_only_the_chosen_branch(device: str) -> None:
    x = pg.placeholder("float32", ())
    count = pg.Variable(0.0)
    y = pg.cond(x > 0, lambda: pg.log(x) * x, lambda: x * 3.0)
    (first,) = pg.gradients(y, x)
    (second,) = pg.gradients(first, x)
    counted = pg.cond(x > 0, lambda: count.assign_add(x), lambda: None)
    with pg.Session(device=device) as session:
        for value, expected in ((2.0, [1.386294, 1.693147, 0.5]), (0.0, [0, 3, 0])):
            actual = session.run([y, first, second], {x: value})
            np.testing.assert_allclose(actual, expected, rtol=1e-5)
            session.run(counted, {x: value})
        assert session.value(count) == 2.0


def test_cond_writes_the_variables_of_both_branches() -> None:
    x = pg.placeholder("int32", ())
    a, b = pg.Variable(1), pg.Variable(1)

    def both() -> Any:
        a.assign_add(x)
        return b.assign_sub(x)

    result = pg.cond(x > 0, both, lambda: a.assign(x))
    with pg.Session(device="cpu") as session:
        assert [int(session.run(result, {x: value})) for value in (3, -2)] == [-2, -2]
        assert (session.value(a), session.value(b)) == (-2, -2)


def test_cond_ends_the_loops_of_the_other_branch() -> None:
    x = pg.placeholder("float32", ())
    y = pg.cond(x > 0, lambda: pg.while_loop(lambda q: q < 9.0, lambda q: q * 2.0, x), lambda: x)
    assert [float(run(y, {x: value})) for value in (3.0, 0.0)] == [12.0, 0.0]


# while_loop


@on_both
def test_while_loop_and_two_derivatives_match_pytorch(device: str) -> None:
    x, w = pg.placeholder("float32", (None, 3)), pg.Variable(np.abs(W))
    count, y = pg.while_loop(
        lambda i, y: pg.sum(y) < 20.0, lambda i, y: (i + 1, y @ w + 1.0), (0, x), 8
    )
    first = pg.gradients(pg.sum(pg.square(y)), [x, w])
    second = pg.gradients(pg.sum(pg.square(first[1])), w)
    ours = run([count, y, *first, *second], {x: X[0]}, device)
    tx, tw = torch.tensor(X[0], requires_grad=True), torch.tensor(np.abs(W), requires_grad=True)
    ty, steps = tx, 0
    while ty.sum() < 20:
        ty, steps = ty @ tw + 1, steps + 1
    grads = torch.autograd.grad((ty**2).sum(), [tx, tw], create_graph=True)
    again = torch.autograd.grad((grads[1] ** 2).sum(), tw)
    assert 1 < steps < 8
    assert ours[0] == steps
    for actual, tensor in zip(ours[1:], [ty, *grads, *again], strict=True):
        np.testing.assert_allclose(actual, tensor.detach().numpy(), rtol=1e-4)


@on_both
def test_control_flow_can_be_nested(device: str) -> None:
    collatz = pg.while_loop(
        lambda n, steps: n > 1,
        lambda n, steps: (
            pg.cond(pg.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1),
            steps + 1,
        ),
        [27, 0],
    )
    triangle = pg.while_loop(
        lambda i, a: i < 4,
        lambda i, a: (i + 1, a + pg.while_loop(lambda j: j < i, lambda j: j + 1, 0)),
        (0, 0),
    )
    assert run([collatz, triangle], device=device) == [[1, 111], (4, 6)]


def test_while_loop_survives_json() -> None:
    y = pg.while_loop(lambda n: n < 100.0, lambda n: n * 2.0 + 1.0, 1.0)
    graph = graph_from_json(graph_to_json(pg.get_default_graph()))
    with pg.Session(graph, device="cpu") as session:
        assert session.run(y.name) == 127.0


def test_a_loop_may_be_limited_or_run_zero_times() -> None:
    x = pg.constant(0.0)
    y = pg.while_loop(lambda n: n > 0.0, lambda n: pg.log(n), x, maximum_iterations=3)
    z = pg.while_loop(lambda n: n < 9.0, lambda n: n + 1.0, x, maximum_iterations=3)
    assert run([y, *pg.gradients(y, x), z]) == [0.0, 1.0, 3.0]


# Errors


def test_errors_name_the_users_line() -> None:
    x, v = pg.constant(X), pg.Variable(1.0)
    here = "test_control_flow.py, line"
    with pytest.raises(ShapeError, match=rf"\(3,\) before and \(1, 3\) after.*{here}"):
        pg.while_loop(lambda a: pg.sum(a) < 1, lambda a: pg.expand_dims(a, 0), pg.zeros((3,)))
    with pytest.raises(DTypeError, match="int32 before and float32 after"):
        pg.while_loop(lambda a: a < 1, lambda a: pg.cast(a, "float32"), 0)
    with pytest.raises(DTypeError, match="must be bool, not float32"):
        pg.while_loop(lambda a: a, lambda a: a, 0.0)
    with pytest.raises(ShapeError, match=rf"\(2, 3\) before and \(5, 2, 3\) after.*{here}"):
        pg.scan(lambda h, e: h + x, x, x[0])
    with pytest.raises(ShapeError, match="known number of elements"):
        pg.scan(lambda h, e: h + e, pg.placeholder("float32", (None, 2)), pg.zeros((2,)))
    with pytest.raises(GraphError, match=r"must not write the variable 'variable'.*assign it"):
        pg.scan(lambda h, e: v.assign_add(1.0), x, 0.0)
    with pytest.raises(GraphError, match="structure"):
        pg.cond(v > 0, lambda: (v, v), lambda: v)
    with pytest.raises(ShapeError, match="the result of cond must keep its shape"):
        pg.cond(v > 0, lambda: x, lambda: v)
    with pytest.raises(DTypeError, match=rf"predicate of cond must be bool.*{here}"):
        pg.cond(v, lambda: v, lambda: v)
    with pytest.raises(GraphError, match=rf"needs maximum_iterations.*{here}.*scan"):
        pg.gradients(pg.while_loop(lambda a: a < 9.0, lambda a: a * v, v), v)


def test_a_loop_on_a_gpu_is_refused() -> None:
    with pg.device("gpu:0"):
        y = pg.while_loop(lambda a: a < 9.0, lambda a: a * 2.0, pg.Variable(1.0))
    with pytest.raises(UnsupportedOpError, match="'while_loop' cannot run on gpu:0"):
        run(y, device="gpu")
