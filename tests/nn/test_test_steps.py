"""Classes that evaluate in a ``test_step`` of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.nn.test_train_steps import NUMBERS, Variational, X, Y, variational

WEIGHTS = NUMBERS.uniform(0.5, 2.0, len(X)).astype("float32")


class Judging(pg.Model):
    """Does by itself what ``evaluate`` does, with metrics of every kind."""

    def test_step(self, data: Any) -> dict[str, Any]:
        x, y, *weight = data
        y_pred = self(x, training=False)
        loss = self.compute_loss(y=y, y_pred=y_pred, sample_weight=weight[0] if weight else None)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {metric.name: metric.result() for metric in self.metrics}


def model_of(kind: type[pg.Model]) -> pg.Model:
    with pg.Graph(seed=2).as_default():
        inputs = pg.Input((6,))
        h = nn.Dropout(0.5)(nn.Dense(4, "tanh")(inputs))
        model = kind(inputs, nn.Dense(1, "sigmoid")(h))
    metrics = ["mae", nn.Precision(), nn.AUC(20), nn.RootMeanSquaredError()]
    model.compile(pg.optim.SGD(0.1), "binary_crossentropy", metrics, device="cpu")
    return model


def test_it_can_do_what_evaluate_does() -> None:
    """Also with a last batch of another size, and in the validation of fit."""
    logs = []
    for kind in (pg.Model, Judging):
        model = model_of(kind)
        for size in (16, 25, 200):
            logs.append(model.evaluate(X, Y, size, return_dict=True))
        logs.append(model.evaluate(X, Y, sample_weight=WEIGHTS, return_dict=True))
        batches = pg.data.Dataset.from_tensor_slices((X, Y)).batch(8)
        logs.append(model.evaluate(batches, return_dict=True))
        fitted = model.fit(X, Y, 16, 2, validation_data=(X[:20], Y[:20]), verbose=0)
        logs.append(fitted.history)
        logs.append(model.fit(X, Y, validation_split=0.3, verbose=0).history)
        logs.append(model.test_on_batch(X[:7], Y[:7], return_dict=True))
    half = len(logs) // 2
    for ours, theirs in zip(logs[:half], logs[half:], strict=True):
        assert ours.keys() == theirs.keys()
        for name, value in ours.items():
            np.testing.assert_allclose(value, theirs[name], rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.mark.gpu
def test_a_gpu_runs_it() -> None:
    values = []
    for device in ("cpu", "gpu"):
        model = model_of(Judging)
        model.compile("sgd", "mse", ["mae"], device=device)
        values.append(model.evaluate(X, Y, 25))
    np.testing.assert_allclose(*values, rtol=1e-4)


class Judged(Variational):
    """A class without ``call``, whose data has no targets."""

    def test_step(self, data: Any) -> dict[str, Any]:
        mean, _, _ = self.encoder(data)
        return {"error": pg.mean((self.decoder(mean) - data) ** 2.0), "most": pg.max(data)}


def test_a_class_without_call_is_evaluated() -> None:
    parts = variational()
    model = Judged(parts.encoder, parts.decoder)
    model.compile(pg.optim.Adam(0.02), device="cpu")
    data = pg.data.Dataset.from_tensor_slices(X).batch(10)
    history = model.fit(X, epochs=3, validation_data=data, verbose=0).history
    assert list(history) == ["loss", "error", "val_loss", "val_error", "val_most"]
    expected = np.mean((model.decoder.predict(model.encoder.predict(X)[0]) - X) ** 2)
    logs = model.evaluate(X, batch_size=15, return_dict=True)
    assert logs["error"] == logs["loss"] == pytest.approx(expected, rel=1e-5)
    assert history["val_error"][-1] == pytest.approx(expected, rel=1e-5)
    assert model.evaluate(data, return_dict=True)["error"] == pytest.approx(expected, rel=1e-5)
    of_batches = [X[i : i + 15].max() * len(X[i : i + 15]) for i in range(0, len(X), 15)]
    assert logs["most"] == pytest.approx(sum(of_batches) / len(X), rel=1e-5)


class Counting(pg.Model):
    """Says whether a batch has targets."""

    def test_step(self, data: Any) -> dict[str, Any]:
        return {"parts": float(len(data)) if isinstance(data, tuple) else 1.0}


def test_data_of_one_shape_may_have_targets_or_none() -> None:
    model = model_of(Counting)
    zeros = np.zeros(len(X), np.float32)  # as what stands for targets
    for x, y, parts in ((X, None, 1.0), (X, zeros, 2.0), (X, None, 1.0), (X, zeros, 2.0)):
        assert model.evaluate(x, y, return_dict=True)["parts"] == parts


def test_the_inherited_step_is_that_of_evaluate() -> None:
    class Passing(pg.Model):
        def test_step(self, data: Any) -> dict[str, Any]:
            return super().test_step(data)

    results = [model_of(kind).evaluate(X, Y, 16) for kind in (pg.Model, Passing)]
    np.testing.assert_allclose(*results, rtol=1e-4)


def test_other_results_are_explained() -> None:
    class Empty(pg.Model):
        def test_step(self, data: Any) -> Any:
            return None

    with pytest.raises(pg.GraphError, match="test_step of 'empty' must return a dictionary"):
        model_of(Empty).evaluate(X, Y)
