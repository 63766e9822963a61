"""Probes: their nodes in the graph of the network that they look at."""

from __future__ import annotations

import numpy as np

import playgrad as pg
from playgrad import nn
from playgrad.inspection.probe import SAMPLES, SampleProbe

X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
Y = (X[:, :1] > 0).astype(np.float32)


def loss_of(model: pg.Sequential) -> float:
    """Return the loss that a probe of the last training computes."""
    assert model.train_excerpt is not None
    probe = SampleProbe(model.recipe, model.train_excerpt)
    loss = probe.results(probe.feeds(SAMPLES, probe.weights())).loss
    probe.close()
    return loss


def test_probes_of_later_trainings_add_no_nodes() -> None:
    model = pg.Sequential([nn.Dense(4, "tanh"), nn.Dropout(0.2), nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    sizes, losses = [], []
    for _ in range(3):
        model.fit(X, Y, batch_size=20, epochs=2, verbose=0)
        losses.append(loss_of(model))
        sizes.append(len(model.graph.nodes))
    assert sizes[0] == sizes[1] == sizes[2]
    assert losses[0] > losses[1] > losses[2]


def test_other_data_has_a_probe_of_its_own() -> None:
    model = pg.Sequential([nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    model.fit(X, Y, epochs=1, verbose=0)
    first = loss_of(model)
    model.fit(X, (10 * Y).astype(np.int32), epochs=1, verbose=0)
    assert loss_of(model) > 2 * first
