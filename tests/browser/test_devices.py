"""Several devices in the page: workers start on demand and compute at the same time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from playwright.sync_api import Error

from tests.browser.conftest import Engine
from tests.sweeps import slow

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Worker

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

# Each device multiplies a square matrix by a variable of its own; the first adds up the
# results. Each has enough work for the others to begin meanwhile.
NETWORK = """
import json
import numpy as np
import playgrad as pg
from playgrad import ops
from playgrad.runtime.trace import Trace

KIND, SIZE, TIMES = "{kind}", {size}, {times}
pg.set_logical_devices(cpu={devices})
if KIND == "gpu":
    pg.set_logical_devices(gpu={devices})
DEVICES = [f"{{KIND}}:{{index}}" for index in range({devices})]
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
        total = ops.reduce_sum(sum(parts[1:], parts[0]), axis=0)
batch = random.normal(size=(SIZE, SIZE)).astype(np.float32)
session = pg.Session(graph)
"""


def network(kind: str = "gpu", size: int = 64, times: int = 2, devices: int = 4) -> str:
    return NETWORK.format(kind=kind, size=size, times=times, devices=devices)


def finish(engine: Engine, source: str) -> str:
    """Run a program that must succeed; return its output."""
    result = engine.run(source)
    assert result["state"] == "done", result
    stdout: str = result["stdout"]
    return stdout.strip()


WORKERS = {"gpu": "device-worker", "cpu": "cpu-worker"}
KINDS = pytest.mark.parametrize("kind", WORKERS)
MOSTLY_GPUS = pytest.mark.parametrize("kind", ["gpu", *slow("cpu")])


def values(source: str) -> Any:
    """The result of the program on the desktop."""
    namespace: dict[str, Any] = {}
    exec(source + RUN, namespace)
    return namespace["results"]


RUN = """
results = []
for _ in range(3):
    results.append(session.run([total, *updates], {x: batch})[0].tolist())
for number in range(len(DEVICES)):
    value = session.value(f"w{number}").reshape(-1)
    results.append(value[:: max(1, len(value) // 500)].tolist())
session.close()
"""


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("gpu", 16),
        ("cpu", 64),
        *slow(("gpu", 1100), ("cpu", 1100)),
    ],
)
def test_four_devices_give_the_results_of_the_desktop(engine: Engine, kind: str, size: int) -> None:
    """Also with tensors (4.6 MiB) larger than the rings that carry them."""
    source = network(kind, size, times=1)
    before = len(engine.events("device_worker"))
    got = json.loads(finish(engine, source + RUN + "print(json.dumps(results))"))
    for one, other in zip(got, values(source.replace('"gpu"', '"cpu"')), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
    events = engine.events("device_worker")[before:]
    for number in range(kind == "cpu", 4):
        states = [event["state"] for event in events if event["device"] == f"{kind}:{number}"]
        assert states == ["starting", "ready"], events
    assert len(engine.workers(WORKERS[kind])) == 4 - (kind == "cpu")


@MOSTLY_GPUS
def test_devices_work_at_the_same_time(engine: Engine, kind: str) -> None:
    source = (
        network(kind, 512, times=2)
        + """
session.run(updates, {x: batch})
trace = Trace()
session.run(updates, {x: batch}, trace=trace)
print(json.dumps([[e.device, e.start, e.end] for e in trace.events if e.kind == "forward"]))
session.close()
"""
    )
    spans = json.loads(finish(engine, source))
    assert {device for device, _, _ in spans} == {f"{kind}:{index}" for index in range(4)}
    together = max(sum(start <= at < end for _, start, end in spans) for _, at, _ in spans)
    # cpu:0 distributes the work, and does not make others wait for its own.
    assert together >= (4 if kind == "gpu" else 3)


ENDLESS = """
session.run(updates, {x: batch})
print("ready", flush=True)
while True:
    session.run(updates, {x: batch})
"""


def name_of(worker: Worker) -> str:
    """The device of a worker; empty if it ended meanwhile, as the previous run's may."""
    try:
        name: str = worker.evaluate("name")
    except Error:
        return ""
    return name


def workers_at_work(engine: Engine, kind: str) -> dict[str, Worker]:
    """The workers of one kind of device, by their devices."""
    workers = {name_of(worker): worker for worker in engine.workers(WORKERS[kind])}
    return {device: worker for device, worker in workers.items() if device}


def worker_of(engine: Engine, device: str) -> Worker:
    return workers_at_work(engine, device[:3])[device]


def break_while_running(
    engine: Engine, device: str, source: str, script: str, ends: bool = True
) -> dict[str, Any]:
    """Run ``source`` without end, and ``script`` in the worker of ``device`` once it is at it; a
    good program afterwards finds as many workers, another for this one if that ``ends`` it."""
    engine.begin(source + ENDLESS)
    kind = WORKERS[device[:3]]
    workers = workers_at_work(engine, device[:3])
    broken = workers[device]
    broken.evaluate(f"void setTimeout(() => {{ {script} }}, 100)")
    result = engine.end()
    finish(engine, source + RUN)
    patience = time.monotonic() + 240
    while ends and broken in engine.workers(kind):
        assert time.monotonic() < patience, f"{device} is there for ever"
        engine.page.wait_for_timeout(50)  # its end is reported late
    assert len(engine.workers(kind)) == len(workers)
    return result


@KINDS
def test_a_worker_that_ends_is_named_and_replaced(engine: Engine, kind: str) -> None:
    result = break_while_running(engine, f"{kind}:2", network(kind), "self.close()")
    assert result["state"] == "error" and result["stdout"] == "ready\n"
    assert result["error"]["type"] == "DeviceLostError"
    assert result["error"]["message"].startswith(f"{kind}:2: its worker has ended")


def test_a_lost_gpu_is_named_and_opened_anew(engine: Engine) -> None:
    result = break_while_running(engine, "gpu:1", network(), "playgradDevice.destroy()", ends=False)
    assert result["state"] == "error"
    assert result["error"]["type"] == "DeviceLostError"
    assert result["error"]["message"].startswith("gpu:1: the GPU device was lost")


TRAINING = """
import numpy as np
import playgrad as pg
from playgrad import nn
pg.set_logical_devices({kind}=3)
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
y = x[:, :1] - 2 * x[:, 1:2]
model = pg.Sequential([nn.Dense(1)])
strategy = pg.parallel.DataParallel(["{kind}:1", "{kind}:2"])
model.compile(pg.optim.SGD(0.05), "mse", device="{kind}", strategy=strategy)
first = model.fit(x, y, verbose=0).losses[0]
print("ready", flush=True)
try:
    model.fit(x, y, epochs=1000000, verbose=0)
except pg.DeviceLostError as error:
    print(error)
losses = model.fit(x, y, epochs=2, verbose=0).losses
print(len(losses), losses[-1] < first)
"""


@KINDS
def test_training_continues_from_the_remaining_replica(engine: Engine, kind: str) -> None:
    engine.begin(TRAINING.replace("{kind}", kind))
    script = "playgradDevice.destroy()" if kind == "gpu" else "self.close()"
    worker_of(engine, f"{kind}:1").evaluate(f"void setTimeout(() => {{ {script} }}, 100)")
    result = engine.end()
    assert result["state"] == "done", result
    _, error, after = result["stdout"].splitlines()
    assert f"{kind}:1: " in error  # with what was lost before it, if that was found first
    assert after == "4 True"


@MOSTLY_GPUS
def test_a_worker_that_hangs_is_named_and_replaced(engine: Engine, kind: str) -> None:
    source = network(kind) + "session.run(updates, {x: batch})\nsession.executor.timeout = 3.0\n"
    result = break_while_running(engine, f"{kind}:3", source, "for (;;);")
    assert result["error"]["type"] == "DeviceTimeoutError"
    assert result["error"]["message"].startswith(f"no answer for 3 s from {kind}:3 ('")


def test_an_error_on_one_device_is_reported_and_the_others_still_work(engine: Engine) -> None:
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


OWN_OPERATION = """
import numpy as np
import playgrad as pg

pg.set_logical_devices(cpu=2, gpu=2)
cubed = pg.register_op(
    "cubed",
    reference=lambda x: x**3,
    shape=lambda x: x,
    gradient=lambda g, y, x: 3.0 * g * x * x,
    wgsl="fn element(i: u32) -> f32 { return x[i] * x[i] * x[i]; }",
    samples=[(np.arange(3, dtype="f"),)],
)
with pg.Graph().as_default() as graph:
    x = pg.placeholder("float32", [4], name="x")
    results = []
    for device in ("cpu:0", "cpu:1", "gpu:0", "gpu:1"):
        with pg.device(device):
            y = cubed(x)
            results += [y, *pg.gradients(pg.sum(y), [x])]
print([value.tolist() for value in pg.Session(graph).run(results, {x: np.arange(4, dtype="f")})])
"""


def test_an_operation_of_the_program_runs_on_every_device(engine: Engine) -> None:
    values = json.loads(finish(engine, OWN_OPERATION))
    assert values == 4 * [[0, 1, 8, 27], [0, 3, 12, 27]]


STOP = """async () => {
  const asked = performance.now();
  const { state } = await engine.stop();
  return { state, ms: performance.now() - asked };
}"""


@MOSTLY_GPUS
def test_stop_interrupts_devices_that_are_all_busy(engine: Engine, kind: str) -> None:
    engine.begin(network(kind, 256, times=8) + ENDLESS)
    engine.page.wait_for_timeout(300)
    result = engine.page.evaluate(STOP)
    assert result["state"] in {"stopped", "restarted"}  # the latter on a very busy machine
    assert result["ms"] < 30_000
    finish(engine, network(kind) + RUN)


@MOSTLY_GPUS
def test_runs_leave_nothing_behind(engine: Engine, kind: str) -> None:
    finish(engine, network(kind, 8) + RUN)
    workers = len(engine.workers("worker"))
    finish(engine, network(kind, 8) + "session.run([total, *updates], {x: batch})")
    source = """
import json
import playgrad as pg
from playgrad.devices import registry
names = [each["device"] for each in pg.devices() if registry.runs_plans(each["device"])]
stats = [registry.opened(name).host.stats() for name in names]
print(json.dumps([[each[key] for key in ("buffers", "bytes", "programs")] for each in stats]))
"""
    made = f"import playgrad as pg\npg.set_logical_devices({kind}=4)\n"
    left = json.loads(finish(engine, made + source))
    assert left == [[0, 0, 0]] * 4  # cpu:1 to cpu:3 and gpu:0, or gpu:0 to gpu:3
    assert len(engine.workers("worker")) == workers


INTERRUPTED = """
import playgrad as pg
from playgrad.devices import registry
registry.gpu(0).host.create_buffer(4096)
raise KeyboardInterrupt
"""


def test_buffers_of_an_interrupted_run_are_freed(engine: Engine) -> None:
    assert engine.run(INTERRUPTED)["state"] == "stopped"
    left = "from playgrad.devices import registry\nprint(registry.gpu(0).host.stats()['buffers'])"
    assert finish(engine, left) == "0"


def test_the_page_chooses_the_number_of_devices_for_a_run(engine: Engine) -> None:
    show = "import playgrad as pg\nprint(*(each['device'] for each in pg.devices()))"
    assert engine.run(show, devices=2)["stdout"] == "cpu:0 cpu:1 gpu:0 gpu:1\n"
    assert engine.run(show)["stdout"] == "cpu:0 gpu:0\n"
    result = engine.run(show, devices=10_000)
    assert result["error"]["type"] == "DeviceError"
    assert "devices from 1 to" in result["error"]["message"]


def test_cpu_devices_work_without_webgpu(
    server: str, launch_chromium: Callable[[bool], Browser]
) -> None:
    browser = launch_chromium(False)
    page = browser.new_page()
    page.goto(f"{server}/healthz")
    source = (
        network("cpu", 32, devices=2) + "print(*(each['device'] for each in pg.devices()))\n" + RUN
    )
    assert finish(Engine(page), source) == "cpu:0 cpu:1"
    browser.close()
