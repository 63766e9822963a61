"""Networks whose weights share a few values."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compression.cluster import centroids_of
from playgrad.optim.optimizer import BY_KIND
from tests.compression.networks import NETWORKS, network
from tests.compression.test_prune import LOSS, X, Y, kernels, made

random = np.random.default_rng(2)


@pytest.mark.parametrize("name", NETWORKS)
def test_weights_share_values(name: str) -> None:
    model, x = network(name)
    before = model.named_weights()
    small = pg.cluster(model, 5)
    for key, value in small.named_weights().items():
        if value.ndim > 1:
            assert len(np.unique(value)) == 5
            assert abs(value - before[key]).max() < np.ptp(before[key]) / 2
        else:
            np.testing.assert_array_equal(value, before[key])
    assert np.isfinite(small.predict(x)).all()
    for key, value in model.named_weights().items():
        np.testing.assert_array_equal(value, before[key])


def test_centroids_are_those_of_k_means() -> None:
    values = random.normal(size=400).astype(np.float32)
    centers = np.linspace(values.min(), values.max(), 6)
    for _ in range(1000):
        nearest = np.abs(values[:, None] - centers).argmin(axis=1)
        centers = np.array([values[nearest == each].mean() for each in range(6)])
    np.testing.assert_allclose(centroids_of(values, 6), centers, atol=1e-5)


def test_no_cluster_is_empty() -> None:
    sides = np.concatenate([random.uniform(-9, -8, 50), random.uniform(8, 9, 50)])
    centers = centroids_of(sides.astype(np.float32), 8)
    nearest = np.abs(sides[:, None] - centers).argmin(axis=1)
    assert len(np.unique(nearest)) == 8
    for each in range(8):
        assert centers[each] == pytest.approx(sides[nearest == each].mean(), abs=1e-5)


def test_fewer_weights_than_clusters_stay_as_they_are() -> None:
    model = made()
    np.testing.assert_array_equal(
        kernels(pg.cluster(model, 256))["dense_2/kernel"], kernels(model)["dense_2/kernel"]
    )
    assert centroids_of(np.full(9, 0.5, np.float32), 4).tolist() == [0.5]


@pytest.mark.parametrize("name", BY_KIND)
@pytest.mark.parametrize("pruned", [False, True])
def test_values_move_together_with_every_optimizer(name: str, pruned: bool) -> None:
    model = made(BY_KIND[name](weight_decay=0.01))
    small = pg.cluster(pg.prune(model, 0.6) if pruned else model, 6)
    before = kernels(small)
    small.fit(X, Y, batch_size=16, epochs=2, verbose=0)
    for key, value in kernels(small).items():
        np.testing.assert_array_equal(value == 0, before[key] == 0)
        assert (value != before[key]).any()
        for shared in np.unique(before[key]):
            assert len(np.unique(value[before[key] == shared])) == 1


def summed(grads: dict[str, Any], start: dict[str, Any]) -> dict[str, Any]:
    """Return the gradients of shared values, in the place of those of the weights."""
    sums = {}
    for key, grad in grads.items():
        sums[key] = grad.copy()
        for shared in np.unique(start[key]) if grad.ndim > 1 else ():
            members = start[key] == shared
            sums[key][members] = grad[members].sum() if shared else 0
    return sums


def gradients_of(start: dict[str, Any]) -> dict[str, Any]:
    plain = made(pg.optim.SGD(1.0))
    plain.set_weights(start)
    plain.train_on_batch(X, Y)
    return {key: start[key] - value for key, value in plain.named_weights().items()}


def norm(grads: dict[str, Any], start: dict[str, Any]) -> float:
    """Return the norm of the gradients, in which each shared value counts once."""
    squares = 0.0
    for key, grad in grads.items():
        values = (
            grad if grad.ndim < 2 else [grad[start[key] == v][0] for v in np.unique(start[key])]
        )
        squares += float(np.square(values).sum())
    return squares**0.5


@pytest.mark.parametrize("pruned", [False, True])
@pytest.mark.parametrize("limit", ["", "clipnorm", "global_clipnorm", "clipvalue"])
def test_the_gradient_of_a_value_is_the_sum_of_those_of_its_weights(
    limit: str, pruned: bool
) -> None:
    pg.reset_default_graph(2)
    rate, most = 0.01, 0.1
    model = made(pg.optim.SGD(rate, **({limit: most} if limit else {})))
    small = pg.cluster(pg.prune(model, 0.5) if pruned else model, 4)
    start = small.named_weights()
    expected = summed(gradients_of(start), start)
    if limit == "clipvalue":
        expected = {key: np.clip(grad, -most, most) for key, grad in expected.items()}
    elif limit:
        norms = {key: norm({key: grad}, start) for key, grad in expected.items()}
        if limit == "global_clipnorm":
            norms = dict.fromkeys(norms, norm(expected, start))
        assert max(norms.values()) > most
        expected = {key: g * min(1, most / norms[key]) for key, g in expected.items()}
    small.train_on_batch(X, Y)
    for key, value in small.named_weights().items():
        np.testing.assert_allclose(
            value, start[key] - rate * expected[key], rtol=2e-5, atol=1e-6, err_msg=key
        )


@pytest.mark.parametrize(
    "options", [{"momentum": 0.9}, {"gradient_accumulation_steps": 2}], ids=str
)
def test_several_steps_are_those_of_the_shared_values(options: Any) -> None:
    small = pg.cluster(made(pg.optim.SGD(0.01, **options)), 4)
    start = small.named_weights()
    expected, velocity = start, dict.fromkeys(start, 0.0)
    parts = 2 if "momentum" not in options else 1
    for _ in range(3):
        grads = summed(gradients_of(expected), expected)
        velocity = {k: 0.9 * velocity[k] * (parts == 1) - 0.01 * grads[k] for k in grads}
        expected = {key: expected[key] + velocity[key] for key in grads}
        for _ in range(parts):
            small.train_on_batch(X, Y)
    for key, value in small.named_weights().items():
        assert abs(value - start[key]).max() > 1e-3
        np.testing.assert_allclose(value, expected[key], rtol=1e-4, atol=1e-5, err_msg=key)


def test_values_do_not_drift_by_rounding() -> None:
    pg.reset_default_graph(4)
    model = pg.Sequential([pg.Input((400,)), nn.Dense(300), nn.Dense(2)])
    model.compile(pg.optim.SGD(0.0), LOSS)
    small = pg.cluster(model, 3)
    before = kernels(small)
    small.fit(random.normal(size=(64, 400)).astype(np.float32), Y[:64], epochs=5, verbose=0)
    for key, value in kernels(small).items():
        np.testing.assert_array_equal(value, before[key])


@pytest.mark.gpu
@pytest.mark.slow
def test_values_move_together_on_a_gpu() -> None:
    small = pg.cluster(made(pg.optim.SGD(0.01, momentum=0.9)), 4)
    twin = small.clone()
    twin.set_device("gpu")
    for model in (small, twin):
        model.fit(X, Y, batch_size=32, epochs=2, verbose=0, shuffle=False)
    for key, value in kernels(twin).items():
        assert len(np.unique(value)) == 4
        np.testing.assert_allclose(value, kernels(small)[key], rtol=1e-4, atol=1e-5)


def test_a_copy_keeps_what_is_shared() -> None:
    copy = pg.cluster(made(), 4).clone()
    copy.fit(X, Y, epochs=1, verbose=0)
    assert max(len(np.unique(value)) for value in kernels(copy).values()) <= 4


@pytest.mark.parametrize("value", [0, -1, 257, 2.0, True, "8", None])
def test_clusters_out_of_bounds(value: Any) -> None:
    with pytest.raises(pg.GraphError, match="clusters must be a whole number from 1 to 256"):
        pg.cluster(made(), value)


def test_pruned_after_clustering() -> None:
    small = pg.prune(pg.cluster(made(), 8), 0.5)
    small.fit(X, Y, epochs=2, verbose=0)
    for value in kernels(small).values():
        assert len(np.unique(value[value != 0])) <= 8
    assert (
        0.45 < np.mean(np.concatenate([v.reshape(-1) for v in kernels(small).values()]) == 0) < 0.65
    )


def test_the_package_of_that_name_does_not_replace_the_function() -> None:
    importlib.import_module("playgrad.cluster.hosts")
    assert callable(pg.cluster)
