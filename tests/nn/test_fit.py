"""Training: what it counts, keeps, refuses, and says."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.nn.steps import SHUFFLE_SEED
from playgrad.ops.counter_random import batch_indices
from playgrad.runtime.hooks import Event, Hooks, Request, set_hooks
from playgrad.runtime.options import Options, options_set

Array = np.ndarray[Any, Any]
random = np.random.default_rng(0)
X = random.normal(size=(50, 4)).astype(np.float32)
Y = (X @ np.array([1, -2, 3, 0.5]) + 0.1).astype(np.float32)
LABELS = (Y > 0).astype(np.int32)


def line(optimizer: Any = "sgd", device: str = "cpu", **more: Any) -> pg.Sequential:
    model = pg.Sequential([nn.Dense(1)])
    model.compile(optimizer, more.pop("loss", "mse"), device=device, **more)
    return model


def classifier(device: str = "cpu", rate: float = 0.05) -> pg.Sequential:
    model = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dense(2)])
    model.compile(
        pg.optim.Adam(rate),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        ["accuracy"],
        device=device,
    )
    return model


DEVICES = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("device", DEVICES)
def test_learns(device: str) -> None:
    model = classifier(device)
    history = model.fit(X, LABELS, batch_size=10, epochs=20, validation_data=(X, LABELS), verbose=0)
    assert list(history.history) == ["loss", "accuracy", "val_loss", "val_accuracy"]
    assert history.epoch == list(range(20))
    assert history.steps.shape == (100, 2)
    assert history.history["val_accuracy"][-1] > 0.95
    assert history.history["loss"][3] == pytest.approx(history.losses[15:20].mean(), rel=1e-5)
    assert model.history is history
    model.close()


@pytest.mark.gpu
def test_data_of_another_shape_takes_the_place_of_the_old() -> None:
    host = registry.gpu(0).host
    before = host.stats()["bytes"]
    model = classifier("gpu")
    taken = []
    for count in (40_000, 2_000, 40_000):
        x = np.resize(X, (count, 4))
        model.fit(x, np.resize(LABELS, count), batch_size=2000, verbose=0)
        model.evaluate(x, np.resize(LABELS, count))
        taken.append(host.stats()["bytes"] - before)
        model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
    data = 2 * 38_000 * (4 * 4 + 4)  # of fit and of evaluate, in bytes
    assert taken[0] - taken[1] > 0.9 * data
    assert taken[2] - taken[0] < 0.1 * data
    model.close()
    assert host.stats()["bytes"] == before


def test_the_stream_of_samples_wraps_over_epochs() -> None:
    """ceil(samples / batch) steps an epoch, each of a full batch, in the order of the generator."""
    model = line(pg.optim.SGD(0.0))
    history = model.fit(X, Y, batch_size=16, epochs=2, verbose=0)
    assert len(history.losses) == 2 * 4
    w = model.get_weights()
    errors = ((X @ w["dense_1/kernel"] + w["dense_1/bias"])[:, 0] - Y) ** 2
    for step, loss in enumerate(history.losses):
        index = batch_indices((0, SHUFFLE_SEED), step, 50, 16, True)
        assert loss == pytest.approx(errors[index].mean(), rel=1e-4)


@pytest.mark.parametrize("device", DEVICES)
def test_epochs_go_on_in_one_go_where_nobody_looks_between_them(device: str) -> None:
    """Fewer chunks than epochs, and all that is told is as if there was one for each."""

    def train(**options: Any) -> tuple[nn.History, list[tuple[Any, ...]], int]:
        told: list[tuple[Any, ...]] = []
        chunks = 0

        class Told(Hooks):
            def poll(self) -> list[Request]:
                nonlocal chunks
                chunks += 1
                return []

            def emit(self, event: Event) -> None:
                if event["kind"] in ("progress", "epoch_end"):
                    told.append((event["kind"], event["epoch"], event["step"]))

        model = classifier(device)
        before = set_hooks(Told())
        try:
            history = model.fit(X, LABELS, batch_size=20, epochs=60, verbose=0, **options)
        finally:
            set_hooks(before)
        model.close()
        return history, told, chunks

    together, told, chunks = train()
    apart, _, more = train(callbacks=[nn.LambdaCallback()])
    np.testing.assert_array_equal(together.steps, apart.steps)
    assert together.history == apart.history and together.epoch == apart.epoch
    ends = [each for each in told if each[0] == "epoch_end"]
    assert ends == [("epoch_end", n, 3 * n) for n in range(1, 61)]
    assert [step for _, _, step in told] == sorted(step for _, _, step in told)
    assert all(3 * (epoch - 1) < step <= 3 * epoch for _, epoch, step in told)
    assert chunks < 60 <= more


def test_without_shuffling_samples_come_in_order() -> None:
    model = line(pg.optim.SGD(0.0))
    history = model.fit(X, Y, batch_size=20, epochs=2, shuffle=False, verbose=0)
    w = model.get_weights()
    errors = ((X @ w["dense_1/kernel"] + w["dense_1/bias"])[:, 0] - Y) ** 2
    stream = np.arange(120) % 50
    expected = [errors[stream[20 * step : 20 * step + 20]].mean() for step in range(6)]
    np.testing.assert_allclose(history.losses, expected, rtol=1e-4)


def test_the_same_seed_gives_the_same_curve() -> None:
    def curve(**options: Any) -> Array:
        with options_set(Options(seed=options.pop("graph", None))):
            return classifier().fit(X, LABELS, epochs=3, verbose=0, **options).losses

    np.testing.assert_array_equal(curve(), curve())
    assert not np.array_equal(curve(), curve(seed=1))
    assert not np.array_equal(curve(), curve(graph=1))


def test_fit_goes_on_where_it_ended() -> None:
    once = classifier().fit(X, LABELS, batch_size=10, epochs=6, verbose=0).losses
    model = classifier()
    twice = [model.fit(X, LABELS, batch_size=10, epochs=3, verbose=0).losses for _ in range(2)]
    np.testing.assert_array_equal(np.concatenate(twice), once)


def test_new_data_of_another_size() -> None:
    model = classifier()
    model.fit(X, LABELS, batch_size=10, verbose=0)
    before = model.session.value(model.optimizer.iterations)
    model.fit(X[:7], LABELS[:7], batch_size=10, epochs=2, verbose=0)
    assert model.session.value(model.optimizer.iterations) == before + 2  # a batch of all 7
    assert len(model.history.losses) == 2


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("batch", [None, 1, 7, 50, 64])
def test_evaluation_is_exact(device: str, batch: int | None) -> None:
    model = classifier(device)
    loss, accuracy = model.evaluate(X, LABELS, batch_size=batch)
    scores = model.predict(X).astype(np.float64)
    shifted = scores - scores.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    assert loss == pytest.approx(-logs[np.arange(50), LABELS].mean(), rel=1e-5)
    assert accuracy == pytest.approx((scores.argmax(1) == LABELS).mean(), abs=1e-12)
    model.close()


def test_evaluation_in_the_manner_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(classifier().evaluate(X, LABELS, return_dict=True)) == {"loss", "accuracy"}
    assert isinstance(line().evaluate(X, Y, verbose=1), float)
    assert capsys.readouterr().out.startswith("loss ")


@pytest.mark.parametrize("device", DEVICES)
def test_train_on_batch_is_a_step_of_fit(device: str) -> None:
    fitted, stepped = (line(pg.optim.Adam(0.1), device, metrics=["mae"]) for _ in range(2))
    history = fitted.fit(X, Y, batch_size=10, shuffle=False, verbose=0)
    found = [stepped.train_on_batch(X[i : i + 10], Y[i : i + 10]) for i in range(0, 50, 10)]
    np.testing.assert_allclose(found, history.steps, rtol=1e-4)
    assert set(stepped.train_on_batch(X, Y, return_dict=True)) == {"loss", "mae"}
    for name, value in fitted.get_weights().items():
        assert value.shape == stepped.get_weights()[name].shape
    fitted.close()
    stepped.close()


def test_bytes_stay_bytes_on_the_device() -> None:
    images = random.integers(0, 256, (30, 3, 3)).astype(np.uint8)
    model = pg.Sequential([nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    model.fit(images, images[:, 0, 0] / 255, verbose=0)
    held = {v.node.name: v.dtype for v in pg.global_variables(model.graph)}
    assert held["data/train/x"] == "uint8"
    assert held["data/train/y"] == "float32"
    assert model.inputs[0].dtype == "uint8"
    with pytest.raises(pg.DTypeError, match=r"takes uint8 values .*x\.astype\('uint8'\)"):
        model.predict(images / 255)
    # A model that was declared to take floats casts the bytes by itself.
    model = pg.Sequential([pg.Input((3, 3)), nn.Flatten(), nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    model.evaluate(images, images[:, 0, 0])
    assert model.inputs[0].dtype == "float32"


# Bad input: nothing changes.


@pytest.mark.parametrize(
    ("x", "y", "error", "words"),
    [
        (X[:0], LABELS[:0], pg.DataError, r"x is empty: its shape is \(0, 4\)"),
        (X, LABELS[:0], pg.DataError, "y is empty"),
        (X, LABELS[:9], pg.DataError, "x and y differ in length: 50 and 9 samples"),
        (X[:, :3], LABELS, pg.ShapeError, r"shape \(4,\) \(layer 'dense_1'\), but x .* \(3,\)"),
        (X[0], LABELS[:4], pg.ShapeError, r"single sample write sample\[None\]"),
        (np.where(X[3, 1] == X, np.nan, X), LABELS, pg.DataError, r"x contains nan \(sample 3\)"),
        (X * np.inf, LABELS, pg.DataError, "x contains -?inf|x contains nan"),
        (X.astype(np.float64) * 1e300, LABELS, pg.DataError, "x contains .*e\\+"),
        (X, LABELS + 1, pg.DataError, "y contains the label 2 .* 2 classes: labels must be 0 to 1"),
        (X, LABELS - 1, pg.DataError, "the label -1"),
        (X, LABELS + 0.5, pg.DataError, "whole class numbers"),
        ([["a", "b"]], LABELS, pg.DTypeError, "x must hold numbers, not <U1"),
        ([[1, 2], [3]], LABELS, pg.DataError, "samples of x differ in shape"),
        (3.0, LABELS, pg.DataError, "x is a single number"),
        (X, np.full(50, 2**40), pg.DataError, "do not fit into 32 bits"),
        (None, LABELS, pg.DTypeError, "x must hold numbers, not object"),
    ],
)
def test_data_that_cannot_be_used(x: Any, y: Any, error: type[Exception], words: str) -> None:
    model = classifier()
    model.fit(X, LABELS, verbose=0)
    before = model.get_weights()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(error, match=words):
            model.fit(x, y, verbose=0)
        with pytest.raises(error, match=r"validation x|validation y|'dense_1'"):
            model.fit(X, LABELS, validation_data=(x, y), verbose=0)
    for name, value in model.get_weights().items():
        np.testing.assert_array_equal(value, before[name])
    model.fit(X, LABELS, verbose=0)


@pytest.mark.parametrize("name", ["batch_size", "epochs"])
@pytest.mark.parametrize("value", [0, -1, 1.5])
def test_counts_must_be_whole(name: str, value: Any) -> None:
    with pytest.raises(pg.DataError, match=f"{name} must be a whole number of at least 1"):
        classifier().fit(X, LABELS, **{name: value})
    if name == "batch_size":
        with pytest.raises(pg.DataError, match="batch_size must be a whole number"):
            classifier().evaluate(X, LABELS, value)
        with pytest.raises(pg.DataError, match="batch_size must be a whole number"):
            classifier().predict(X, value)


def test_half_precision_data() -> None:
    half = X.astype(np.float16)
    assert len(classifier().fit(half, LABELS, verbose=0).losses) == 2
    half[7, 2] = np.inf
    with pytest.raises(pg.DataError, match=r"x contains inf \(sample 7\)"):
        classifier().fit(half, LABELS, verbose=0)


def test_whole_numbers_take_the_dtype_of_the_model() -> None:
    model = pg.Sequential([pg.Input((4,), "uint8"), nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    small, large = np.full((3, 4), 200), np.full((3, 4), 300)
    np.testing.assert_array_equal(model.predict(small), model.predict(small.astype(np.uint8)))
    model.fit(small, np.zeros(3), verbose=0)
    for values in (large, -small):
        with pytest.raises(pg.DTypeError, match="x takes uint8 values, but some do not fit"):
            model.predict(values)


def test_what_keras_takes_for_granted() -> None:
    model = pg.Sequential([nn.Dense(1)])
    model.compile("sgd", "mse", None, device="cpu")
    history = model.fit(X, Y, None, callbacks=None, verbose=0, validation_data=None)
    assert len(history.losses) == 2  # batches of 32
    assert model.predict(X, batch_size=None).shape == (50, 1)
    model.compile("sgd", "mse", "mae", device="cpu")
    model.fit(X, Y, callbacks=nn.EarlyStopping("mae"), verbose=0)
    with pytest.raises(pg.GraphError, match=r"a callback must be an nn\.Callback, not <class"):
        model.fit(X, Y, callbacks=[nn.EarlyStopping], verbose=0)
    assert model.input_maximum == X.max()
    with pytest.raises(pg.DataError, match=r"validation_data must be a pair \(x, y\)"):
        model.fit(X, Y, validation_data=(X, Y, Y), verbose=0)


def test_fit_needs_compile() -> None:
    with pytest.raises(pg.GraphError, match=r"no optimizer and loss yet.*model\.compile"):
        pg.Sequential([nn.Dense(1)]).fit(X, Y)
    model = pg.Sequential([nn.Dense(1)])
    model.compile("sgd")
    with pytest.raises(pg.GraphError, match="no optimizer and loss yet"):
        model.fit(X, Y)


@pytest.mark.parametrize("device", DEVICES)
def test_an_exploding_learning_rate(device: str) -> None:
    model = line(pg.optim.SGD(1e18), device)
    with pytest.raises(
        pg.NonFiniteError, match=r"loss became (NaN|infinite) at step \d.*Lower the learning rate"
    ):
        model.fit(X, Y, batch_size=10, epochs=20, verbose=0)
    steps = int(model.session.value(model.optimizer.iterations))
    assert 0 < steps == len(model.history.losses) < 10
    assert np.isfinite(model.history.losses).all()
    # The weights are those from before the step that failed: the same steps again give the same.
    again = line(pg.optim.SGD(1e18), device)
    with options_set(Options(steps=steps)):
        again.fit(X, Y, batch_size=10, verbose=0)
    for name, value in model.get_weights().items():
        assert np.isfinite(value).all()
        np.testing.assert_array_equal(value, again.get_weights()[name])
    # And the model can be mended and trained on.
    fresh = line("sgd", device)
    fresh.build((4,))
    model.set_weights(fresh.get_weights())
    model.session.assign({model.optimizer.learning_rate: 0.01})
    model.fit(X, Y, epochs=2, verbose=0)
    with pytest.raises(pg.NonFiniteError, match="at step 1;"):
        model.session.assign({model.optimizer.learning_rate: 1e30})
        model.set_weights({k: v * 0 + 3e38 for k, v in fresh.get_weights().items()})
        model.train_on_batch(X, Y)
    for each in (model, again, fresh):
        each.close()


@pytest.mark.gpu
def test_data_too_large_for_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("playgrad.nn.resident._largest_binding", lambda device: 2000)
    model = pg.Sequential([nn.Flatten(), nn.Dense(1)])
    model.compile("sgd", "mse", device="gpu")
    images = np.zeros((60, 3, 3), np.float32)
    with pytest.raises(
        pg.OutOfMemoryError, match=r"train x of shape \(60, 3, 3\).* 2,160 bytes.*as uint8"
    ):
        model.fit(images, np.zeros(60), verbose=0)
    model.fit(images[:30], np.zeros(30), verbose=0)
    model.close()


# Callbacks.


def test_callbacks_are_called_in_order() -> None:
    calls: list[str] = []

    def note(name: str) -> Callable[..., None]:
        return lambda *arguments: calls.append(f"{name} {arguments[0]}".split(" {")[0])

    names = ["on_train_begin", "on_epoch_begin", "on_epoch_end", "on_train_end"]
    callback = nn.LambdaCallback(**{name: note(name) for name in names})
    classifier().fit(X, LABELS, epochs=2, callbacks=[callback], verbose=0)
    assert calls == [
        "on_train_begin",
        "on_epoch_begin 0",
        "on_epoch_end 0",
        "on_epoch_begin 1",
        "on_epoch_end 1",
        "on_train_end",
    ]
    with pytest.raises(TypeError, match=r"no on_batch_end; there are .*on_steps_end"):
        nn.LambdaCallback(on_batch_end=print)


def test_steps_are_reported_in_chunks() -> None:
    seen: list[int] = []
    callback = nn.LambdaCallback(on_steps_end=lambda step, logs: seen.append(step))
    model = classifier()
    model.fit(X, LABELS, batch_size=1, epochs=2, callbacks=[callback], verbose=0)
    assert seen[0] == 1
    assert seen[-1] == 100
    assert seen == sorted(set(seen))


def test_early_stopping_goes_back_to_the_best() -> None:
    model = line(pg.optim.SGD(0.1))
    stop = nn.EarlyStopping(patience=2, restore_best_weights=True)
    schedule = nn.LearningRateScheduler(lambda epoch, rate: rate if epoch < 4 else 0.9)
    history = model.fit(
        X, Y, epochs=50, callbacks=[schedule, stop], validation_data=(X, Y), verbose=0
    )
    losses = history.history["val_loss"]
    assert stop.stopped_epoch == len(losses) - 1 < 49
    assert model.evaluate(X, Y) == pytest.approx(min(losses), rel=1e-5)
    with pytest.raises(pg.GraphError, match=r"watches 'val_loss', which is not measured.*loss"):
        model.fit(X, Y, callbacks=[nn.EarlyStopping()], verbose=0)


@pytest.mark.parametrize("rate", [None, -1.0, float("nan")])
def test_schedules_give_rates(rate: Any) -> None:
    model = line()
    with pytest.raises(ValueError, match="a learning rate must be a number of at least 0"):
        model.fit(X, Y, callbacks=[nn.LearningRateScheduler(lambda *_: rate)], verbose=0)
    assert model.session.value(model.optimizer.learning_rate) == np.float32(0.01)


def test_a_line_an_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    classifier().fit(X, LABELS, epochs=2, validation_data=(X, LABELS))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("epoch 2/2: loss 0.")
    assert "val_accuracy" in lines[1]


def test_options_go_before_the_program() -> None:
    with options_set(Options(steps=7, batch_size=5, verbose=0, epochs=99)):
        history = classifier().fit(X, LABELS, batch_size=50)
    assert len(history.losses) == 7
    with options_set(Options(epochs=2, batch_size=25)):
        assert len(classifier().fit(X, LABELS, verbose=0).losses) == 4


def test_a_trace_of_one_step() -> None:
    plain = classifier().fit(X, LABELS, verbose=0)
    trace = pg.Trace()
    with options_set(Options(trace=trace)):
        traced = classifier().fit(X, LABELS, verbose=0)
    np.testing.assert_array_equal(plain.losses, traced.losses)
    assert any("dense_1" in event.name for event in trace.events)


@pytest.mark.gpu
def test_moving_to_another_device_keeps_everything() -> None:
    model = classifier("cpu")
    model.fit(X, LABELS, epochs=2, verbose=0)
    before, iterations = model.get_weights(), model.session.value(model.optimizer.iterations)
    with options_set(Options(device="gpu")):
        assert model.session.device == "gpu:0"
        for name, value in model.get_weights().items():
            np.testing.assert_array_equal(value, before[name])
        assert model.session.value(model.optimizer.iterations) == iterations
        model.fit(X, LABELS, verbose=0)
    model.close()
