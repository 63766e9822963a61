"""Pyodide and the device worker in Chromium, with the headers of the server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.browser import plans

if TYPE_CHECKING:
    from tests.browser.conftest import Engine

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

STOPPED_MS = 120_000
"""Short compared with the program to stop, and long enough for a busy machine."""
OPEN = """
import json, time
import numpy as np
from playgrad.devices import _browser
from playgrad.devices.base import Execution
host = _browser.open()
"""


def plan_text(plan: dict[str, Any]) -> str:
    return f"plan = json.loads({json.dumps(plan)!r})\n"


def finish(engine: Engine, source: str) -> str:
    """Run user code that must succeed; return its output."""
    result = engine.run(OPEN + source + "\nhost.destroy()\n")
    assert result["state"] == "done", result
    stdout: str = result["stdout"]
    return stdout.strip()


def test_python_starts_with_its_library_and_a_gpu(engine: Engine) -> None:
    assert engine.ready["kind"] == "ready", engine.ready
    assert engine.ready["python"].startswith("3.14")
    assert engine.ready["numpy"].startswith("2.")
    assert set(engine.ready["timings"]) == {"python", "library"}
    print("start-up, ms:", engine.ready["timings"])
    stages = [event["stage"] for event in engine.events("loading")]  # with the progress of each
    assert list(dict.fromkeys(stages)) == ["python", "library"]
    (device,) = engine.events("device")
    assert device["available"] is True
    assert device["info"]["is_software"] is True


def test_a_plan_runs_through_the_browser_host(engine: Engine) -> None:
    source = (
        plan_text(plans.two_segments())
        + f"""
x = np.linspace(0, 1, {plans.COUNT}, dtype=np.float32)
weight = host.create_buffer({plans.BYTES})
program = host.load(plan, {{"weight": weight}})
first = host.execute(Execution(
    program, 0, writes=[((program, 1), 0, x), (weight, 0, x.tobytes())],
    reads=[((program, 2), 0, {plans.BYTES}), ((program, 2), 4, 4)],
))
second = host.execute(Execution(program, 1, steps=3, reads=[((program, 4), 0, {plans.BYTES})]))
print(json.dumps([
    first.steps_done, second.steps_done, second.seconds > 0, [len(part) for part in first.data],
    np.frombuffer(first.data[0], np.float32).tolist(),
    np.frombuffer(second.data[0], np.float32).tolist(),
]))
host.unload(program)
host.destroy_buffer(weight)
print(json.dumps(host.stats()))
"""
    )
    lines = finish(engine, source).splitlines()
    first_done, second_done, timed, sizes, fetched, total = json.loads(lines[0])
    x = np.linspace(0, 1, plans.COUNT, dtype=np.float32)
    assert (first_done, second_done, timed, sizes) == (1, 3, True, [plans.BYTES, 4])
    np.testing.assert_allclose(fetched, 2 * x, rtol=1e-6)
    np.testing.assert_allclose(total, plans.bias() + 6 * x * x, rtol=1e-4, atol=1e-5)
    stats = json.loads(lines[1])
    assert (stats["buffers"], stats["bytes"], stats["programs"]) == (0, 0, 0)


def test_errors_of_the_device_are_typed(engine: Engine) -> None:
    broken = plans.single(plans.BROKEN, ["read_write"], [[0, 0, plans.BYTES]])
    same = plans.single(
        plans.DOUBLE, ["read", "read_write"], [[0, 0, plans.BYTES], [0, 0, plans.BYTES]]
    )
    source = (
        f"plans = json.loads({json.dumps([broken, same])!r})"
        + """
from playgrad.errors import PlaygradError
for plan in plans:
    try:
        host.load(plan)
    except PlaygradError as error:
        print(type(error).__name__, error.op, str(error).splitlines()[0])
try:
    host.create_buffer(1 << 40)
except PlaygradError as error:
    print(type(error).__name__, error)
"""
    )
    broken_line, same_line, memory_line = finish(engine, source).splitlines()
    assert broken_line.startswith("KernelError None kernel only")
    assert same_line.startswith("KernelError layer/node layer/node: kernel only")
    assert memory_line.startswith(
        "OutOfMemoryError cannot create a buffer of 1,099,511,627,776 bytes"
    )


def test_large_data_survives_the_round_trip_to_the_page(engine: Engine) -> None:
    """Print the cost of calls; check only that large data survives the round trip."""
    source = """
def cost(call, times):
    started = time.perf_counter()
    for _ in range(times):
        call()
    return round((time.perf_counter() - started) / times * 1e6)

buffer = host.create_buffer(32 << 20)
values = np.random.default_rng(0).random(8 << 20, dtype=np.float32)
costs = {
    "round trip, us": cost(host.stats, 500),
    "read 4 bytes, us": cost(lambda: host.execute(Execution(reads=[(buffer, 0, 4)])), 200),
    "write 32 MiB, us": cost(lambda: host.execute(Execution(writes=[(buffer, 0, values)])), 1),
    "read 32 MiB, us": cost(lambda: host.execute(Execution(reads=[(buffer, 0, 32 << 20)])), 1),
}
same = host.execute(Execution(reads=[(buffer, 0, 32 << 20)])).data[0] == values.tobytes()
print(same, json.dumps(costs))
"""
    same, costs = finish(engine, source).split(" ", 1)
    print(costs)
    assert same == "True"


@pytest.mark.parametrize("source", ["while True: pass", "import time; time.sleep(3000)"])
def test_stop_interrupts_python(engine: Engine, source: str) -> None:
    result = engine.run(source, stop_after_ms=300)
    assert result["state"] == "stopped"
    assert result["stop_ms"] < STOPPED_MS


def test_stop_ends_a_long_execute(engine: Engine) -> None:
    source = (
        OPEN
        + plan_text(plans.endless())
        + """
program = host.load(plan)
try:
    host.execute(Execution(program, steps=1_000_000_000))
finally:
    host.destroy()
"""
    )
    result = engine.run(source, stop_after_ms=500)
    assert result["state"] == "stopped"
    assert result["stop_ms"] < STOPPED_MS
    assert finish(engine, "print('again')") == "again"


def test_missing_data_is_an_os_error(engine: Engine) -> None:
    source = """
try:
    _browser.fetch_data("/data/mnist/nothing")
except OSError as error:
    print(error)
"""
    assert "cannot load /data/mnist/nothing" in finish(engine, source)


def test_a_lost_device_is_an_error_and_the_next_open_works(engine: Engine) -> None:
    source = (
        OPEN
        + plan_text(plans.endless())
        + """
program = host.load(plan)
print("ready")
host.execute(Execution(program, steps=1_000_000_000))
"""
    )
    engine.begin(source)
    engine.page.wait_for_timeout(500)
    engine.device_worker().evaluate("playgradDevice.destroy()")
    result = engine.end()
    assert result["state"] == "error", result
    assert result["error"]["type"] == "DeviceLostError"
    (lost,) = [event for event in engine.events("device_worker") if event["state"] == "lost"]
    assert lost["device"] == "gpu:0" and "the GPU device was lost" in lost["message"]
    assert finish(engine, "print(host.stats()['buffers'])") == "0"


def test_restarted_python_finds_an_empty_device(engine: Engine) -> None:
    left_behind = engine.run(OPEN + "kept = host.create_buffer(4096)")
    assert left_behind["state"] == "done"
    ready = engine.page.evaluate("engine.start()")
    assert ready["kind"] == "ready"
    assert finish(engine, "print(host.stats()['buffers'])") == "0"


# Downloads with a small limit; returns the message of the error, or the number of bytes.
DOWNLOAD = """async ([path, most]) => {
  const { load } = await import("/static/engine/downloads.js");
  try {
    return (await load(path, { most })).length;
  } catch (problem) {
    return problem.message;
  }
}"""


def test_data_sets_have_a_size_limit(engine: Engine) -> None:
    path = "/data/mnist/test-labels"
    assert engine.page.evaluate(DOWNLOAD, [path, 10_008]) == 10_008
    for most in (100, 10_007):
        words = f"{path} is larger than {most} bytes, the largest file that the page loads."
        assert engine.page.evaluate(DOWNLOAD, [path, most]) == f"{words} Use a part of it."


def test_a_program_waits_for_data_but_can_be_stopped(engine: Engine) -> None:
    """A server that never answers."""
    path = "/data/silent"
    engine.page.route(f"**{path}", lambda _: None)
    source = f"from playgrad.devices import _browser\n_browser.fetch_data({path!r})"
    result = engine.run(source, stop_after_ms=500)
    engine.page.unroute(f"**{path}")
    assert result["state"] == "stopped", result
    assert finish(engine, "print('still here')") == "still here"


def test_trees_are_read_and_computed(engine: Engine) -> None:
    """Where addresses have 32 bits, NumPy takes no int64 as counts."""
    lines = finish(
        engine,
        """
import playgrad as pg

@pg.batched
def leaf(x):
    return x * 1.0

@pg.batched
def add(a, b):
    return a + b

def read(tree):
    return add(*map(read, tree)) if isinstance(tree, tuple) else leaf(float(tree))

fold = pg.Fold(read)

@pg.function(device="cpu")
def totals(table):
    return fold(table)

print(totals(fold.read([((1, 2), (3, (4, 5))), 7, (8, 9)])).tolist())
print(fold.read([]).shape)
""",
    ).splitlines()
    assert lines == ["[15.0, 7.0, 17.0]", "(0, 8, 5)"]
