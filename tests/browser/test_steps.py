"""The overhead of a training step: it creates no objects and sends no data to the GPU."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.worker_heaps import WorkerHeaps
from tests.sweeps import slow

if TYPE_CHECKING:
    from tests.browser.conftest import Engine

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

# Records every object created on a device, every submit and every write, in order.
_LISTEN = """() => {
  globalThis.made = [];
  globalThis.originals = [];
  const listen = (prototype, name) => {
    const original = prototype[name];
    originals.push([prototype, name, original]);
    prototype[name] = function (...given) {
      made.push(name === "createBuffer" ? `${name} ${given[0].size}` : name);
      return original.apply(this, given);
    };
  };
  for (const name of Object.keys(GPUDevice.prototype)) {
    if (name.startsWith("create")) listen(GPUDevice.prototype, name);
  }
  for (const name of ["submit", "writeBuffer", "writeTexture"]) listen(GPUQueue.prototype, name);
}"""
_STOP_LISTENING = """() => {
  for (const [prototype, name, original] of originals) prototype[name] = original;
  return made;
}"""

# Marks positions among the calls by buffers of unique sizes.
_PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.inspection import weight_snapshots
from playgrad.runtime import host_copies

host_copies.COPY_SECONDS = 1e9  # on a busy machine, weights would be copied in between
weight_snapshots.MOST_BYTES = 0  # nor are there copies for histograms

def mark(size):
    host = registry.gpu(0).host
    host.destroy_buffer(host.create_buffer(size))

x = np.random.default_rng(0).normal(size=(4096, 2)).astype(np.float32)
y = x[:, :1] * x[:, 1:]
model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dense(1)])
model.compile(optimizer=pg.optim.Adam(0.01), loss=nn.MeanSquaredError(), device="gpu")
"""
_FIT = (
    _PROGRAM
    + """
def begin(epoch, logs):
    if epoch == 1:
        mark(4444)

marks = nn.LambdaCallback(on_epoch_begin=begin, on_train_end=lambda logs: mark(4448))
model.fit(x, y, batch_size=32, epochs=9, callbacks=[marks], verbose=0)
"""
)
_READ_EACH = (
    _PROGRAM
    + """
model.fit(x, y, batch_size=32, epochs=1, verbose=0)
session, step = model.session, model.training_step
fetches = [session.graph.tensor("train/healthy:0"), step]
session.run(fetches)
mark(4444)
for _ in range(1000):
    session.run(fetches)
mark(4448)
"""
)
_GROWTH = (Path(__file__).parents[1] / "growth.py").read_text(encoding="utf-8")


def calls_between_marks(engine: Engine, source: str) -> Counter[str]:
    worker = engine.device_worker()
    worker.evaluate(_LISTEN)
    try:
        result = engine.run(source)
    finally:
        calls = worker.evaluate(_STOP_LISTENING)
    assert result["state"] == "done", result["error"]
    return Counter(calls[calls.index("createBuffer 4444") + 1 : calls.index("createBuffer 4448")])


def test_training_makes_encoders_only_and_sends_no_byte(engine: Engine) -> None:
    """1,024 steps of ``fit`` on device data, with losses reported."""
    calls = calls_between_marks(engine, _FIT)
    assert set(calls) == {"createCommandEncoder", "submit"}
    assert calls["submit"] <= calls["createCommandEncoder"] < 1024 + 300


def test_reading_each_loss_makes_encoders_only_and_sends_no_byte(engine: Engine) -> None:
    """One encoder for the step and one for the read, which are submitted together."""
    assert calls_between_marks(engine, _READ_EACH) == {"createCommandEncoder": 2000, "submit": 1000}


@pytest.mark.parametrize("steps", [2000, *slow(10_000)])
def test_steps_leak_no_memory(engine: Engine, steps: int) -> None:
    """Nothing accumulates on the device, in Python, or in the JavaScript of the workers."""

    def train(count: int) -> dict[str, int]:
        source = f"{_GROWTH}\nimport json\nprint(json.dumps(growth('gpu', {count})))"
        result = engine.run(source.replace("from __future__ import annotations", ""))
        assert result["state"] == "done", result["error"]
        left: dict[str, int] = json.loads(result["stdout"])
        return left

    # Bytes that come and go; an object for each encoder would be more. Python's worker is another
    # one in each run, and no two are quite alike.
    limits = {"device-worker.js": 30_000, "python-worker.js": 150_000}
    with WorkerHeaps(engine.page) as heaps:
        for _ in range(2):
            train(steps)  # fills caches and V8's feedback
        before = {worker: heaps.used(worker) for worker in limits}
        left = train(2 * steps)
        grown = {worker: heaps.used(worker) - before[worker] for worker in limits}
    print(left, grown)
    assert left.pop("python") < 60_000
    assert set(left.values()) == {0}
    assert all(grown[worker] < limit for worker, limit in limits.items()), grown
