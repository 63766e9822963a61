"""Workers that hang on a request outside a run: Python does not wait for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Engine
from tests.browser.test_devices import MOSTLY_GPUS, RUN, WORKERS, finish, network, workers_at_work

if TYPE_CHECKING:
    from playwright.sync_api import Route

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

LIMITED = """
from playgrad.devices import _browser, pending

def limited(call):
    pending.TIMEOUT_SECONDS = 2.0
    try:
        return call()
    except pg.DeviceLostError as error:
        print(type(error).__name__, error)
    finally:
        pending.TIMEOUT_SECONDS = 300.0
"""


def test_a_worker_that_never_starts_times_out(engine: Engine) -> None:
    """The first test, as workers that have started are used again."""
    asked: list[Route] = []
    engine.page.route("**/cpu-worker.js", lambda route: asked.append(route))  # never answered
    source = network("cpu", devices=2) + LIMITED + "limited(lambda: session.run(parts, {x: batch}))"
    printed = finish(engine, source)
    assert printed.startswith("DeviceTimeoutError no answer for 2 s from cpu:1 ('open').")
    assert len(asked) == 1
    engine.page.unroute("**/cpu-worker.js")


HANG = "void setTimeout(() => { for (;;); })"


def while_hanging(engine: Engine, device: str, *lines: str) -> list[str]:
    """Run ``lines`` while the worker of ``device`` hangs, and return the output. Check that another
    worker replaces it, and that a good program runs afterwards."""
    kind = device[:3]
    waiting = """
session.run(updates, {x: batch})
print("ready", flush=True)
_browser.wait_mailbox(600)  # until the page reports that it hangs
"""
    source = network(kind, devices=2) + LIMITED + waiting + "\n".join(lines)
    engine.begin(source)
    workers = workers_at_work(engine, kind)
    hung = workers[device]
    hung.evaluate(HANG)
    engine.page.evaluate("engine.client.post({ kind: 'trace' })")
    result = engine.end()
    assert result["state"] == "done", result
    news = [event for event in engine.events("device_worker") if event["device"] == device]
    assert (news[-1]["state"], news[-1]["message"]) == ("lost", "it did not answer in time.")
    finish(engine, network(kind, devices=2) + RUN)
    left = [each for each in engine.workers(WORKERS[kind]) if each != hung]
    assert len(left) == len(workers)
    ready, *printed = str(result["stdout"]).splitlines()
    assert ready == "ready"
    return printed


@MOSTLY_GPUS
def test_variables_of_a_hanging_worker_are_read_from_the_copy(engine: Engine, kind: str) -> None:
    """It comes from the copy in Python's memory."""
    printed = while_hanging(
        engine,
        f"{kind}:1",
        'print(limited(lambda: session.value("w1")).shape)',
        'print(session.value("w0").shape)',
    )
    assert printed == ["(64, 64)", "(64, 64)"]


@MOSTLY_GPUS
def test_variables_are_written_to_the_replacement_of_a_hanging_worker(
    engine: Engine, kind: str
) -> None:
    """They are written on the device that takes the place of the lost one."""
    printed = while_hanging(
        engine,
        f"{kind}:1",
        'limited(lambda: session.assign({"w1": 0 * batch}))',
        'print(session.value("w1").any())',
    )
    assert printed == ["False"]


@MOSTLY_GPUS
def test_a_session_closes_while_a_worker_hangs(engine: Engine, kind: str) -> None:
    """The resources to release are gone with the worker: that is not an error."""
    assert while_hanging(engine, f"{kind}:1", "limited(session.close)") == []


# One call with enough steps to exceed the limit.
LONG = """
with pg.Graph().as_default() as counting:
    count = pg.Variable(np.zeros(4, np.float32), name="count")
    step = count.assign_add(np.ones(4, np.float32))
session = pg.Session(counting, device="{kind}:1")
session.repeat(step, 10)
steps, seconds, total = 100, 0.0, 10
while seconds < 2.4:
    steps = min(8 * steps, 1 + int(2.8 * steps / seconds)) if seconds else steps
    seconds = limited(lambda: session.repeat(step, steps)).seconds
    total += steps
print(session.value(count)[0] == total)
"""


@MOSTLY_GPUS
def test_a_long_computation_does_not_time_out(engine: Engine, kind: str) -> None:
    source = network(kind, devices=2) + LIMITED + LONG.format(kind=kind)
    assert finish(engine, source) == "True"
