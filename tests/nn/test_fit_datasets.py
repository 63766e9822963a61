"""``fit``, ``evaluate`` and ``predict`` on data sets and generators."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.data import Dataset
from playgrad.errors import DataError, DTypeError, NonFiniteError, ShapeError
from playgrad.training import streamed_evaluation, streamed_step
from playgrad.training.checkpoints.record import Checkpoint
from tests.nn.resumed_runs import Trained, expect_same, run
from tests.nn.small_models import DEVICES, GPU_BY_NIGHT, Array
from tests.sweeps import slow

X = np.random.default_rng(0).normal(size=(44, 6)).astype(np.float32)
LABELS = (X.sum(1) > 0).astype(np.int32)


def classifier(device: str = "cpu", **more: Any) -> pg.Sequential:
    model = pg.Sequential([nn.BatchNormalization(), nn.Dropout(0.3), nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, ["accuracy"], device=device, **more)
    return model


def batches(size: int = 8, count: int = 40) -> Dataset:
    return Dataset.from_tensor_slices((X[:count], LABELS[:count])).batch(size)


@pytest.fixture(autouse=True)
def no_threads_are_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = {t.name for t in set(threading.enumerate()) - before}
    assert not [name for name in left if name.startswith(("playgrad-reader", "playgrad-pref"))]


@pytest.mark.parametrize(
    ("device", "slots"),
    [
        *(("cpu", slots) for slots in (1, 3, 64)),
        pytest.param("gpu", 3, marks=pytest.mark.gpu),
        *slow(("gpu", 1), ("gpu", 64)),
    ],
)
def test_data_sets_give_the_losses_of_arrays_in_the_same_order(
    device: str, slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_step, "MOST_BATCHES", slots)
    one, other = classifier(device), classifier(device)
    expected = one.fit(X[:40], LABELS[:40], 8, 3, 0, shuffle=False)
    history = other.fit(batches().prefetch(2), epochs=3, verbose=0)
    np.testing.assert_array_equal(history.steps, expected.steps)
    assert history.history == expected.history
    more = other.fit(batches(), epochs=1, verbose=0).losses
    np.testing.assert_array_equal(more, one.fit(X[:40], LABELS[:40], 8, 1, 0, shuffle=False).losses)
    one.close()
    other.close()


@pytest.mark.parametrize("device", DEVICES)
def test_a_smaller_last_batch_is_a_step_of_its_own(device: str) -> None:
    """As in Keras: the mean of its samples."""
    one, other = classifier(device), classifier()
    history = one.fit(batches(16), epochs=2, verbose=0)
    losses = []
    for _ in range(2):
        for x, y in batches(16):
            losses.append(other.train_on_batch(x, y, return_dict=True)["loss"])
    assert len(history.losses) == 6
    # Dropout draws by the shape of a batch, and so it does in both.
    np.testing.assert_allclose(history.losses, losses, rtol=2e-5 if device == "cpu" else 2e-4)
    one.close()
    other.close()


def test_epochs_may_have_different_unknown_lengths() -> None:
    lengths = iter([3, 5, 2])
    dataset = Dataset.from_generator(lambda: iter([(X[:8], LABELS[:8])] * next(lengths)))
    seen: list[tuple[int, int]] = []
    callback = nn.LambdaCallback(on_steps_end=lambda step, logs: seen.append((step, 0)))
    history = classifier().fit(dataset, epochs=3, verbose=0, callbacks=callback)
    assert len(history.losses) == 10 and history.epoch == [0, 1, 2]
    means = [history.losses[a:b].mean() for a, b in [(0, 3), (3, 8), (8, 10)]]
    np.testing.assert_allclose(history.history["loss"], means, rtol=1e-6)
    assert seen[-1][0] == 10


def test_generators_are_accepted_with_and_without_an_end() -> None:
    def endless() -> Iterator[tuple[Array, Array]]:
        for start in range(10**9):
            yield X[start % 5 : start % 5 + 8], LABELS[start % 5 : start % 5 + 8]

    model = classifier()
    history = model.fit(endless(), steps_per_epoch=4, epochs=2, verbose=0)
    assert len(history.losses) == 8
    assert len(model.fit(batches().repeat(), steps_per_epoch=7, verbose=0).losses) == 7
    assert len(model.fit(X, LABELS, steps_per_epoch=7, verbose=0).losses) == 7
    assert len(model.fit(((X, LABELS) for _ in range(3)), verbose=0).losses) == 3
    weighted = Dataset.from_tensor_slices((X, LABELS, np.zeros(44))).batch(11)
    assert model.fit(weighted, verbose=0).losses.tolist() == [0] * 4
    classes = model.fit(batches(), class_weight={0: 0, 1: 0}, verbose=0)
    assert classes.losses.max() == 0


@pytest.mark.parametrize("window", [1, 1 << 20])
@pytest.mark.parametrize("device", GPU_BY_NIGHT)
def test_evaluation_and_prediction_accept_data_sets(
    device: str, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_evaluation, "WINDOW_BYTES", window * 300)
    model = classifier(device)
    model.fit(X, LABELS, verbose=0)
    dataset = batches(7, 44)
    np.testing.assert_allclose(model.evaluate(dataset), model.evaluate(X, LABELS), rtol=1e-6)
    np.testing.assert_allclose(
        model.evaluate(dataset.repeat(), steps=2), model.evaluate(X[:14], LABELS[:14]), rtol=1e-6
    )
    np.testing.assert_allclose(model.predict(dataset), model.predict(X), rtol=1e-5)
    np.testing.assert_allclose(model.predict(iter([X[:3], X[3:9]])), model.predict(X[:9]), 1e-5)
    model.close()


def test_validation_data_and_callbacks_work_with_data_sets() -> None:
    one, other = classifier(), classifier()
    stopping = nn.EarlyStopping(patience=1, restore_best_weights=True)
    wrong = 1 - LABELS
    kept = Dataset.from_tensor_slices((X, wrong)).batch(10).cache().prefetch(1)
    history = one.fit(batches(), epochs=12, verbose=0, callbacks=stopping, validation_data=kept)
    assert stopping.stopped_epoch is not None and len(history.epoch) < 12
    stopping = nn.EarlyStopping(patience=1, restore_best_weights=True)
    expected = other.fit(
        X[:40], LABELS[:40], 8, 12, 0, stopping, validation_data=(X, wrong), shuffle=False
    )
    np.testing.assert_allclose(history.history["val_loss"], expected.history["val_loss"], 1e-6)
    half = one.fit(batches(), verbose=0, validation_data=kept.repeat(), validation_steps=2)
    assert "val_loss" in half.history


def test_rounds_are_shuffled_anew_and_cached() -> None:
    order: list[list[int]] = []
    read: list[int] = []

    def note(i: Any) -> tuple[Array, Array]:
        read.append(int(i))
        return X[i], LABELS[i]

    def watch(i: Any) -> Any:
        order[-1].append(int(i))
        return i

    class Rounds(nn.Callback):
        def on_epoch_begin(self, epoch: int, logs: Any) -> None:
            order.append([])

    order.append([])
    shuffled = Dataset.range(40).shuffle(40, seed=2).map(watch).map(note).batch(8)
    model = classifier()
    model.fit(shuffled, epochs=2, verbose=0, callbacks=Rounds())
    seen = [i for part in order for i in part]
    rounds = [seen[i : i + 40] for i in (0, 40)]
    assert sorted(rounds[0]) == sorted(rounds[1]) == list(range(40)) and rounds[0] != rounds[1]
    read.clear()
    model.fit(Dataset.range(40).map(note).cache().batch(8), epochs=3, verbose=0)
    assert read == list(range(40))


def streamed() -> Trained:
    """A net with a state of every kind, on a shuffled data set with a smaller last batch."""
    model = classifier()
    dataset = Dataset.from_tensor_slices((X, LABELS)).shuffle(20, seed=4).batch(8)
    unknown = dataset.filter(lambda x, y: True)
    endless = dataset.repeat()
    return Trained(
        [model],
        [
            model.fit(dataset, epochs=2, verbose=0),
            model.fit(unknown, epochs=2, verbose=0, validation_data=dataset),
            model.fit(endless, epochs=2, steps_per_epoch=5, verbose=0),
        ],
    )


@pytest.mark.survival("Resumed trainings")
def test_a_stopped_streamed_training_resumes_where_it_stopped() -> None:
    undisturbed = run(streamed)
    for step in (8, 18):
        stopped = run(streamed, stop_at=step)
        assert not Checkpoint.decode(stopped.checkpoints[-1]).info()["finished"]
        expect_same(run(streamed, stopped.checkpoints[-1]), undisturbed)


ENDED = Dataset.from_tensor_slices((X, LABELS)).batch(11)


@pytest.mark.parametrize(
    ("data", "options", "kind", "words"),
    [
        (ENDED.take(0), {}, DataError, "the data set is empty"),
        (ENDED.repeat(), {}, DataError, "the data set has no end. Pass steps_per_epoch"),
        (
            iter(ENDED),
            {"epochs": 2},
            DataError,
            "an iterator and can be read once, but",
        ),
        (
            ENDED,
            {"steps_per_epoch": 3, "epochs": 2},
            DataError,
            r"after 1 batches of epoch 2.*rep",
        ),
        (ENDED, {"batch_size": 4}, DataError, r"batch_size cannot be set.*Use batch\(batch_size\)"),
        (ENDED, {"y": LABELS}, DataError, "y cannot be set"),
        (ENDED, {"seed": 1}, DataError, "seed cannot be set"),
        (ENDED, {"validation_split": 0.5}, DataError, "validation_split cannot be set"),
        (ENDED.map(lambda x, y: x), {}, DataError, "batch 0 of the data set is a single array"),
        (
            ENDED.map(lambda x, y: ({"x": x}, y)),
            {},
            DataError,
            "batch 0 .*: x is a dictionary, but the",
        ),
        (ENDED.map(lambda x, y: (x, y[:3])), {}, DataError, "differ in length: 11 and 3 samples"),
        (
            iter([(X, LABELS), (X[:, :5], LABELS)]),
            {},
            ShapeError,
            r"batch 1 of the data set: x has samples of shape \(5,\)",
        ),
        (ENDED.map(lambda x, y: (x, y * 5)), {}, DataError, "batch 0 of the data set: y"),
        (ENDED.map(lambda x, y: (x * np.nan, y)), {}, DataError, "batch 0 .*: x contains nan"),
        (iter([("a", LABELS)]), {}, DTypeError, "batch 0 of the data set: x must hold numbers"),
        (ENDED, {"validation_data": ENDED.repeat()}, DataError, "Pass validation_steps"),
        (ENDED, {"validation_data": 5}, DataError, "or a Dataset"),
        (ENDED, {"validation_steps": 5}, DataError, "validation_steps is for"),
        (X, {}, DataError, "fit needs targets"),
    ],
)
def test_unusable_data_sets_are_refused(
    data: Any, options: Any, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        classifier().fit(data, verbose=0, **options)


def test_wrong_steps_of_evaluation_are_refused() -> None:
    model = classifier()
    model.fit(ENDED, verbose=0)
    with pytest.raises(DataError, match="ended after 4 batches, but 5 are needed"):
        model.evaluate(ENDED, steps=5)
    with pytest.raises(DataError, match="steps is for data sets"):
        model.evaluate(X, LABELS, steps=5)
    with pytest.raises(DataError, match="ended after 4 of 5 batches"):
        model.predict(ENDED, steps=5)
    with pytest.raises(DataError, match="batch_size cannot be set"):
        model.predict(ENDED, 5)


def test_a_loss_that_is_not_finite_ends_training() -> None:
    model = classifier()
    model.compile(
        pg.optim.SGD(1e30), nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu"
    )
    with pytest.raises(NonFiniteError, match="at step"):
        model.fit(batches().prefetch(2), epochs=5, verbose=0)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The data set is much larger than the memory that training may take."""
    monkeypatch.setattr(streamed_step, "WINDOW_BYTES", 1 << 20)
    _expect_bounded(1 << 26, 24 << 20)


@pytest.mark.slow
def test_memory_is_bounded_for_a_gigabyte() -> None:
    _expect_bounded(1 << 30, 64 << 20)


def _expect_bounded(total: int, most: int) -> None:
    batch = 1 << 20
    image = np.arange(batch // 64, dtype=np.uint8)
    labels = np.zeros(64, np.int32)

    def images() -> Iterator[tuple[Array, Array]]:
        for i in range(total // batch):
            yield np.tile(image + np.uint8(i), (64, 1)), labels

    model = pg.Sequential([nn.Rescaling(1 / 255), nn.Dense(2)])
    model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    dataset = Dataset.from_generator(images).prefetch(2)
    model.fit(dataset.take(2), verbose=0)
    tracemalloc.start()
    try:
        history = model.fit(dataset, verbose=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(history.losses) == total // batch
    assert peak < most
