"""The doctor's median, and that a training and its diagnosis leave out what is slow to import."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from playgrad.doctor.median import median

_TRAINED_AND_DIAGNOSED = """
import sys
import playgrad as pg
from playgrad import nn
x, y = pg.data.moons(300, noise=0.1, seed=0)
model = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dense(2)])
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
rate = pg.optim.schedules.ExponentialDecay(0.02, 100, 0.9)
model.compile(pg.optim.Adam(rate), loss, ["accuracy"], device="cpu")
model.fit(x, y, epochs=30, verbose=0, validation_split=0.2)
pg.diagnose(model, x, y)
print("numpy.ma" in sys.modules)
"""


@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (8,), (5, 3), (6, 3)])
def test_median_matches_numpy(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(median(values), np.median(values, axis=0))
    values[0] = np.inf
    np.testing.assert_array_equal(median(values), np.median(values, axis=0))
    values.reshape(-1)[-1] = np.nan
    np.testing.assert_array_equal(median(values), np.median(values, axis=0))


def test_a_training_does_not_import_masked_arrays() -> None:
    command = [sys.executable, "-c", _TRAINED_AND_DIAGNOSED]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
