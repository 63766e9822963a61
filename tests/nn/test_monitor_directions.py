"""Whether larger or smaller values of a metric are better, which the metric says, not its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.nn import losses, metrics
from playgrad.training.monitor import MonitorCallback
from tests.interchange.keras_side import keras
from tests.nn.small_models import X, Y, line

_MODES = {"up": "max", "down": "min"}


def of_keras(kind: str) -> str | None:
    """Return the direction of Keras' metric that is called so; None if there is none."""
    try:
        metric = keras.metrics.get(kind)
    except ValueError:
        return None
    if not isinstance(metric, keras.metrics.Metric):
        metric = keras.metrics.MeanMetricWrapper(metric)
    return _MODES[metric._direction]


def test_every_metric_has_the_direction_of_keras() -> None:
    compared = 0
    for kind in {*metrics.BY_KIND, *losses.BY_KIND} - {"custom"}:
        name = "".join(word.capitalize() for word in kind.split("_"))
        name = {"Auc": "AUC", "FbetaScore": "FBetaScore", "R2Score": "R2Score"}.get(name, name)
        expected = of_keras(name) or of_keras(kind)
        direction = metrics.get(kind).direction
        assert direction in ("min", "max"), kind
        assert expected in (None, direction), kind
        compared += expected is not None
    assert compared >= 20


def two_outputs() -> pg.Model:
    """Return a model whose logs have "acc", "r2", "f1" and "auc" in names that say nothing."""
    with pg.Graph(seed=1).as_default():
        x = pg.Input((4,))
        outputs = [nn.Dense(1, name="decoder2")(x), nn.Dense(1, name="buff1_auc_accumulator")(x)]
        model = pg.Model(x, outputs)
    model.compile(
        pg.optim.SGD(0.05),
        "mse",
        [nn.R2Score(), "mae", lambda true, predicted: true - predicted],
        device="cpu",
    )
    return model


@pytest.mark.parametrize(
    ("log", "direction"),
    [
        ("loss", "min"),
        ("val_loss", "min"),
        ("decoder2_loss", "min"),
        ("val_decoder2_loss", "min"),
        ("val_buff1_auc_accumulator_loss", "min"),
        ("buff1_auc_accumulator_mae", "min"),
        ("val_buff1_auc_accumulator_r2_score", "max"),
        ("val_decoder2_<lambda>", None),
        ("val_decoder2", None),
        ("accuracy", None),
    ],
)
def test_directions_of_logs(log: str, direction: str | None) -> None:
    model = two_outputs()
    assert model.direction_of(log) == direction
    made: list[MonitorCallback] = [
        nn.EarlyStopping(log),
        nn.ReduceLROnPlateau(log),
        nn.ModelCheckpoint("w.npz", log, save_best_only=True),
    ]
    for callback in made:
        if direction is None:
            with pytest.raises(pg.GraphError, match="cannot tell whether smaller or larger"):
                callback.set_model(model)
        else:
            callback.set_model(model)
            assert callback.improves(1.0, 2.0) == (direction == "min")
            assert not callback.improves(float("nan"), None)
    nn.ModelCheckpoint("w.npz", log).set_model(model)  # saves all, and compares nothing
    model.close()


def test_training_ends_with_the_best_weights_whatever_the_output_is_called(tmp_path: Path) -> None:
    model = two_outputs()
    stop = nn.EarlyStopping("val_decoder2_loss", patience=9, restore_best_weights=True)
    keep = nn.ModelCheckpoint(tmp_path / "w.npz", "val_decoder2_r2_score", save_best_only=True)
    # The third epoch makes everything worse.
    rates = nn.LearningRateScheduler(lambda epoch: 1.0 if epoch == 2 else 0.05)
    history = model.fit(
        X, [Y, Y], 50, 3, 0, [rates, stop, keep], validation_data=(X, [Y, Y])
    ).history
    found = model.evaluate(X, [Y, Y], return_dict=True)
    best = min(history["val_decoder2_loss"])
    assert best < history["val_decoder2_loss"][-1]
    assert found["decoder2_loss"] == pytest.approx(best, rel=1e-5)
    assert stop.best == best and keep.best == max(history["val_decoder2_r2_score"])
    restored = model.get_weights()
    model.load_weights(tmp_path / "w.npz")
    for one, two in zip(restored, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    model.close()


def test_a_metric_of_the_program_says_its_direction() -> None:
    class Hits(metrics.Metric):
        kind = "hits"
        direction = "max"

        def __call__(self, y_true: pg.Tensor, y_pred: pg.Tensor) -> pg.Tensor:
            return pg.reduce_sum(pg.abs(y_true - y_pred), axis=1)

    model = line(metrics=[Hits()])
    model.build((4,))
    assert model.direction_of("val_hits") == "max"
    model.close()


def test_metrics_of_one_name_are_all_in_the_logs_in_their_order() -> None:
    """As in Keras, where the second is called ``<name>_1``."""
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(1, "sigmoid")])
    made: list[Any] = [nn.AUC(), nn.AUC(curve="PR"), "mse", "mse"]
    model.compile("sgd", "mse", made, device="cpu")
    labels = (Y > 0.5).astype(np.float32)
    logs = model.fit(X, labels, verbose=0).history
    assert list(logs) == ["loss", "auc", "auc_1", "mse", "mse_1"]
    found = model.evaluate(X, labels, return_dict=True)
    predictions = model.predict(X)
    for name, curve in (("auc", "ROC"), ("auc_1", "PR")):
        other = keras.metrics.AUC(curve=curve)
        other.update_state(labels[:, None], predictions)
        assert found[name] == pytest.approx(float(other.result()), rel=1e-4)
    assert found["mse_1"] == found["mse"]
    assert model.direction_of("val_auc_1") == "max"
    model.close()
    with pg.Graph(seed=1).as_default():
        other_model = pg.Sequential([nn.Dense(2)])
    other_model.compile("sgd", "mse", [nn.R2Score(None), nn.R2Score()], device="cpu")
    with pytest.raises(pg.GraphError, match=r"two metrics are called 'r2_score_1'.*another name="):
        other_model.evaluate(X, X[:, :2])
    other_model.close()


def test_the_cosine_as_a_metric_is_that_of_keras() -> None:
    """The loss of this name is the negative cosine; the metric is not."""
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(3)])
    model.compile("sgd", "cosine_similarity", ["cosine_similarity"], device="cpu")
    loss, cosine = model.evaluate(X, X[:, :3])
    metric = keras.metrics.CosineSimilarity()
    metric.update_state(X[:, :3], model.predict(X))
    assert cosine == pytest.approx(float(metric.result()), rel=1e-4) == -loss
    assert model.direction_of("cosine_similarity") == "max"
    model.close()
