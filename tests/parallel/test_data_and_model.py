"""Replicas of a network that is itself placed on several devices."""

from __future__ import annotations

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import GraphError
from playgrad.parallel import DataParallel, LocalSGD, Pipeline, Strategy

X = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
Y = (X[:, :3].argmax(1)).astype(np.int64)


def losses(strategy: Strategy | None) -> np.ndarray:
    pg.reset_default_graph(5)
    pg.set_logical_devices(cpu=4)
    x = pg.Input((8,))
    with pg.device("cpu:0"):
        hidden = nn.Dense(12, activation="relu")(x)
    with pg.device("cpu:1"):
        y = nn.Dense(3)(nn.GaussianNoise(0.1)(nn.Dropout(0.1)(hidden)))
    model = pg.Model(x, y)
    model.compile(
        pg.optim.Adam(0.01),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        device="cpu",
        strategy=strategy,
    )
    history = model.fit(X, Y, batch_size=15, epochs=5, verbose=0)
    if strategy is not None:
        used = {node.device for node in model.graph.nodes if "replica_" in node.name}
        assert {"cpu:0", "cpu:1", "cpu:2", "cpu:3"} <= used
    model.close()
    return history.losses


def test_two_replicas_of_two_devices_train_like_one_device() -> None:
    np.testing.assert_allclose(losses(DataParallel(4)), losses(None), rtol=1e-5)


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (DataParallel(3), "each replica needs 2 devices"),
        (DataParallel(("cpu:2", "cpu:3", "cpu:0", "cpu:1")), "first replica those"),
        (Pipeline(2), "a pipeline places layers itself"),
        (LocalSGD(4), "cannot train layers placed on cpu:0, cpu:1"),
    ],
)
def test_incompatible_strategies_are_refused(strategy: Strategy, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        losses(strategy)
