"""A second run of a program compiles nothing, sends no data set again, and uses no stale data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.browser.conftest import Engine

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

DATA_BYTES = 2000 * 28 * 28
_LISTEN = """() => {
  globalThis.counted = { bytes: 0, pipelines: 0 };
  const listen = (prototype, name, note) => {
    const original = prototype[name];
    prototype[name] = function (...given) {
      note(...given);
      return original.apply(this, given);
    };
  };
  const written = (buffer, offset, data) => (counted.bytes += data.byteLength);
  listen(GPUQueue.prototype, "writeBuffer", written);
  const pipeline = () => (counted.pipelines += 1);
  listen(GPUDevice.prototype, "createComputePipelineAsync", pipeline);
  listen(GPUDevice.prototype, "createComputePipeline", pipeline);
}"""
_TAKE = """() => {
  const taken = { ...counted };
  Object.assign(counted, { bytes: 0, pipelines: 0 });
  return taken;
}"""

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

random = np.random.default_rng(0)
x = random.integers(0, 256, (2000, 28, 28), np.uint8)
y = random.integers(0, 10, 2000).astype(np.int32)
# CHANGE
model = pg.Sequential([nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(8), nn.Dense(10)])
model.compile(
    optimizer=pg.optim.SGD(0.1),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    device="gpu",
)
losses = model.fit(x, y, batch_size=500, epochs=1, verbose=0).losses
# AGAIN
print(losses.tobytes().hex())
"""
ENDLESS = PROGRAM.replace("epochs=1,", "epochs=100_000, callbacks=[Says()],").replace(
    "# CHANGE",
    """
class Says(nn.Callback):
    def on_epoch_end(self, epoch, logs):
        print(epoch)
""",
)
STATS = """
import json
from playgrad.devices import registry
device = registry.gpu(0)
own, raw = device.stats(), device.host.stats()
print(json.dumps([
    own["buffers"], own["bytes"], own["programs"], own["cached_buffers"], own["cached_bytes"],
    raw["buffers"], raw["bytes"],
]))
"""


@pytest.fixture(scope="module")
def listening(engine: Engine) -> Iterator[Engine]:
    """The engine, with a device worker that counts bytes and pipelines."""
    result = engine.run("import playgrad as pg\npg.Session(device='gpu')")
    assert result["state"] == "done", result["error"]
    engine.device_worker().evaluate(_LISTEN)
    yield engine


def run(engine: Engine, change: str = "", again: str = "", source: str = PROGRAM) -> Any:
    """The output of a program, the bytes written to the device, and the pipelines created."""
    result = engine.run(source.replace("# CHANGE", change).replace("# AGAIN", again))
    assert result["state"] == "done", result["error"]
    counted = engine.device_worker().evaluate(_TAKE)
    return result["stdout"], counted["bytes"], counted["pipelines"]


def reset(engine: Engine) -> None:
    engine.page.evaluate("""() => {
      const idle = engine.next(({ kind, state }) => kind === "status" && state === "idle");
      engine.client.post({ kind: "reset" });
      return idle;
    }""")


def test_a_second_run_sends_and_compiles_nothing_again(listening: Engine) -> None:
    reset(listening)
    losses, sent, _ = run(listening)
    assert sent > DATA_BYTES
    for _ in range(2):
        again, sent, pipelines = run(listening)
        assert (again, pipelines) == (losses, 0)
        assert sent < 100_000  # weights and labels


def test_another_learning_rate_compiles_and_sends_nothing_either(listening: Engine) -> None:
    run(listening)
    losses, sent, pipelines = run(listening, source=PROGRAM.replace("SGD(0.1)", "SGD(0.2)"))
    assert sent < 100_000
    assert pipelines == 0
    reset(listening)
    assert run(listening, source=PROGRAM.replace("SGD(0.1)", "SGD(0.2)"))[0] == losses


def test_another_network_sends_no_data_either(listening: Engine) -> None:
    run(listening)
    _, sent, _ = run(listening, source=PROGRAM.replace("nn.Dense(8)", "nn.Dense(12)"))
    assert sent < 200_000


def test_changed_data_is_never_stale(listening: Engine) -> None:
    """Its first byte, its last row, and the order of the rows."""
    changes = ["x[0, 0, 0] ^= 128", "x[-1, -1, -1] ^= 128", "x = x[::-1]"]
    fresh = []
    for change in ["", *changes]:
        reset(listening)
        fresh.append(run(listening, change)[0])
    assert len(set(fresh)) == 4
    for change, losses in zip([*changes, ""], [*fresh[1:], fresh[0]], strict=True):
        assert run(listening, change)[0] == losses, change


def test_an_array_changed_between_two_fits_is_sent_again(listening: Engine) -> None:
    fit = "losses = model.fit(x, y, batch_size=500, epochs=1, verbose=0).losses"
    reset(listening)
    same, sent, _ = run(listening, again=fit)
    assert DATA_BYTES < sent < 1.5 * DATA_BYTES
    changed, sent, _ = run(listening, again=f"x[:] = x[::-1].copy()\n{fit}")
    assert DATA_BYTES < sent < 1.5 * DATA_BYTES
    copied, _, _ = run(listening, again=fit.replace("fit(x", "fit(x[::-1].copy()"))
    assert changed == copied != same


def test_cached_data_is_counted_apart_and_freed_by_a_reset(engine: Engine) -> None:
    def counts() -> Any:
        return json.loads(engine.run(STATS)["stdout"])

    size = DATA_BYTES
    reset(engine)
    engine.run(PROGRAM)
    assert counts() == [0, 0, 0, 1, size, 1, size]
    assert counts() == [0] * 7
    engine.run(PROGRAM)
    reset(engine)
    assert counts() == [0] * 7
    engine.begin(ENDLESS)
    assert engine.page.evaluate("engine.stop()")["state"] == "stopped"
    assert counts() == [0, 0, 0, 1, size, 1, size]
    reset(engine)
    assert counts() == [0] * 7
