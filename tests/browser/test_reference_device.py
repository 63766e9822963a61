"""The device "reference" in a page: NumPy alone, beside compiled code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_devices import finish

if TYPE_CHECKING:
    from tests.browser.conftest import Engine

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

# Notes each module that the browser compiles: kernels of operations, and steps.
COMPARED = """
import json
import numpy as np
import playgrad as pg
from playgrad import nn
from playgrad.devices import _emscripten

modules, instantiate = [], _emscripten.instantiate
_emscripten.instantiate = lambda module: modules.append(module) or instantiate(module)
random = np.random.default_rng(0)
x = random.normal(size=(64, 20, 20, 1)).astype(np.float32)
y = (x.reshape(64, -1).mean(1) > 0).astype(np.int32)

def trained(device):
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([
            nn.Conv2D(8, 3, activation="relu"), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(64),
            nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.003), loss, device=device)
    model.fit(x, y, batch_size=32, epochs=2, verbose=0)
    return model.session.device, model.get_weights(), len(modules)

first, reference, before = trained("reference")
second, compiled, after = trained("cpu")
apart = max(float(abs(a - b).max()) for a, b in zip(reference, compiled))
a = random.normal(size=(64, 64)).astype(np.float32)
with pg.Session(device="reference") as session:
    plain = bool((session.run(pg.matmul(a, a)) == np.einsum("ij,jk->ik", a, a)).all())
print(json.dumps([first, before, second, after > 0, apart, plain]))
"""


def test_the_reference_is_numpy_alone(engine: Engine) -> None:
    """Nothing is compiled for it, nor do its operations use kernels."""
    first, before, second, compiles, apart, plain = json.loads(finish(engine, COMPARED))
    assert (first, before) == ("reference:0", 0)
    assert (second, compiles) == ("cpu:0", True)
    assert 0 < apart < 1e-3
    assert plain
