"""Models whose state is saved, and trainings that continue from the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]
X = np.random.default_rng(0).normal(size=(44, 6)).astype(np.float32)
LABELS = (X.sum(1) > 0).astype(np.int32)
EPOCHS = 5


class SaveAt(nn.Callback):
    """Saves the model once, after about ``step`` steps."""

    def __init__(self, path: Path, step: int) -> None:
        self.path = path
        self.step = step
        self.saved = 0

    def on_steps_end(self, step: int, logs: Any) -> None:
        if step >= self.step and not self.saved:
            self.saved = step
            self.model.save(self.path)


def classifier(optimizer: Any, device: str = "cpu", **more: Any) -> pg.Sequential:
    """A network with everything that has a state: slots, moving averages, random numbers."""
    model = pg.Sequential([nn.BatchNormalization(), nn.Dropout(0.3), nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, ["accuracy"], device=device, **more)
    return model


def fit(model: Any, callbacks: Any = (), epochs: int = EPOCHS, **more: Any) -> pg.History:
    return model.fit(X, LABELS, 8, epochs, verbose=0, callbacks=list(callbacks), **more)


def expect_equal(model: Any, other: Any, tolerance: float = 0.0) -> None:
    """Check that two trainings have had the same curve and have the same weights."""
    one, two = model.history, other.history
    assert one.names == two.names and one.epoch == two.epoch
    np.testing.assert_allclose(one.steps, two.steps, rtol=tolerance, atol=tolerance)
    assert one.history.keys() == two.history.keys()
    for name, means in one.history.items():
        np.testing.assert_allclose(means, two.history[name], rtol=tolerance, atol=tolerance)
    for name, array in model.named_weights().items():
        expected = other.named_weights()[name]
        np.testing.assert_allclose(array, expected, rtol=tolerance, atol=tolerance, err_msg=name)


def interrupted(model: Any, path: Path, step: int, **more: Any) -> int:
    """Train, and save the model in the middle; return at which step."""
    save = SaveAt(path, step)
    fit(model, [save], **more)
    model.close()
    return save.saved
