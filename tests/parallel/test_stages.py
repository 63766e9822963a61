"""Partitioning layers into the stages of a pipeline."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import playgrad as pg
from playgrad import nn
from playgrad.errors import GraphError
from playgrad.parallel import Pipeline
from playgrad.parallel.stages import balance
from playgrad.training.layer_costs import chain_of

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 10)).astype(np.float32)
Y = X[:, :3].argmax(1)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8), st.integers(1, 5))
def test_the_cost_of_the_most_expensive_stage_is_minimal(costs: list[float], count: int) -> None:
    count = min(count, len(costs))
    stages = balance(costs, count)
    assert list(stages) == sorted(stages)
    assert set(stages) == set(range(count))
    best = min(
        max(sum(costs[a:b]) for a, b in itertools.pairwise([0, *cuts, len(costs)]))
        for cuts in itertools.combinations(range(1, len(costs)), count - 1)
    )
    most = max(sum(c for c, s in zip(costs, stages, strict=True) if s == n) for n in range(count))
    assert most == pytest.approx(best, rel=1e-6, abs=1e-6)


def test_equally_good_stages_are_evened_out() -> None:
    assert balance([8, 1, 1, 1, 1], 3) == (0, 1, 1, 2, 2)
    assert balance([0, 0, 0], 2) in [(0, 0, 1), (0, 1, 1)]


def sequential() -> pg.Sequential:
    with pg.Graph(seed=2).as_default():
        return pg.Sequential(
            [
                nn.Dense(16, activation="relu"),
                nn.Dropout(0.1),
                nn.Dense(16, activation="relu"),
                nn.Dense(3),
            ]
        )


def residual() -> pg.Model:
    """Return a model with connections across stages, an operation without a layer, and a layer that
    is called twice."""
    with pg.Graph(seed=2).as_default():
        x = pg.Input((10,))
        first = nn.Dense(12, activation="relu", name="first")(x)
        second = nn.Dense(12, activation="relu", name="second")(first)
        twice = nn.Dense(12, name="twice")
        third = twice(second) + first
        fourth = nn.Add(name="add")([twice(third), first])
        return pg.Model(x, nn.Dense(3, name="last")(fourth))


def losses(model: pg.Model, strategy: Pipeline | None, steps: int = 3) -> np.ndarray[Any, Any]:
    pg.set_logical_devices(cpu=4)
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, device="cpu", strategy=strategy)
    history = model.fit(X, Y, batch_size=20, epochs=steps, verbose=0)
    model.close()
    return history.losses


def stages_of(model: pg.Model, stages: Any, devices: int) -> tuple[int, ...]:
    """Return the stages that ``fit`` would use."""
    if not model.built:
        model.build((10,))
    model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    data = model.recipe.data.upload("train", [X], [Y.astype(np.int32)])
    strategy = Pipeline(devices, stages=stages)
    chosen = strategy.stages_of(chain_of(model.recipe, data, 20))
    model.close()
    return chosen


def test_stages_can_be_given_by_name_or_count() -> None:
    names = [["dense_1", "dropout_1"], ["dense_2", "dense_3"]]
    assert stages_of(sequential(), names, 2) == (0, 0, 1, 1)
    assert stages_of(sequential(), (1, 2, 1), 3) == (0, 1, 1, 2)
    # The sum belongs to the stage of its last input.
    by_layer = [["first"], ["second", "twice"], ["add", "last"]]
    assert stages_of(residual(), by_layer, 3) == (0, 1, 1, 1, 1, 2, 2)


def test_stages_are_balanced_by_estimates_or_measured_times() -> None:
    """Every layer is measured; how long each takes here is not tested."""
    assert stages_of(sequential(), "estimated", 2) == (0, 0, 1, 1)
    measured = stages_of(sequential(), "balanced", 2)
    assert sorted(measured) == list(measured) and set(measured) == {0, 1}
    model = sequential()
    model.build((10,))
    model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    data = model.recipe.data.upload("train", [X], [Y.astype(np.int32)])
    seconds = chain_of(model.recipe, data, 20).measure()
    assert len(seconds) == 4 and all(0 < each < 10 for each in seconds)
    model.close()
    with pg.Graph().as_default():  # one layer takes almost all of the time
        wide = pg.Sequential([nn.Dense(2), nn.Dense(3), nn.Dense(900), nn.Dense(600), nn.Dense(3)])
    assert stages_of(wide, "estimated", 2) == (0, 0, 0, 1, 1)


def test_measuring_does_not_change_the_model() -> None:
    one, other = sequential(), sequential()
    np.testing.assert_allclose(
        losses(one, Pipeline(3, 4, stages="balanced")), losses(other, None), rtol=1e-5
    )


@pytest.mark.parametrize(
    "strategy",
    [
        Pipeline(2, 4, stages=[["first", "second"], ["twice", "add", "last"]]),
        Pipeline(3, 4, "gpipe", stages=[["first"], ["second", "twice"], ["add", "last"]]),
        Pipeline(4, 4, stages=[["first"], ["second"], ["twice"], ["add", "last"]]),
        Pipeline(4, 3, "bidirectional"),
        Pipeline(2, 3, "interleaved"),
        Pipeline(5, 2, stages="estimated"),
    ],
    ids=str,
)
def test_connections_across_stages_and_shared_layers_train_correctly(strategy: Pipeline) -> None:
    if strategy.depth > 4:
        pg.set_logical_devices(cpu=5)
    np.testing.assert_allclose(losses(residual(), strategy), losses(residual(), None), rtol=1e-5)


@pytest.mark.parametrize(
    ("stages", "devices", "words"),
    [
        ("estimated", 5, "4 layers and operations cannot be divided into 5 stages"),
        ("even", 2, "'even' is not a way of dividing a model"),
        ((1, 1), 2, "is 2 layers, but the model has 4"),
        ((4, 0), 2, "is 4 layers, but the model has 4|at least 1"),
        ((2, 2), 3, "has 2 entries, but the pipeline 3 stages"),
        ([["dense_1"], ["dense_9"]], 2, "'dense_9' is not a layer of the model"),
        ([["dense_1"], ["dense_1"]], 2, "'dense_1' is in two stages"),
        ([["dense_1"], ["dense_2", "dense_3"]], 2, "no stage has the layers dropout_1"),
        ([["dense_1"], []], 2, r"stage 1 is \(\), not a list of layer names"),
        (
            [["dense_2", "dense_3"], ["dense_1", "dropout_1"]],
            2,
            "stage 0 would need 'dropout_1' of stage 1, for 'dense_2'",
        ),
    ],
)
def test_impossible_stages_are_refused(stages: Any, devices: int, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        stages_of(sequential(), stages, devices)


def test_impossible_pipelines_are_refused() -> None:
    with pytest.raises(GraphError, match="3 devices cannot make up 2 equal pipelines"):
        Pipeline(3, replicas=2)
    with pytest.raises(GraphError, match="no schedule 'zigzag'"):
        Pipeline(3, schedule="zigzag")
    with pytest.raises(GraphError, match="cannot have replicas"):
        Pipeline(4, schedule="pipedream", replicas=2)
