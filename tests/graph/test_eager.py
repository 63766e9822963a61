"""Eager mode: the same operations, computed at once."""

from __future__ import annotations

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

pytestmark = pytest.mark.usefixtures("graph")


def test_eager_tensors_have_python_values() -> None:
    with pg.eager():
        x = pg.constant([1.0, 2.0, 3.0])
        y = x * 2.0 + 1.0
        total = pg.sum(y)
        assert y.numpy().tolist() == [3, 5, 7]
        assert np.asarray(y, np.float64).dtype == np.float64
        assert (float(total), int(total), total.item()) == (15.0, 15, 15.0)
        assert f"{total:.2f}" == "15.00"
        assert total > 14.0
        assert [row.item() for row in y] == [3, 5, 7]
        assert "[3. 5. 7.]" in repr(y)
    assert y.numpy().tolist() == [3, 5, 7]  # it keeps its value


def test_eager_variables_change_at_once_and_are_shared_with_functions() -> None:
    with pg.eager():
        v = pg.Variable([1.0, 2.0])
        before = v + 1.0
        v.assign([5.0, 6.0])
        twice = pg.Variable(v * 2.0)
        v.assign_add([1.0, 1.0])
        assert before.numpy().tolist() == [2, 3]
        assert (v * 1.0).numpy().tolist() == v.numpy().tolist() == [6, 7]
        assert twice.numpy().tolist() == [10, 12]

    @pg.function
    def halve() -> pg.Tensor:
        return v.assign(v / 2.0)

    halve()
    assert v.numpy().tolist() == [3, 3.5]
    with pg.eager():
        assert float(v[0]) == 3


def test_random_operations_draw_anew() -> None:
    with pg.eager():
        first, second = pg.random_uniform((4,)), pg.random_uniform((4,))
        assert not np.array_equal(first, second)
        assert np.array_equal(first, first.numpy())
    graph_tensor = pg.random_uniform((4,))
    assert not np.array_equal(graph_tensor.numpy(), graph_tensor.numpy())


def test_gradients_and_optimizers_work_eagerly() -> None:
    optimizer = pg.optim.SGD(0.1)
    with pg.eager():
        v = pg.Variable([3.0])
        (slope,) = pg.gradients(pg.square(v), v)
        assert slope is not None and slope.item() == 6
        optimizer.minimize(pg.sum(pg.square(v)))
        assert v.item() == pytest.approx(2.4)
        assert optimizer.iterations.item() == 1


def test_models_train_as_elsewhere_inside_the_block() -> None:
    x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(16, 2)
    losses = []
    for mode in (pg.eager, pg.Graph().as_default):
        with mode():
            model = pg.Sequential([pg.Input((2,)), nn.Dense(1)])
            model.compile(pg.optim.Adam(0.1), "mse", device="cpu")
            losses.append(model.fit(x, x[:, :1], batch_size=8, epochs=2, verbose=0).losses)
            kernel = model.named_variables["dense_1/kernel"].numpy()
            expected = x @ kernel + model.named_variables["dense_1/bias"].numpy()
            np.testing.assert_allclose(model.predict(x), expected, rtol=1e-5)
    np.testing.assert_array_equal(*losses)


def test_tensors_without_a_value_raise_an_error() -> None:
    x = pg.placeholder("float32", (2,))
    with pg.eager():
        y = x + 1.0
        with pytest.raises(pg.FeedError):
            y.numpy()
        with pytest.raises(pg.GraphError, match="so it is not a number"):
            float(y)
    plain = pg.constant([1.0]) + 1.0
    with pytest.raises(pg.GraphError, match=r"NumPy cannot use it.*tensor.numpy\(\)"):
        np.asarray(plain)
    assert plain.numpy().tolist() == [2]
