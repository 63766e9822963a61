"""Several devices in the page: workers started when Python wants them, working at the same time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Worker

    from tests.browser.conftest import Engine

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

# A square matrix is multiplied on each of four devices with a variable that lives there, then all
# are added up on the first. Each device has some work, so that others have time to begin theirs.
NETWORK = """
import json
import time
import numpy as np
import playgrad as pg
from playgrad import ops
from playgrad.runtime.trace import Trace

KIND, SIZE, TIMES = "{kind}", {size}, {times}
pg.set_logical_devices(cpu=4)
if KIND == "gpu":
    pg.set_logical_devices(gpu=4)
DEVICES = [f"{{KIND}}:{{index}}" for index in range(4)]
graph = pg.Graph()
random = np.random.default_rng(0)
with graph.as_default():
    x = pg.placeholder("float32", [SIZE, SIZE], name="x")
    parts, updates = [], []
    for number, device in enumerate(DEVICES):
        with pg.device(device):
            value = random.normal(0, SIZE**-0.5, (SIZE, SIZE)).astype(np.float32)
            weight = pg.Variable(value, name=f"w{{number}}")
            part = x
            for _ in range(TIMES):
                part = ops.tanh(ops.matmul(part, weight))
            parts.append(part)
            updates.append(weight.assign_sub(0.1 * part))
    with pg.device(DEVICES[0]):
        total = ops.reduce_sum(parts[0] + parts[1] + parts[2] + parts[3], axis=0)
batch = random.normal(size=(SIZE, SIZE)).astype(np.float32)
session = pg.Session(graph)
"""


def network(kind: str = "gpu", size: int = 64, times: int = 2) -> str:
    return NETWORK.format(kind=kind, size=size, times=times)


def finish(engine: Engine, source: str) -> str:
    """Run a program that must end well; what it printed."""
    result = engine.run(source)
    assert result["state"] == "done", result
    stdout: str = result["stdout"]
    return stdout.strip()


def values(source: str) -> Any:
    """What the program gives on the desktop."""
    namespace: dict[str, Any] = {}
    exec(source + RUN, namespace)
    return namespace["results"]


RUN = """
results = []
for _ in range(3):
    results.append(session.run([total, *updates], {x: batch})[0].tolist())
results += [session.value(f"w{number}").reshape(-1)[::37].tolist() for number in range(4)]
session.close()
"""


@pytest.mark.parametrize("size", [16, 1100])
def test_four_gpus_give_what_the_desktop_gives(engine: Engine, size: int) -> None:
    """Also where tensors (4.6 MiB) are larger than the rings that they go through."""
    source = network("gpu", size, times=1)
    got = json.loads(finish(engine, source + RUN + "print(json.dumps(results))"))
    for one, other in zip(got, values(source.replace('"gpu"', '"cpu"')), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
    states = [(event["device"], event["state"]) for event in engine.events("device_worker")]
    for device in ("gpu:0", "gpu:1", "gpu:2", "gpu:3"):
        assert states.count((device, "starting")) == states.count((device, "ready")) == 1
    assert len(engine.workers("device-worker")) == 4


def test_devices_work_at_the_same_time(engine: Engine) -> None:
    source = (
        network("gpu", 512, times=4)
        + """
session.run(updates, {x: batch})
trace = Trace()
session.run(updates, {x: batch}, trace=trace)
print(json.dumps([[e.device, e.start, e.end] for e in trace.events if e.kind == "forward"]))
session.close()
"""
    )
    spans = json.loads(finish(engine, source))
    assert {device for device, _, _ in spans} == {f"gpu:{index}" for index in range(4)}
    together = max(sum(start <= at < end for _, start, end in spans) for _, at, _ in spans)
    assert together == 4


ENDLESS = """
session.run(updates, {x: batch})
print("ready", flush=True)
while True:
    session.run(updates, {x: batch})
"""


def worker_of(engine: Engine, device: str) -> Worker:
    kind = "cpu-worker" if device.startswith("cpu") else "device-worker"
    (worker,) = [each for each in engine.workers(kind) if each.evaluate("name") == device]
    return worker


START = """async (source) => {
  const ready = engine.next(({ kind }) => kind === "stdout");
  globalThis.running = engine.run(source, null);
  await ready;
}"""


def break_while_running(engine: Engine, device: str, source: str, script: str) -> dict[str, Any]:
    """Run ``source`` without end, and ``script`` in the worker of ``device`` once it is at it."""
    engine.page.evaluate(START, source + ENDLESS)
    worker_of(engine, device).evaluate(f"void setTimeout(() => {{ {script} }}, 100)")
    result: dict[str, Any] = engine.page.evaluate("running")
    return result


def test_a_worker_that_ends_is_named_and_replaced(engine: Engine) -> None:
    result = break_while_running(engine, "gpu:2", network(), "self.close()")
    assert result["state"] == "error" and result["stdout"] == "ready\n"
    assert result["error"]["type"] == "DeviceLostError"
    assert result["error"]["message"].startswith("gpu:2: its worker has ended")
    assert len(engine.workers("device-worker")) == 3
    finish(engine, network() + RUN)
    assert len(engine.workers("device-worker")) == 4


def test_a_lost_gpu_is_named_and_opened_anew(engine: Engine) -> None:
    result = break_while_running(engine, "gpu:1", network(), "playgradDevice.destroy()")
    assert result["state"] == "error"
    assert result["error"]["type"] == "DeviceLostError"
    assert result["error"]["message"].startswith("gpu:1: the GPU device was lost")
    finish(engine, network() + RUN)


def test_a_worker_that_hangs_is_named_and_replaced(engine: Engine) -> None:
    source = network() + "session.executor.timeout = 2.0\n"
    finish(engine, source + RUN)
    hanging = worker_of(engine, "gpu:3")
    result = break_while_running(engine, "gpu:3", source, "for (;;);")
    assert result["error"]["type"] == "DeviceTimeoutError"
    assert result["error"]["message"].startswith("no answer for 2 s from gpu:3 ('")
    finish(engine, network() + RUN)
    while hanging in engine.workers("device-worker"):  # a busy thread ends in its own time
        engine.page.wait_for_timeout(50)
    assert len(engine.workers("device-worker")) == 4


def test_an_error_of_one_device_is_told_and_the_others_are_of_use(engine: Engine) -> None:
    source = (
        network()
        + """
runnable = session.compiled([total, *updates], {x: batch})
runnable.plans["gpu:2"].unload()
try:
    session.run([total, *updates], {x: batch})
except pg.KernelError as error:
    print(error)
session.run([parts[0], *updates[:2], *updates[3:]], {x: batch})
runnable.plans["gpu:2"].unload = lambda: None
session.close()
"""
    )
    assert "there is no program" in finish(engine, source)


STOP = """async () => {
  const asked = performance.now();
  engine.client.stop(() => {});
  const { state } = await running;
  return { state, ms: performance.now() - asked };
}"""


def test_stop_while_all_work(engine: Engine) -> None:
    engine.page.evaluate(START, network("gpu", 256, times=8) + ENDLESS)
    engine.page.wait_for_timeout(300)
    result = engine.page.evaluate(STOP)
    assert result["state"] == "stopped"
    assert result["ms"] < 1500
    finish(engine, network() + RUN)


def test_runs_leave_nothing_behind(engine: Engine) -> None:
    for _ in range(50):
        finish(engine, network("gpu", 8) + "session.run([total, *updates], {x: batch})")
    source = """
import json
import playgrad as pg
from playgrad.devices import registry
pg.set_logical_devices(gpu=4)
stats = [registry.gpu(index).host.stats() for index in range(4)]
print(json.dumps([[each[key] for key in ("buffers", "bytes", "programs")] for each in stats]))
"""
    assert json.loads(finish(engine, source)) == [[0, 0, 0]] * 4
    assert len(engine.workers("worker")) == 5


INTERRUPTED = """
import playgrad as pg
from playgrad.devices import registry
registry.gpu(0).host.create_buffer(4096)
raise KeyboardInterrupt
"""


def test_what_an_interrupted_run_could_not_note_is_freed(engine: Engine) -> None:
    assert engine.run(INTERRUPTED)["state"] == "stopped"
    left = "from playgrad.devices import registry\nprint(registry.gpu(0).host.stats()['buffers'])"
    assert finish(engine, left) == "0"


def test_the_page_chooses_the_number_of_devices_for_a_run(engine: Engine) -> None:
    show = "import playgrad as pg\nprint(*(each['device'] for each in pg.devices()))"
    assert engine.run(show, devices=2)["stdout"] == "cpu:0 cpu:1 gpu:0 gpu:1\n"
    assert engine.run(show)["stdout"] == "cpu:0 gpu:0\n"
    result = engine.run(show, devices=10_000)
    assert result["error"]["type"] == "DeviceError"
    assert "there can be 1 to" in result["error"]["message"]
