"""Several devices in the page: workers started when Python wants them, working at the same time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
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
results += [session.value(f"w{number}").reshape(-1).tolist() for number in range(4)]
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
