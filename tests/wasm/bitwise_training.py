"""A training whose losses have the same bits in every host of compiled steps.

Its data and initial weights need no function that NumPy computes differently in WebAssembly. A page
runs the text with a host of its own.
"""

from __future__ import annotations

import json
from typing import Any

from playgrad.runtime.step_host import using_step_host
from tests.wasm.wasmtime_step_host import WasmtimeStepHost

_TRAINING = """
import json
import numpy as np
import playgrad as pg
from playgrad import nn
from playgrad.runtime.step_host import PageHost, using_step_host

def losses():
    rng = np.random.default_rng(0)
    x = (rng.integers(-50, 50, size=(96, 6, 6, 1)) / 16).astype(np.float32)
    y = (x.sum((1, 2, 3)) > 0).astype(np.int32)
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([
            nn.Conv2D(4, 3, activation="gelu"), nn.MaxPool2D(2), nn.Flatten(), nn.Dropout(0.2),
            nn.Dense(16, "tanh"), nn.LayerNormalization(), nn.Dense(2),
        ])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=pg.optim.Adam(0.003), loss=loss, device="cpu")
    history = model.fit(x, y, batch_size=32, epochs=5, verbose=0)
    weights = [array.astype(np.float64).sum() for array in model.get_weights()]
    return [float(each) for each in (*history.history["loss"], *weights)]
"""
IN_PAGE = f"""{_TRAINING}
with using_step_host(PageHost(relaxed=False)):
    print("LOSSES" + json.dumps(losses()) + "END")
"""


def losses_in_wasmtime() -> list[float]:
    """Return the losses, and sums of the weights, of steps compiled by wasmtime."""
    names: dict[str, Any] = {}
    exec(_TRAINING, names)
    host = WasmtimeStepHost()
    with using_step_host(host):
        losses: list[float] = names["losses"]()
    assert host.loaded
    return losses


def losses_in(output: str) -> list[float]:
    """Return those that `IN_PAGE` has printed."""
    losses: list[float] = json.loads(output.partition("LOSSES")[2].partition("END")[0])
    return losses
