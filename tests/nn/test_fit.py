"""``fit``, ``evaluate`` and ``train_on_batch``: steps, results, options and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.data.input_description import InputDescription
from playgrad.ops.core.counter_random import batch_indices
from playgrad.runtime.options import Options, options_set
from playgrad.training.step_graphs import SHUFFLE_SEED
from tests.nn.small_models import DEVICES, LABELS, Array, X, Y, classifier, line
from tests.sweeps import slow


@pytest.mark.parametrize("device", DEVICES)
def test_fit_learns_and_records_its_history(device: str) -> None:
    model = classifier(device)
    history = model.fit(X, LABELS, batch_size=10, epochs=20, validation_data=(X, LABELS), verbose=0)
    assert list(history.history) == ["loss", "accuracy", "val_loss", "val_accuracy"]
    assert history.epoch == list(range(20))
    assert history.steps.shape == (100, 2)
    assert history.history["val_accuracy"][-1] > 0.95
    assert history.history["loss"][3] == pytest.approx(history.losses[15:20].mean(), rel=1e-5)
    assert model.history is history
    model.close()


def test_strategy_and_placement_can_be_set_between_fits() -> None:
    """The optimizer keeps its state, which another ``compile`` would reset."""
    model = line(pg.optim.SGD(0.01, momentum=0.9))
    other = line(pg.optim.SGD(0.01, momentum=0.9))
    overlap = pg.parallel.Overlap(2)
    for strategy in (None, overlap):
        model.strategy = strategy
        model.history = model.fit(X, Y, verbose=0)
        losses = other.fit(X, Y, verbose=0).losses
        np.testing.assert_allclose(model.history.losses, losses, rtol=1e-5)
    assert model.strategy is overlap
    asked = []
    model.strategy, model.placement = None, lambda node: asked.append(node)
    model.fit(X, Y, verbose=0)
    assert asked


def test_a_strategy_cannot_be_set_before_compile() -> None:
    model = pg.Sequential([nn.Dense(1)])
    with pytest.raises(pg.GraphError, match="no optimizer and loss yet"):
        model.strategy = pg.parallel.Overlap(2)


def test_an_epoch_has_the_order_of_the_generator() -> None:
    """It is ceil(samples / batch) steps, of which the last has the rest of the samples."""
    model = line(pg.optim.SGD(0.0))
    history = model.fit(X, Y, batch_size=16, epochs=2, verbose=0)
    assert len(history.losses) == 2 * 4
    w = model.named_weights()
    errors = ((X @ w["dense_1/kernel"] + w["dense_1/bias"])[:, 0] - Y) ** 2
    for step, loss in enumerate(history.losses):
        batch = 2 if step % 4 == 3 else 16
        index = batch_indices((0, SHUFFLE_SEED), step, 50, batch, True, (4, 16))
        assert loss == pytest.approx(errors[index].mean(), rel=1e-4)


def test_samples_come_in_order_without_shuffling() -> None:
    model = line(pg.optim.SGD(0.0))
    history = model.fit(X, Y, batch_size=20, epochs=2, shuffle=False, verbose=0)
    w = model.named_weights()
    errors = ((X @ w["dense_1/kernel"] + w["dense_1/bias"])[:, 0] - Y) ** 2
    expected = [errors[20 * step : 20 * step + 20].mean() for step in range(3)] * 2
    np.testing.assert_allclose(history.losses, expected, rtol=1e-4)


def test_the_same_seed_gives_the_same_curve() -> None:
    def curve(**options: Any) -> Array:
        with options_set(Options(seed=options.pop("graph", None))):
            return classifier().fit(X, LABELS, epochs=3, verbose=0, **options).losses

    np.testing.assert_array_equal(curve(), curve())
    assert not np.array_equal(curve(), curve(seed=1))
    assert not np.array_equal(curve(), curve(graph=1))


def test_fit_continues_where_it_ended() -> None:
    once = classifier().fit(X, LABELS, batch_size=10, epochs=6, verbose=0).losses
    model = classifier()
    twice = [model.fit(X, LABELS, batch_size=10, epochs=3, verbose=0).losses for _ in range(2)]
    np.testing.assert_array_equal(np.concatenate(twice), once)


@pytest.mark.parametrize(
    ("device", "batch"),
    [
        *(("cpu", batch) for batch in (None, 1, 7, 50, 64)),
        pytest.param("gpu", 7, marks=pytest.mark.gpu),
        *slow(*(("gpu", batch) for batch in (None, 1, 50, 64))),
    ],
)
def test_evaluation_is_exact(device: str, batch: int | None) -> None:
    model = classifier(device)
    loss, accuracy = model.evaluate(X, LABELS, batch_size=batch)
    scores = model.predict(X).astype(np.float64)
    shifted = scores - scores.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    assert loss == pytest.approx(-logs[np.arange(50), LABELS].mean(), rel=1e-5)
    assert accuracy == pytest.approx((scores.argmax(1) == LABELS).mean(), abs=1e-12)
    model.close()


def test_evaluate_returns_a_dict_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(classifier().evaluate(X, LABELS, return_dict=True)) == {"loss", "accuracy"}
    assert isinstance(line().evaluate(X, Y, verbose=1), float)
    assert capsys.readouterr().out.startswith("loss ")


@pytest.mark.parametrize("device", DEVICES)
def test_train_on_batch_is_a_step_of_fit(device: str) -> None:
    fitted, stepped = (line(pg.optim.Adam(0.1), device, metrics=["mae"]) for _ in range(2))
    history = fitted.fit(X, Y, batch_size=10, shuffle=False, verbose=0)
    results = [stepped.train_on_batch(X[i : i + 10], Y[i : i + 10]) for i in range(0, 50, 10)]
    np.testing.assert_allclose(results, history.steps, rtol=1e-4)
    assert set(stepped.train_on_batch(X, Y, return_dict=True)) == {"loss", "mae"}
    for name, value in fitted.named_weights().items():
        assert value.shape == stepped.named_weights()[name].shape
    fitted.close()
    stepped.close()


def test_conventions_of_keras_are_accepted() -> None:
    model = pg.Sequential([nn.Dense(1)])
    model.compile("sgd", "mse", None, device="cpu")
    history = model.fit(X, Y, None, callbacks=None, verbose=0, validation_data=None)
    assert len(history.losses) == 2  # batches of 32
    assert model.predict(X, batch_size=None).shape == (50, 1)
    model.compile("sgd", "mse", "mae", device="cpu")
    model.fit(X, Y, callbacks=nn.EarlyStopping("mae"), verbose=0)
    with pytest.raises(pg.GraphError, match=r"not a Callback: <class"):
        model.fit(X, Y, callbacks=[nn.EarlyStopping], verbose=0)
    assert model.input_description == InputDescription(X.shape[1:], (X.min(),), (X.max(),))
    with pytest.raises(pg.DataError, match=r"validation_data must be a pair \(x, y\)"):
        model.fit(X, Y, validation_data=(X, Y, Y, Y), verbose=0)


def test_fit_needs_compile() -> None:
    with pytest.raises(pg.GraphError, match=r"no optimizer and loss yet.*model\.compile"):
        pg.Sequential([nn.Dense(1)]).fit(X, Y)
    model = pg.Sequential([nn.Dense(1)])
    model.compile("sgd")
    with pytest.raises(pg.GraphError, match="no optimizer and loss yet"):
        model.fit(X, Y)


@pytest.mark.parametrize("device", DEVICES)
def test_an_exploding_learning_rate_raises_an_error(device: str) -> None:
    model = line(pg.optim.SGD(1e18), device)
    with pytest.raises(
        pg.NonFiniteError, match=r"loss became (NaN|infinite) at step \d.*Lower the learning rate"
    ):
        model.fit(X, Y, batch_size=10, epochs=20, verbose=0)
    steps = int(model.session.value(model.optimizer.iterations))
    assert 0 < steps == len(model.history.losses) < 10
    assert np.isfinite(model.history.losses).all()
    # The weights are those before the failed step: repeating the good steps gives the same ones.
    again = line(pg.optim.SGD(1e18), device)
    with options_set(Options(steps=steps)):
        again.fit(X, Y, batch_size=10, verbose=0)
    for name, value in model.named_weights().items():
        assert np.isfinite(value).all()
        np.testing.assert_array_equal(value, again.named_weights()[name])
    # The model can be repaired and trained further.
    fresh = line("sgd", device)
    fresh.build((4,))
    model.set_weights(fresh.named_weights())
    model.session.assign({model.optimizer.learning_rate: 0.01})
    model.fit(X, Y, epochs=2, verbose=0)
    with pytest.raises(pg.NonFiniteError, match="at step 1;"):
        model.session.assign({model.optimizer.learning_rate: 1e30})
        model.set_weights({k: v * 0 + 3e38 for k, v in fresh.named_weights().items()})
        model.train_on_batch(X, Y)
    for each in (model, again, fresh):
        each.close()


def test_options_override_the_program() -> None:
    with options_set(Options(steps=7, batch_size=5, verbose=0, epochs=99)):
        history = classifier().fit(X, LABELS, batch_size=50)
    assert len(history.losses) == 7
    with options_set(Options(epochs=2, batch_size=25)):
        assert len(classifier().fit(X, LABELS, verbose=0).losses) == 4


def test_a_trace_does_not_change_the_losses() -> None:
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
    before, iterations = model.named_weights(), model.session.value(model.optimizer.iterations)
    with options_set(Options(device="gpu")):
        assert model.session.device == "gpu:0"
        for name, value in model.named_weights().items():
            np.testing.assert_array_equal(value, before[name])
        assert model.session.value(model.optimizer.iterations) == iterations
        model.fit(X, LABELS, verbose=0)
    model.close()


@pytest.mark.parametrize("device", DEVICES[:1])
def test_batches_of_another_size_share_the_optimizer(device: str) -> None:
    def network() -> pg.Model:
        model = pg.Sequential([pg.Input((None, 1)), nn.Conv1D(1, 3, kernel_initializer="ones")])
        model.compile(pg.optim.SGD(0.01, momentum=0.9), loss="mse", device=device)
        return model

    fitted, stepped = network(), network()
    batches = [
        (np.full((2, size, 1), 0.5, np.float32), np.zeros((2, size - 2, 1), np.float32))
        for size in (4, 6, 4, 6)
    ]
    history = fitted.fit(iter(batches), verbose=0)
    losses = [stepped.train_on_batch(x, y) for x, y in batches]
    np.testing.assert_allclose(losses, history.losses, rtol=1e-5)
    fitted.close()
    stepped.close()
