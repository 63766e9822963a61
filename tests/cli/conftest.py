"""A small program that a user might write."""

from __future__ import annotations

from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
import playgrad as pg

x = np.random.default_rng(0).normal(size=(40, 3))
y = (x.sum(1) > 0).astype(int)
model = pg.Sequential([pg.nn.Dense(4, activation="relu"), pg.nn.Dense(2)])
loss = pg.nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.05), loss, ["accuracy"])
model.fit(x, y, batch_size=10, epochs=3, validation_data=(x, y))
print("the program is done")
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "small.py"
    path.write_text(PROGRAM)
    return path
