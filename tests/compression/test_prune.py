"""Networks most of whose weights are 0, and stay 0 in training."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.optim.optimizer import BY_KIND
from playgrad.parallel import AsynchronousDataParallel, DataParallel, LocalSGD, Pipeline, Strategy
from tests.compression.networks import NETWORKS, network

Array = np.ndarray[Any, Any]
random = np.random.default_rng(1)
X = random.normal(size=(96, 10)).astype(np.float32)
Y = (X[:, :3].sum(1) > 0).astype(np.int32)
LOSS = nn.SparseCategoricalCrossentropy(from_logits=True)
TWO = ("cpu:0", "cpu:1")
THREE = (*TWO, "cpu:2")


def made(optimizer: Any = "adam", strategy: Strategy | None = None) -> pg.Model:
    model = pg.Sequential([pg.Input((10,)), nn.Dense(24, activation="relu"), nn.Dense(2)])
    model.compile(optimizer, LOSS, ["accuracy"], device="cpu", strategy=strategy)
    return model


def kernels(model: pg.Model) -> dict[str, Array]:
    return {name: each for name, each in model.named_weights().items() if each.ndim > 1}


def sparsity(model: pg.Model) -> float:
    values = np.concatenate([each.reshape(-1) for each in kernels(model).values()])
    return float(np.mean(values == 0))


@pytest.mark.parametrize("name", NETWORKS)
def test_the_smallest_weights_are_0(name: str) -> None:
    model, x = network(name)
    before = model.named_weights()
    small = pg.prune(model, 0.6)
    assert sparsity(small) == pytest.approx(0.6, abs=0.02)
    left, gone = [], []
    for key, value in small.named_weights().items():
        zero = (value == 0) & (before[key] != 0)
        np.testing.assert_array_equal(value[~zero], before[key][~zero])
        if value.ndim > 1:
            gone.append(np.abs(before[key][zero]))
            left.append(np.sort(np.abs(value[value != 0]))[:-1])  # the largest always stays
        else:
            assert not zero.any()
    assert np.concatenate(gone).max() <= np.concatenate(left).min()
    assert np.isfinite(small.predict(x)).all()
    for key, value in model.named_weights().items():
        np.testing.assert_array_equal(value, before[key])


def test_each_layer_alike() -> None:
    small = pg.prune(made(), 0.75, per_layer=True)
    assert [float(np.mean(each == 0)) for each in kernels(small).values()] == [0.75, 0.75]


@pytest.mark.parametrize("name", BY_KIND)
def test_zeros_stay_with_every_optimizer(name: str) -> None:
    optimizer = BY_KIND[name](weight_decay=0.01)
    small = pg.prune(made(optimizer), 0.7)
    before = kernels(small)
    small.fit(X, Y, batch_size=16, epochs=2, verbose=0)
    for key, value in kernels(small).items():
        np.testing.assert_array_equal(value == 0, before[key] == 0)
        assert (value != before[key]).any()


@pytest.mark.parametrize(
    "strategy",
    [
        DataParallel(THREE),
        LocalSGD(THREE, every=3),
        AsynchronousDataParallel(TWO),
        Pipeline(TWO),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize("makes", ["zeros", "clusters"])
def test_strategies_keep_what_makes_it_small(strategy: Strategy, makes: str) -> None:
    optimizer = pg.optim.SGD(0.05, momentum=0.9)
    small = pg.prune(made(optimizer, strategy), 0.7)
    if makes == "clusters":
        small = pg.cluster(small, 4)
    before = kernels(small)
    small.fit(X, Y, batch_size=16, epochs=2, verbose=0)
    for key, value in kernels(small).items():
        np.testing.assert_array_equal(value == 0, before[key] == 0)
        assert (value != before[key]).any()
        if makes == "clusters":
            assert len(np.unique(value)) <= 5
    small.close()


@pytest.mark.parametrize("strategy", [None, DataParallel(TWO), LocalSGD(TWO, every=3)], ids=str)
@pytest.mark.parametrize("steps", [10, 13])
def test_sparsity_grows_in_training(steps: int, strategy: Strategy | None) -> None:
    schedule = pg.PolynomialSparsity(steps, begin=2, every=4, initial=0.2)
    small = pg.prune(made(strategy=strategy), 0.8, schedule)
    assert sparsity(small) == pytest.approx(0.2, abs=0.02)
    seen = []
    watch = nn.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(sparsity(small)))
    small.fit(X, Y, batch_size=16, epochs=1, verbose=0, callbacks=watch)  # 6 steps
    expected = 0.8 - 0.6 * (1 - 2 / steps) ** 3  # after step 4
    assert seen == [pytest.approx(expected, abs=0.02)]
    small.fit(X, Y, batch_size=16, epochs=2, verbose=0, callbacks=watch)  # 18 steps
    assert seen[-1] == sparsity(small) == pytest.approx(0.8, abs=0.02)
    zeros = {key: value == 0 for key, value in kernels(small).items()}
    small.fit(X, Y, batch_size=16, epochs=1, verbose=0)
    for key, value in kernels(small).items():
        np.testing.assert_array_equal(value == 0, zeros[key])


@pytest.mark.parametrize("strategy", [None, DataParallel(TWO)], ids=str)
def test_single_batches_go_on_with_the_schedule(strategy: Strategy | None) -> None:
    results = []
    for by_hand in (False, True):
        pg.reset_default_graph(3)
        schedule = pg.PolynomialSparsity(7, begin=1, every=2)
        small = pg.prune(made(strategy=strategy), 0.8, schedule)
        seen = []
        for start in range(0, 96, 16) if by_hand else ():
            small.train_on_batch(X[start : start + 16], Y[start : start + 16])
            seen.append(sparsity(small))
        small.fit(X, Y, batch_size=16, epochs=1 if by_hand else 2, verbose=0, shuffle=False)
        assert seen == sorted(seen)
        assert not by_hand or 0.6 < seen[-1] < 0.8
        assert sparsity(small) == pytest.approx(0.8, abs=0.02)
        results.append(kernels(small))
    for key, value in results[0].items():
        np.testing.assert_allclose(results[1][key], value, atol=1e-4)


def test_replicas_are_pruned_together() -> None:
    results = []
    for strategy in (None, DataParallel(TWO)):
        pg.reset_default_graph(3)
        small = pg.prune(made(strategy=strategy), 0.8, pg.PolynomialSparsity(9, every=3))
        small.fit(X, Y, batch_size=16, epochs=3, verbose=0, seed=1)
        results.append(kernels(small))
    for key, value in results[0].items():
        np.testing.assert_allclose(results[1][key], value, atol=1e-4)


def test_averages_of_weights_do_not_bring_back_what_is_pruned() -> None:
    small = pg.prune(made(pg.optim.Adam(0.01, use_ema=True)), 0.8, pg.PolynomialSparsity(10))
    small.fit(X, Y, batch_size=16, epochs=3, verbose=0)
    assert sparsity(small) == pytest.approx(0.8, abs=0.02)


def test_the_best_weights_of_before_are_pruned_as_well() -> None:
    small = pg.prune(made(), 0.8, pg.PolynomialSparsity(10, every=5))
    best = nn.EarlyStopping("loss", mode="max", patience=9, restore_best_weights=True)  # epoch 1
    with pytest.warns(
        RuntimeWarning, match="pruned again, and not been trained since.*after step 10"
    ):
        small.fit(X, Y, batch_size=32, epochs=5, verbose=0, callbacks=best)
    assert best.best_epoch == 0
    assert sparsity(small) == pytest.approx(0.8, abs=0.02)


def test_training_in_a_file_is_not_resumed_without_its_zeros(tmp_path: Path) -> None:
    small = pg.prune(made(), 0.8)
    small.fit(X, Y, batch_size=32, epochs=1, verbose=0, seed=1)
    small.save(tmp_path / "run.playgrad")
    loaded = pg.load(tmp_path / "run.playgrad")
    assert sparsity(loaded) == sparsity(small)
    with pytest.raises(pg.CheckpointError, match="kept zeros or shared values"):
        loaded.fit(X, Y, batch_size=32, epochs=2, verbose=0, seed=1, resume=True)
    again = pg.prune(loaded, 0)
    again.fit(X, Y, batch_size=32, epochs=1, verbose=0)
    assert sparsity(again) == sparsity(small)


def test_a_copy_goes_on_as_its_original() -> None:
    small = pg.prune(made(), 0.8, pg.PolynomialSparsity(10))
    for copy in (small.clone(), pg.cluster(small, 8)):
        copy.fit(X, Y, batch_size=16, epochs=3, verbose=0)
        assert sparsity(copy) == pytest.approx(0.8, abs=0.02)
    assert sparsity(small) == 0


def test_zeros_of_a_file_are_kept_by_pruning_nothing_more(tmp_path) -> None:
    pg.prune(made(), 0.7).save_weights(tmp_path / "small.safetensors")
    loaded = pg.prune(pg.load_model(tmp_path / "small.safetensors"), 0)
    zeros = {key: value == 0 for key, value in kernels(loaded).items()}
    loaded.compile("adam", LOSS)
    loaded.fit(X, Y, epochs=1, verbose=0)
    assert zeros and all((kernels(loaded)[key] == 0)[zero].all() for key, zero in zeros.items())


def test_nothing_and_almost_everything() -> None:
    model = made()
    same = pg.prune(model, 0)
    for key, value in same.named_weights().items():
        np.testing.assert_array_equal(value, model.named_weights()[key])
    assert [np.count_nonzero(each) for each in kernels(pg.prune(model, 0.999999)).values()] == [
        1,
        1,
    ]


@pytest.mark.parametrize("value", [1, -0.1, 1.5, math.nan, True, "0.5", None])
def test_sparsity_out_of_bounds(value: Any) -> None:
    with pytest.raises(pg.GraphError, match="sparsity must be from 0 to below 1"):
        pg.prune(made(), value)


@pytest.mark.parametrize(
    "options", [{"steps": 0}, {"begin": -1}, {"every": 0}, {"initial": 1.0}, {"power": 0}]
)
def test_schedules_out_of_bounds(options: dict[str, Any]) -> None:
    with pytest.raises(pg.GraphError, match="must be"):
        pg.PolynomialSparsity(**{"steps": 10, **options})
    with pytest.raises(pg.GraphError, match="the schedule is 'slowly'"):
        pg.prune(made(), 0.5, "slowly")  # type: ignore[arg-type]


MAKERS = [pg.prune, pg.cluster, lambda model: pg.quantize(model, weights="int8", activations=None)]


@pytest.mark.parametrize("make", MAKERS)
def test_models_that_cannot_be_made_smaller(make: Any) -> None:
    with pytest.raises(pg.GraphError, match="is not built"):
        make(pg.Sequential([nn.Dense(3)]))
    with pytest.raises(pg.GraphError, match="a model is needed here, got 'digits'"):
        make("digits")
    model = made()
    weights = model.named_weights()
    weights["dense_1/kernel"][2, 3] = np.nan
    model.set_weights(weights)
    with pytest.raises(pg.DataError, match="dense_1/kernel' are NaN or infinite in 1 of 240"):
        make(model)
    np.testing.assert_array_equal(
        model.named_weights()["dense_1/kernel"], weights["dense_1/kernel"]
    )
    with pytest.raises(pg.GraphError, match="quantized already"):
        make(pg.quantize(made(), X))
