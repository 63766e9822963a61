"""Kernels chosen by measurement in the page: shown, stored by the browser, measured while idle."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playgrad.devices.tuning import Tuning
from tests.browser.playground import GOOD, Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

KEPT = "localStorage.getItem('playgrad.tunings')"

MEASURE = """
from playgrad.devices import registry
from playgrad.runtime.tuner import tune

def report(probe, times):
    print(probe.name, {name: round(1000 * s, 3) for name, s in times[probe.name].items()})

print("best:", tune(registry.gpu(0), report))
"""

# Presents the software adapter as a hardware adapter; it is only slower.
PASS_FOR_HARDWARE = """
from dataclasses import replace
from playgrad.devices import logical, registry

device = registry.gpu(0)
logical.adapters()[0] = device.host.info = replace(device.host.info, is_software=False)
registry.save_tuning(device, None)
"""


def stored(playground: Playground) -> list[dict[str, Any]]:
    """The measurements that the browser has stored."""
    return list(json.loads(playground.page.evaluate(KEPT) or "{}").values())


def badge(playground: Playground) -> str:
    return playground.at("backend-badge").get_attribute("title") or ""


@pytest.mark.slow
def test_measured_tunings_are_shown_stored_and_used_on_the_next_visit(
    playground: Playground,
) -> None:
    playground.wait(lambda: "Kernels (defaults for this adapter)" in badge(playground))
    assert stored(playground) == []
    printed = playground.finish(MEASURE)
    (tuning,) = stored(playground)
    assert f"best: {Tuning(**tuning)}" in printed
    playground.wait(lambda: "Kernels (the fastest measured)" in badge(playground))
    playground.page.reload()
    playground.wait(lambda: "Kernels (the fastest measured)" in badge(playground))
    playground.runs_well()


def test_a_real_gpu_is_measured_while_nothing_runs(playground: Playground) -> None:
    playground.choose_device("gpu")
    playground.finish(PASS_FOR_HARDWARE)
    playground.wait(lambda: len(stored(playground)) == 1)
    playground.wait(lambda: "Kernels (the fastest measured)" in badge(playground))
    playground.runs_well()


# A probe with short replays, but at first so many of them that each call takes half a minute.
LONG_PROBE = """
from playgrad.graph.opdef import lookup
from playgrad.page.controller import controller
from playgrad.runtime import tuner

probe = tuner.Probe("rows", "reduction", lookup("reduce_sum"), ((8, 64),), 512,
                    {"axes": [1], "keepdims": False})
made = controller.tuner._tuner = tuner.Tuner(device, [probe], tuner.PATIENCE)
advance, usual = made.advance, (tuner.SLICE, tuner.MOST_REPLAYS)

def advance_long():
    made.advance = advance
    tuner.SLICE, tuner.MOST_REPLAYS = 30.0, 1 << 30
    try:
        while not made.is_done:  # all pieces as one
            advance()
    finally:
        tuner.SLICE, tuner.MOST_REPLAYS = usual

made.advance = advance_long
"""
LEFT = """
from playgrad.devices import registry
stats = registry.gpu(0).host.stats()
print("left on the device:", stats["buffers"], stats["programs"])
"""
COUNT_SUBMITS = """() => {
  const isCounting = globalThis.submits !== undefined;
  globalThis.submits = 0;
  if (isCounting) return;
  const { submit } = GPUQueue.prototype;
  GPUQueue.prototype.submit = function (...given) {
    globalThis.submits += 1;
    return submit.apply(this, given);
  };
}"""


ENDLESS = {
    "without the device": "while True: pass",
    "on the device": GOOD.replace("epochs=2", "epochs=100_000"),
}


@pytest.mark.parametrize("program", ENDLESS.values(), ids=ENDLESS)
def test_a_run_does_not_wait_for_the_measurement(playground: Playground, program: str) -> None:
    """Its interpreter is another one; the device answers it after the call that it is at."""
    playground.finish("from playgrad.devices import registry\nregistry.gpu(0)")
    (device,) = (each for each in playground.page.workers if "device-worker" in each.url)
    device.evaluate(COUNT_SUBMITS)
    playground.finish(PASS_FOR_HARDWARE + LONG_PROBE)
    playground.wait(lambda: device.evaluate("submits") > 100)  # more than for single replays
    playground.start("print('begun')\n" + program)
    playground.wait(lambda: "begun" in playground.text("console"))
    playground.timed("stop", "stopped")
    assert "left on the device: 0 0" in playground.finish(LEFT)
    playground.runs_well()
