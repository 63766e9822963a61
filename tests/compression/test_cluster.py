"""Networks whose weights share a few values."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.compression.cluster import centroids_of
from playgrad.optim.optimizer import BY_KIND
from tests.compression.networks import NETWORKS, network
from tests.compression.test_prune import X, Y, kernels, made

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


def test_a_value_moves_by_the_mean_of_its_updates() -> None:
    plain = made(pg.optim.SGD(0.1))
    small = pg.cluster(plain, 4)
    start = small.named_weights()
    plain.set_weights(start)
    for model in (plain, small):
        model.train_on_batch(X, Y)
    for key, value in kernels(plain).items():
        for shared in np.unique(start[key]):
            members = start[key] == shared
            moved = kernels(small)[key][members]
            np.testing.assert_allclose(moved, value[members].mean(), rtol=1e-5, atol=1e-7)


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
