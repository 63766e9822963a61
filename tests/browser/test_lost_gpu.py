"""The page's GPU is lost in the middle of things: training continues from the last copy."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import Engine
from tests.browser.playground import Playground
from tests.sweeps import slow

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

# Lets "auto" take the software adapter for a hardware one.
ON_HARDWARE = """
from dataclasses import replace
from playgrad.runtime import default_device
choose = default_device.choose_device
default_device.choose_device = lambda adapter, *given, **named: choose(
    adapter and replace(adapter, is_software=False), *given, **named
)
"""
# Trains with Adam, dropout and batch normalization, until a device is lost; then continues, and
# compares with another model that starts from the same variables.
PROGRAM = (
    ON_HARDWARE
    + """
import json
import numpy as np
import playgrad as pg
from playgrad import nn
from playgrad.ops.state import contents_of, global_variables
from playgrad.runtime import host_copies
host_copies.COPY_SECONDS = 0.3

x = np.random.default_rng(0).normal(size=(60, 8)).astype("float32")
y = x[:, :3].argmax(1).astype("int32")


def network():
    pg.reset_default_graph(1)
    model = pg.Sequential(
        [nn.BatchNormalization(), nn.Dropout(0.3), nn.Dense(3)]
    )
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, ["accuracy"])
    return model


def kept(model):
    return [v for v in global_variables(model.graph) if contents_of(v.node) is None]


def fit(model, epochs, **more):
    return model.fit(x, y, batch_size=10, epochs=epochs, verbose=0, **more)


def check():
    "Check that training continues as if it had begun with the current variables."
    values = model.session.values(kept(model))
    twin = network()
    fit(twin, 1)
    twin.session.assign(dict(zip(kept(twin), values)))
    assert fit(model, 4).losses.tobytes() == fit(twin, 4).losses.tobytes()
    for one, other in zip(model.session.values(kept(model)), twin.session.values(kept(twin))):
        assert one.tobytes() == other.tobytes()


model = network()
fit(model, 1)
"""
)
TRAINING = (
    PROGRAM
    + """
def tell(epoch, logs):
    if epoch == 20:
        print("at work", flush=True)


told = []
for _ in range(2):
    try:
        fit(
            model, 1_000_000, validation_data=(x, y),
            callbacks=[nn.LambdaCallback(on_epoch_end=tell)],
        )
    except pg.DeviceLostError as error:
        told.append(str(error))
    check()
    told.append(model.session.device)
print(json.dumps(told))
"""
)


def crash_gpu_process(engine: Engine) -> None:
    browser = engine.page.context.browser
    assert browser is not None
    session = browser.new_browser_cdp_session()
    session.send("Browser.crashGpuProcess")
    session.detach()


def destroy_device(engine: Engine) -> None:
    engine.device_worker().evaluate("playgradDevice.destroy()")


def end_worker(engine: Engine) -> None:
    engine.device_worker().evaluate("void setTimeout(() => self.close(), 50)")


@pytest.fixture
def own_engine(server: str, launch_chromium: Callable[[bool], Browser]) -> Any:
    """The engine in a browser of its own, whose GPU process may crash."""
    browser = launch_chromium(True)
    page = browser.new_page()
    page.goto(f"{server}/healthz")
    yield Engine(page)
    browser.close()


def lose_twice(engine: Engine, accident: Callable[[Engine], None]) -> list[str]:
    """Return the message of the error, and the device that trains afterwards, of both times."""
    engine.begin(TRAINING)
    engine.page.wait_for_timeout(800)
    again = "void (globalThis.again = engine.next(({ kind, text }) => text?.includes('at work')))"
    engine.page.evaluate(again)
    accident(engine)
    engine.page.evaluate("Promise.race([again, engine.end()])")
    engine.page.wait_for_timeout(800)
    accident(engine)
    result = engine.end()
    assert result["state"] == "done", result
    told: list[str] = json.loads(result["stdout"].strip().splitlines()[-1])
    for message in told[::2]:
        # Whatever needed the device first reports the loss: a step, or the data set on the device.
        assert "gpu:0" in message and "That was after step" in message, message
        assert message.endswith("Call fit again to continue from there."), message
    return [*told[1::2], result["stderr"]]


@pytest.mark.survival("Lost GPU in the page")
@pytest.mark.parametrize("accident", [end_worker, *slow(destroy_device)])
def test_training_continues_from_the_copy(
    engine: Engine, accident: Callable[[Engine], None], record_property: Any
) -> None:
    record_property("tried", 2)
    assert lose_twice(engine, accident) == ["gpu:0", "gpu:0", ""]


@pytest.mark.survival("Lost GPU in the page")
def test_the_cpu_replaces_a_gpu_that_does_not_come_back(
    own_engine: Engine, record_property: Any
) -> None:
    """Chromium opens no GPU for a page after its GPU process has crashed twice."""
    record_property("tried", 4)
    engine = own_engine
    first, second, warned = lose_twice(engine, crash_gpu_process)
    assert (first, second) == ("gpu:0", "cpu:0")
    assert "gpu:0 cannot be opened, so the CPU does the work" in warned
    assert engine.events("device")[-1]["available"] is False
    show = PROGRAM + "print(model.session.device)"
    result = engine.run(show)
    assert (result["state"], result["stdout"]) == ("done", "cpu:0\n")
    result = engine.run("import playgrad as pg\npg.Session(device='gpu')")
    assert result["error"]["type"] == "DeviceError"
    assert result["error"]["message"].endswith("or reload the page to look for a GPU again.")


GOOD = (
    ON_HARDWARE
    + """
import numpy as np
import playgrad as pg
from playgrad import nn
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
model = pg.Sequential([nn.Dense(3), nn.Dense(2)])
model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, (x[:, 0] > 0).astype("int32"), epochs=2, verbose=0)
print(model.session.device)
"""
)


# All that the page says below the commands: the next run takes its place.
_COLLECT_NOTICES = """async () => {
  const { notice } = await import("/static/js/state/store.js");
  const { effect } = await import("/static/vendor/preact.js");
  globalThis.notices = [];
  effect(() => notices.push(notice.value));
}"""


@pytest.mark.survival("Lost GPU in the page")
def test_weights_are_exported_after_the_gpu_is_gone(
    server: str, launch_chromium: Callable[[bool], Browser], record_property: Any
) -> None:
    """The page says that the GPU does not come back, and trains on the CPU."""
    record_property("tried", 2)
    browser = launch_chromium(True)
    visitor = Playground(browser, server)
    assert "gpu:0" in visitor.finish(GOOD)
    before = visitor.weights()
    visitor.page.evaluate(_COLLECT_NOTICES)
    for _ in range(2):
        session = browser.new_browser_cdp_session()
        session.send("Browser.crashGpuProcess")
        session.detach()
        visitor.page.wait_for_timeout(500)
        after = visitor.weights()
        assert all((after[name] == before[name]).all() for name in before)
        visitor.finish(GOOD)
        before = visitor.weights()
    assert "no GPU" in visitor.text("backend-badge")
    assert any("The GPU does not come back" in each for each in visitor.page.evaluate("notices"))
    visitor.forgive("GPU", "adapter")
    visitor.close()
    browser.close()
