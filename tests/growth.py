"""Measures what many training steps leave behind in memory and on the device.

The file imports nothing from the tests: it is also pasted into a program that runs in the page.
"""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.runtime import host_program


def growth(device: str, steps: int) -> dict[str, int]:
    """Train for ``steps`` steps, a tenth of which read a value; return what they leave behind:
    bytes of Python's memory (``python``) and, on a GPU, the host's ``buffers``, ``bytes`` and
    ``programs``."""
    x = np.random.default_rng(0).normal(size=(256, 2)).astype(np.float32)
    model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dense(1)])
    model.compile(optimizer=pg.optim.Adam(0.01), loss=nn.MeanSquaredError(), device=device)
    model.fit(x, x[:, :1] * x[:, 1:], batch_size=32, epochs=1, verbose=0)
    session, step = model.session, model.training_step
    healthy = session.graph.tensor("train/healthy:0")

    def train(count: int) -> None:
        for _ in range(10):
            session.repeat(step, count * 9 // 100)
            for _ in range(count // 100):
                session.run([healthy, step])

    def in_use() -> dict[str, int]:
        gc.collect()
        counts = {"python": tracemalloc.get_traced_memory()[0]}
        if device == "gpu":
            stats = registry.gpu(0).host.stats()
            counts |= {name: stats[name] for name in ("buffers", "bytes", "programs")}
        return counts

    seconds, host_program.SECONDS_OF_NODE = host_program.SECONDS_OF_NODE, 0.0
    train(200)  # fills caches, and compiles steps
    host_program.SECONDS_OF_NODE = seconds
    tracemalloc.start()
    try:
        train(200)
        before = in_use()
        train(steps)
        after = in_use()
    finally:
        tracemalloc.stop()
    session.close()
    return {name: after[name] - before[name] for name in after}
