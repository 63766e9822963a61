"""Keras with torch as its backend, which other tests need as well."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras

Array = np.ndarray[Any, Any]

__all__ = ["check_same", "keras", "opened", "predicted"]


def opened(path: Path) -> Any:
    """Return the model in a file, as Keras reads it."""
    return keras.models.load_model(path)


def predicted(model: Any, xs: list[Array]) -> Any:
    """Return what a model of Keras predicts."""
    with warnings.catch_warnings():
        # Keras converts batches to torch by a protocol that NumPy 2 deprecates.
        warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)
        return model.predict(xs if len(xs) > 1 else xs[0], verbose=0)


def check_same(model: Any, other: Any, xs: list[Array], tolerance: float = 1e-5) -> None:
    """Check that a model of playgrad and one of Keras predict the same."""
    one, two = predicted(other, xs), model.predict(xs if len(xs) > 1 else xs[0])
    assert isinstance(one, list) == isinstance(two, list)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, atol=tolerance, rtol=tolerance)
