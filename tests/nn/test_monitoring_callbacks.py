"""Callbacks that watch a metric, save weights, or evaluate averages of the weights."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.nn.small_models import X, Y, line


def rates_of(values: list[float], **arguments: Any) -> list[float]:
    """Return the learning rate after each epoch, if the loss of the epochs is ``values``."""
    model = line(pg.optim.SGD(1.0))
    model.build((4,))
    assert model.optimizer is not None
    model.optimizer.prepare(model.graph)
    callback = nn.ReduceLROnPlateau(monitor="loss", **arguments)
    callback.set_model(model)
    callback.on_train_begin({})
    rates = []
    for epoch, value in enumerate(values):
        callback.on_epoch_end(epoch, {"loss": value})
        rates.append(float(model.session.value(model.optimizer.learning_rate)))
    model.close()
    return rates


def test_reduce_lr_on_plateau_follows_the_monitored_value() -> None:
    flat = [1.0] * 7
    np.testing.assert_allclose(
        rates_of(flat, factor=0.5, patience=2), [1, 1, 0.5, 0.5, 0.25, 0.25, 0.125]
    )
    np.testing.assert_allclose(
        rates_of(flat, factor=0.5, patience=1, cooldown=2), [1, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125]
    )
    assert rates_of(flat, factor=0.1, patience=1, min_lr=0.5)[-1] == 0.5
    assert rates_of([5, 4, 3, 2, 1], patience=1) == [1] * 5
    assert rates_of([1, 2, 3], patience=1, mode="max") == [1] * 3
    # 1 - 1e-5 is not an improvement upon 1
    np.testing.assert_allclose(rates_of([1, 1 - 1e-5], patience=1, factor=0.5), [1, 0.5])


def test_reduce_lr_changes_the_rate_during_fit(capsys: pytest.CaptureFixture[str]) -> None:
    model = line(pg.optim.SGD(0.0))
    callback = nn.ReduceLROnPlateau("loss", factor=0.5, patience=1, verbose=1)
    assert model.optimizer is not None
    model.fit(X, Y, epochs=2, verbose=0)
    model.session.assign({model.optimizer.learning_rate: 1e-9})
    model.fit(X, Y, epochs=3, verbose=0, callbacks=callback)
    assert float(model.session.value(model.optimizer.learning_rate)) < 1e-9
    assert "learning rate reduced to" in capsys.readouterr().out
    model.close()
    scheduled = line(pg.optim.SGD(pg.optim.ExponentialDecay(0.1, 5, 0.5)))
    with pytest.raises(pg.GraphError, match="follows the schedule ExponentialDecay"):
        scheduled.fit(X, Y, verbose=0, callbacks=nn.ReduceLROnPlateau("loss"))
    scheduled.close()


def test_checkpoints_are_saved(tmp_path: Path) -> None:
    model = line()
    every = nn.ModelCheckpoint(tmp_path / "w-{epoch:02d}.npz")
    last = nn.ModelCheckpoint(tmp_path / "last.safetensors", monitor="loss")
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[every, last])
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["last.safetensors", "w-01.npz", "w-02.npz", "w-03.npz"]
    weights = model.named_weights()
    model.load_weights(tmp_path / "w-01.npz")
    assert np.any(model.named_weights()["dense_1/kernel"] != weights["dense_1/kernel"])
    model.load_weights(tmp_path / "last.safetensors")
    np.testing.assert_array_equal(
        model.named_weights()["dense_1/kernel"], weights["dense_1/kernel"]
    )
    model.close()


def test_only_the_best_is_saved(capsys: pytest.CaptureFixture[str]) -> None:
    saved: list[str] = []
    model: Any = SimpleNamespace(save_weights=saved.append)
    callback = nn.ModelCheckpoint("{epoch}-{acc:.1f}.npz", "acc", 1, True, mode="max")
    again = nn.ModelCheckpoint("x{epoch}.npz", "acc", save_best_only=True, mode="max")
    for epoch, value in enumerate([0.5, 0.4, 0.6, 0.6, 0.7]):
        if epoch == 3:  # as when training is resumed
            again.set_state(callback.get_state())
            again.set_model(model)
        callback.set_model(model)
        callback.on_epoch_end(epoch, {"acc": value})
        if epoch >= 3:
            again.on_epoch_end(epoch, {"acc": value})
    assert saved == ["1-0.5.npz", "3-0.6.npz", "5-0.7.npz", "x5.npz"]
    assert "epoch 5: saved 5-0.7.npz" in capsys.readouterr().out
    threshold = nn.ModelCheckpoint(
        "y.npz", "acc", save_best_only=True, mode="max", initial_value_threshold=0.9
    )
    threshold.set_model(model)
    threshold.on_epoch_end(0, {"acc": 0.8})
    assert saved[-1] == "x5.npz"
    with pytest.raises(pg.CheckpointError, match=r"cannot name a file by.*val_loss.*\{epoch\}"):
        bad = nn.ModelCheckpoint("{val_loss}.npz")
        bad.set_model(model)
        bad.on_epoch_end(0, {"loss": 0.5})


def test_validation_sees_the_averages() -> None:
    def run(*callbacks: nn.Callback) -> tuple[pg.Sequential, nn.History]:
        with pg.Graph(seed=3).as_default():
            model = line(pg.optim.SGD(0.05, use_ema=True, ema_momentum=0.9))
            model.build((4,))
            history = model.fit(X, Y, 10, 4, 0, callbacks=list(callbacks), validation_data=(X, Y))
        return model, history

    plain, without = run()
    seen: list[dict[str, Any]] = []
    look = nn.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append(look.model.named_weights())
    )
    model, history = run(nn.SwapEMAWeights(swap_on_epoch=True), look)
    # Swapping changes what is evaluated, not the training; fit ends with the averages.
    np.testing.assert_array_equal(history.losses, without.losses)
    for key, value in model.named_weights().items():
        np.testing.assert_array_equal(value, plain.named_weights()[key])
        np.testing.assert_array_equal(value, seen[-1][key])
    assert all(
        a != b
        for a, b in zip(history.history["val_loss"], without.history["val_loss"], strict=True)
    )
    np.testing.assert_allclose(history.history["val_loss"][-1], model.evaluate(X, Y), rtol=1e-5)
    model.close()
    plain.close()
    other = line()
    with pytest.raises(pg.GraphError, match=r"needs an optimizer with moving averages.*use_ema"):
        other.fit(X, Y, verbose=0, callbacks=nn.SwapEMAWeights())
    other.close()


def test_terminate_on_nan_ends_training(capsys: pytest.CaptureFixture[str]) -> None:
    model = line(pg.optim.SGD(1e30))
    history = model.fit(X, Y, epochs=3, verbose=0, callbacks=nn.TerminateOnNaN())
    assert len(history.losses) < 6
    assert "training ended: the loss became" in capsys.readouterr().out
    assert all(np.isfinite(value).all() for value in model.named_weights().values())
    with pytest.raises(pg.NonFiniteError):
        model.fit(X, Y, epochs=3, verbose=0)
    model.close()


def test_wrong_arguments_are_refused() -> None:
    for make, words in (
        (lambda: nn.ReduceLROnPlateau(factor=1.0), "factor of ReduceLROnPlateau"),
        (lambda: nn.ReduceLROnPlateau(mode="less"), "mode must be 'auto', 'min' or 'max'"),
        (lambda: nn.EarlyStopping(mode="less"), "mode must be 'auto', 'min' or 'max'"),
        (lambda: nn.ModelCheckpoint("w.npz", save_weights_only=False), r"must end in \.playgrad"),
        (lambda: nn.ModelCheckpoint("w.playgrad", save_weights_only=True), "in .safetensors or"),
        (
            lambda: nn.ModelCheckpoint("w.npz", save_freq="batch"),
            "a number of steps, got 'batch",
        ),
        (lambda: nn.ModelCheckpoint("w.npz", save_freq=0), "save_freq must be"),
        (lambda: nn.ModelCheckpoint("w.ckpt"), r"must end in \.playgrad or \.keras, or in .safet"),
    ):
        with pytest.raises(pg.DataError, match=words):
            make()
    model = line()
    for callback in (nn.ReduceLROnPlateau(), nn.ModelCheckpoint("w.npz", save_best_only=True)):
        with pytest.warns(RuntimeWarning, match="'val_loss', which is not in the logs") as seen:
            model.fit(X, Y, verbose=0, epochs=2, callbacks=callback)
        assert len(seen) == 1
    model.close()
