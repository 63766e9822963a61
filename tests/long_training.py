"""Trains compiled steps for a long time, and measures what grows.

The file imports nothing from the tests: it is also pasted into a program that runs in the page.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import playgrad as pg
from playgrad import nn

EPOCHS = 100
"""Of a call of ``fit``."""


def long_training(seconds: float, memory: Callable[[], int]) -> list[dict[str, float]]:
    """Train a small network for images on the processor, by one call of ``fit`` after the other.

    Args:
        memory: returns the bytes of memory that the process has taken.

    Returns:
        Ten measurements, at equal intervals: the number of ``calls`` until then, of ``steps`` since
        the last one, bytes of ``memory``, objects of Python (``objects``), nodes of the graph
        (``nodes``), and the last ``loss``.

    Raises:
        AssertionError: the step is not compiled into one function.
    """
    random = np.random.default_rng(0)
    y = random.integers(0, 4, 256).astype(np.int32)
    x = random.normal(size=(256, 12, 12, 1)).astype(np.float32) + y[:, None, None, None]
    model = pg.Sequential(
        [
            nn.Conv2D(8, 3, activation="relu"),
            nn.BatchNormalization(),
            nn.MaxPool2D(2),
            nn.Flatten(),
            nn.Dropout(0.3),
            nn.Dense(32, activation="tanh"),
            nn.Dense(4),
        ]
    )
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.001), loss, ["accuracy"], device="cpu")
    measured: list[dict[str, float]] = []
    calls = 0
    begin = time.monotonic()
    for number in range(1, 11):
        steps = 0
        while True:  # at least once, however slow the machine is
            history = model.fit(
                x, y, batch_size=32, epochs=EPOCHS, verbose=0, validation_data=(x, y)
            )
            assert math.isfinite(history.history["loss"][-1])
            calls, steps = calls + 1, steps + EPOCHS * 8
            if time.monotonic() - begin > number * seconds / 10:
                break
        programs: Any = model.session._programs._runnables.values()
        hosts = [each.host_program for each in programs if each.host_program is not None]
        assert any(each.compiled is not None and each.compiled.repeats for each in hosts)
        gc.collect()
        measured.append(
            {
                "calls": calls,
                "steps": steps,
                "memory": memory(),
                "objects": len(gc.get_objects()),
                "nodes": len(model.graph.nodes),
                "loss": history.history["loss"][-1],
            }
        )
    model.close()
    return measured


def check_flat(measured: list[dict[str, float]], memory: int) -> None:
    """Check that nothing has grown since the second measurement, when all caches are full.

    Args:
        memory: the bytes by which memory may vary.

    Raises:
        AssertionError: something has grown.
    """
    for row in measured:
        print(row)
    before, after = measured[1], measured[-1]
    assert after["memory"] - before["memory"] <= memory
    assert after["nodes"] == before["nodes"]
    # The record of a run describes each call of fit, for checkpoints.
    assert after["objects"] - before["objects"] <= 1000 + 15 * (after["calls"] - before["calls"])
    assert after["loss"] < 0.2
