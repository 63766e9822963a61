"""Two small models and their training data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]
X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
Y = (X @ np.array([1, -2, 3, 0.5]) + 0.1).astype(np.float32)
LABELS = (Y > 0).astype(np.int32)


def line(optimizer: Any = "sgd", device: str = "cpu", **more: Any) -> pg.Sequential:
    model = pg.Sequential([nn.Dense(1)])
    model.compile(optimizer, "mse", device=device, **more)
    return model


def classifier(device: str = "cpu") -> pg.Sequential:
    model = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dense(2)])
    model.compile(
        pg.optim.Adam(0.05),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        ["accuracy"],
        device=device,
    )
    return model


DEVICES = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]
GPU_BY_NIGHT = ["cpu", pytest.param("gpu", marks=[pytest.mark.gpu, pytest.mark.slow])]
"""For a test whose operations others hold on the GPU one by one."""
