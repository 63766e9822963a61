"""The last batch of a round may be smaller: steps, means and weights match Keras."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.parallel import (
    AsynchronousDataParallel,
    DataParallel,
    LocalSGD,
    Overlap,
    Pipeline,
    Strategy,
)
from tests.interchange.keras_side import keras
from tests.nn.resumed_runs import Trained, expect_same, run

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
X = (3 * rng.normal(size=(10, 3))).astype(np.float32)
Y = (X @ np.array([[1.0], [-2], [3]])).astype(np.float32)
WORDS = rng.integers(0, 4, (10, 5)).astype(np.int32)
NEXT = rng.normal(size=(10, 5, 1)).astype(np.float32)
WEIGHTS = rng.random(10).astype(np.float32)
LABELS = (Y[:, 0] > 0).astype(np.int32)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)
        warnings.filterwarnings("ignore", "`shuffle=True` was passed", UserWarning)
        yield


def dense(layers: Any, units: int = 1) -> list[Any]:
    return [layers.Dense(4, "tanh"), layers.Dense(units)]


def normalized(layers: Any) -> list[Any]:
    return [layers.Dense(4), layers.BatchNormalization(momentum=0.5), layers.Dense(1)]


def words(layers: Any) -> list[Any]:
    return [layers.Embedding(4, 3, mask_zero=True), layers.Dense(1)]


Build = Callable[[Any], list[Any]]
# Layers, x, y, arguments of the optimizer, and of fit.
CASES: dict[str, tuple[Build, Array, Array, dict[str, Any], dict[str, Any]]] = {
    "plain": (dense, X, Y, {}, {}),
    "full": (dense, X, Y, {}, {"batch_size": 5}),
    "one batch": (dense, X, Y, {}, {"batch_size": 16}),
    "a single sample": (dense, X, Y, {}, {"batch_size": 3}),
    "validation": (dense, X, Y, {}, {"validation_data": (X[:7], Y[:7])}),
    "split": (dense, X, Y, {}, {"validation_split": 0.3}),
    "sample weights": (dense, X, Y, {}, {"sample_weight": WEIGHTS}),
    "class weights": (partial(dense, units=2), X, LABELS, {}, {"class_weight": {0: 0.5, 1: 3.0}}),
    "masks": (words, WORDS, NEXT, {}, {}),
    "moments of batches": (normalized, X, Y, {}, {}),
    "accumulated": (dense, X, Y, {"gradient_accumulation_steps": 2}, {}),
    "momentum": (dense, X, Y, {"momentum": 0.9}, {}),
}


def pair(name: str) -> tuple[Any, pg.Sequential, dict[str, Any]]:
    """Return equal models of Keras and of playgrad, and the arguments of fit."""
    build, x, _, options, arguments = CASES[name]
    shape, dtype = x.shape[1:], x.dtype.name
    theirs = keras.Sequential([keras.Input(shape, dtype=dtype), *build(keras.layers)])
    with pg.Graph(seed=1).as_default():
        ours = pg.Sequential([pg.Input(shape, dtype=dtype), *build(nn)])
    loss: list[Any] = ["mse", "mse"]
    if name == "class weights":
        losses = keras.losses, nn
        loss = [each.SparseCategoricalCrossentropy(from_logits=True) for each in losses]
    metrics = ["accuracy" if name == "class weights" else "mae"]
    theirs.compile(keras.optimizers.SGD(0.01, **options), loss[0], metrics=metrics)
    ours.compile(pg.optim.SGD(0.01, **options), loss[1], metrics, device="cpu")
    theirs.set_weights(ours.get_weights())
    return theirs, ours, {"batch_size": 4, "epochs": 3, "verbose": 0, "shuffle": False} | arguments


def expect_equal(ours: pg.Sequential, found: nn.History, theirs: Any, expected: Any) -> None:
    assert found.history.keys() == expected.history.keys()
    for name, values in expected.history.items():
        np.testing.assert_allclose(found.history[name], values, rtol=1e-4, err_msg=name)
    for a, b in zip(ours.get_weights(), theirs.weights, strict=True):
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-4, atol=1e-5)
    ours.close()


@pytest.mark.parametrize("name", CASES)
def test_arrays(name: str) -> None:
    _, x, y, _, _ = CASES[name]
    theirs, ours, arguments = pair(name)
    expected = theirs.fit(x, y, **arguments)
    found = ours.fit(x, y, **arguments)
    assert len(found.losses) == int(theirs.optimizer._iterations.numpy())
    expect_equal(ours, found, theirs, expected)


@pytest.mark.parametrize("kind", ["Dataset", "generator"])
@pytest.mark.parametrize("name", [name for name in CASES if name != "split"])
def test_streams(name: str, kind: str) -> None:
    """Those of the generator have batches of another size at the beginning, too."""
    _, x, y, _, _ = CASES[name]
    theirs, ours, arguments = pair(name)
    batch, weight = arguments.pop("batch_size"), arguments.pop("sample_weight", None)
    del arguments["shuffle"]
    of_class = arguments.get("class_weight")
    parts = [x, y, *([] if weight is None else [weight])]
    first = [0, 1] if kind == "generator" else [0]
    places = [*first, *range(first[-1] + batch, len(x), batch), len(x)]

    def batches(rounds: int = 3, parts: list[Array] = parts) -> Iterator[tuple[Array, ...]]:
        for _ in range(rounds):
            for start, end in pairwise(places):
                yield tuple(part[start:end] for part in parts)

    steps = len(places) - 1
    if of_class is None:
        expected = theirs.fit(batches(), steps_per_epoch=steps, **arguments)
    else:  # Keras takes weights of classes for arrays only
        weights = np.array([of_class[label] for label in y], np.float32)
        del arguments["class_weight"]
        expected = theirs.fit(batches(3, [x, y, weights]), steps_per_epoch=steps, **arguments)
        arguments["class_weight"] = of_class
    if kind == "generator":
        found = ours.fit(batches(), steps_per_epoch=steps, **arguments)
    else:
        found = ours.fit(pg.data.Dataset.from_generator(lambda: batches(1)), **arguments)
    expect_equal(ours, found, theirs, expected)


def keep(logged: list[dict[str, float]], batch: int, logs: Any) -> None:
    logged.append(dict(logs))


def test_metrics_of_whole_epochs_and_running_means() -> None:
    """Metrics that are computed from sums, and the logs that callbacks get after each batch."""
    with pg.Graph(seed=1).as_default():
        ours = pg.Sequential([pg.Input((3,)), nn.Dense(1, "sigmoid")])
    theirs = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, "sigmoid")])
    ours.compile(pg.optim.SGD(0.1), "mse", [nn.Recall(), "mae"], device="cpu")
    theirs.compile(
        keras.optimizers.SGD(0.1), "mse", metrics=[keras.metrics.Recall(name="recall"), "mae"]
    )
    theirs.set_weights(ours.get_weights())
    seen: list[list[dict[str, float]]] = [[], []]
    looks = [
        module.LambdaCallback(on_train_batch_end=partial(keep, logged))
        for module, logged in zip((keras.callbacks, nn), seen, strict=True)
    ]
    y = LABELS.astype(np.float32)[:, None]
    arguments: dict[str, Any] = {"batch_size": 4, "epochs": 2, "verbose": 0, "shuffle": False}
    expected = theirs.fit(X, y, callbacks=[looks[0]], **arguments)
    found = ours.fit(X, y, callbacks=[looks[1]], **arguments)
    assert len(seen[0]) == len(seen[1]) == 6
    for one, two in zip(*seen, strict=True):
        for name, value in two.items():
            assert float(one[name]) == pytest.approx(value, rel=1e-4), name
    expect_equal(ours, found, theirs, expected)


POWERS = (2.0 ** np.arange(10)).astype(np.float32)[:, None]
"""Ten samples whose sum tells which of them a batch has."""


def observer(strategy: Strategy | None = None, layers: int = 1) -> pg.Sequential:
    """Return a model that never changes, whose loss is the mean of the targets of a batch."""
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([pg.Input((1,)), *(nn.Dense(1) for _ in range(layers))])

    def loss(y: Any, p: Any) -> Any:
        return y + p * 0.0

    model.compile(pg.optim.SGD(0.0), loss, device="cpu", strategy=strategy)
    return model


def drawn(losses: Array, sizes: Iterable[int]) -> list[list[int]]:
    """Return the samples of each batch of `POWERS`, from its loss and its size."""
    totals = [round(float(loss) * size) for loss, size in zip(losses, sizes, strict=True)]
    return [[i for i in range(20) if total >> i & 1] for total in totals]


def joined(batches: list[list[int]]) -> list[int]:
    return list(chain.from_iterable(batches))


def test_each_round_has_every_sample_once_in_another_order() -> None:
    model = observer()
    batches = drawn(model.fit(POWERS, POWERS, 4, 3, 0).losses, [4, 4, 2] * 3)
    assert [len(batch) for batch in batches] == [4, 4, 2] * 3
    rounds = [batches[i : i + 3] for i in range(0, 9, 3)]
    assert all(sorted(joined(each)) == list(range(10)) for each in rounds)
    assert len({tuple(each[0]) for each in rounds}) > 1
    # Another fit begins with another round, whatever has been trained in between.
    model.train_on_batch(POWERS, POWERS)
    again = drawn(model.fit(POWERS, POWERS, 7, 1, 0).losses, [7, 3])
    assert sorted(joined(again)) == list(range(10))

    def end(batch: int, logs: Any) -> None:
        model.stop_training = True

    model.fit(POWERS, POWERS, 4, 1, 0, nn.LambdaCallback(on_train_batch_end=end))
    last = model.fit(POWERS, POWERS, 4, 1, 0, shuffle=False).losses
    assert drawn(last, [4, 4, 2]) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    model.close()


def test_epochs_of_some_steps_continue_in_the_round() -> None:
    model = observer()
    history = model.fit(POWERS, POWERS, 4, 3, 0, shuffle=False, steps_per_epoch=2)
    assert drawn(history.losses, [4, 4, 2, 4, 4, 2]) == [
        [0, 1, 2, 3], [4, 5, 6, 7], [8, 9], [0, 1, 2, 3], [4, 5, 6, 7], [8, 9],
    ]  # fmt: skip
    sums = POWERS[:8].sum() / 8, (POWERS[8:].sum() + POWERS[:4].sum()) / 6, POWERS[4:].sum() / 6
    np.testing.assert_allclose(history.history["loss"], sums)
    model.close()


def test_a_remainder_can_be_left_out() -> None:
    model = observer()
    history = model.fit(POWERS, POWERS, 4, 3, 0, drop_remainder=True)
    batches = drawn(history.losses, [4] * 6)
    assert all(len(batch) == 4 for batch in batches)
    rounds = [joined(batches[i : i + 2]) for i in range(0, 6, 2)]
    assert all(len({*each}) == 8 for each in rounds)
    assert len({*joined(rounds)}) == 10  # others are left out in each round
    losses = model.fit(POWERS, POWERS, 4, 1, 0, shuffle=False, drop_remainder=True).losses
    assert drawn(losses, [4, 4]) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    stream = pg.data.Dataset.from_tensor_slices((POWERS, POWERS)).batch(4)
    with pytest.raises(
        pg.DataError, match=r"drop_remainder cannot be set.*batch\(batch_size, drop"
    ):
        model.fit(stream, drop_remainder=True)
    model.close()


STRATEGIES: list[Strategy] = [
    DataParallel(2),
    LocalSGD(2, every=1),
    Overlap(2),
    Pipeline(2, 2),
    Pipeline(2, 2, "bidirectional"),
    AsynchronousDataParallel(1),
]


def trained(strategy: Strategy | None) -> tuple[list[Array], nn.History]:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([pg.Input((3,)), nn.Dense(4, "tanh"), nn.Dense(1)])
    model.compile(pg.optim.SGD(0.01), "mse", device="cpu", strategy=strategy)
    history = model.fit(X, Y, 4, 3, 0)
    weights = model.get_weights()
    model.close()
    return weights, history


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_strategies_train_as_one_device(strategy: Strategy) -> None:
    expected, history = trained(None)
    weights, found = trained(strategy)
    if not isinstance(strategy, LocalSGD):  # which shows the losses of its first device
        np.testing.assert_allclose(found.losses, history.losses, rtol=1e-4)
        np.testing.assert_allclose(found.history["loss"], history.history["loss"], rtol=1e-4)
    for one, two in zip(expected, weights, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("strategy", [DataParallel(4), Pipeline(2, 4)], ids=str)
def test_a_last_batch_that_cannot_be_divided_is_filled(strategy: Strategy) -> None:
    """From the next round: 2 samples are too few for 4 parts."""
    model = observer(strategy, layers=2)
    with pytest.warns(RuntimeWarning, match="of an epoch, which has 2 samples, is filled with"):
        losses = model.fit(POWERS, POWERS, 4, 5, 0, shuffle=False).losses
    assert drawn(losses, [4] * 15)[:5] == [
        [0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 8, 9], [2, 3, 4, 5], [6, 7, 8, 9],
    ]  # fmt: skip
    for _ in range(2):  # a round begins with each training
        losses = model.fit(
            POWERS, POWERS, 4, 1, 0, shuffle=False, drop_remainder=True, steps_per_epoch=3
        ).losses
        assert drawn(losses, [4] * 3) == [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 2, 3]]
    model.close()


def test_gradients_count_by_their_samples_in_whatever_order_they_arrive() -> None:
    model = observer(AsynchronousDataParallel(["cpu:1", "cpu:2"]))
    for _ in range(2):
        history = model.fit(POWERS, POWERS, 4, 6, 0, shuffle=False)
        sizes = model._training.loop.step.samples_of(0, 18)
        batches = drawn(history.losses, sizes)
        assert set(map(tuple, batches)) == {(0, 1, 2, 3), (4, 5, 6, 7), (8, 9)}
        assert 5 <= batches.count([8, 9]) <= 6  # the other replica may be ahead at the end
        for loss, first in zip(history.history["loss"], range(0, 18, 3), strict=True):
            epoch = joined(batches[first : first + 3])
            assert loss == pytest.approx(POWERS[epoch].mean())
    model.close()


def program(strategy: Strategy | None, streamed: bool) -> Trained:
    model = pg.Sequential([pg.Input((3,)), nn.Dense(4, "tanh"), nn.Dense(1)])
    model.compile(pg.optim.Adam(0.01), "mse", ["mae"], device="cpu", strategy=strategy)
    if streamed:
        data = pg.data.Dataset.from_tensor_slices((X, Y)).shuffle(10, 3).batch(4)
        return Trained([model], [model.fit(data, epochs=3, verbose=0)])
    return Trained([model], [model.fit(X, Y, 4, 3, 0)])


@pytest.mark.survival("Resumed trainings")
@pytest.mark.parametrize(
    ("strategy", "streamed"),
    [
        (None, False),
        (None, True),
        (LocalSGD(2, every=3), False),
        (AsynchronousDataParallel(1), False),
    ],
)
def test_a_training_continues_at_any_step(strategy: Strategy | None, streamed: bool) -> None:
    undisturbed = run(lambda: program(strategy, streamed))
    for step in (2, 3, 4) if strategy is None else (3,):
        stopped = run(lambda: program(strategy, streamed), stop_at=step)
        resumed = run(lambda: program(strategy, streamed), stopped.checkpoints[-1])
        expect_same(resumed, undisturbed)
