"""Kernels chosen by measurement, in the page: told, kept by the browser, measured while idle."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playgrad.devices.tuning import Tuning
from tests.browser.playground import Playground

pytestmark = pytest.mark.browser

KEPT = "localStorage.getItem('playgrad.tunings')"

MEASURE = """
from playgrad.devices import registry
from playgrad.runtime.tuner import tune

def report(probe, times):
    print(probe.name, {name: round(1000 * s, 3) for name, s in times[probe.name].items()})

print("best:", tune(registry.gpu(0), report))
"""

# The software adapter as if it were none; it is only slower than what it passes for.
PASS_FOR_HARDWARE = """
from dataclasses import replace
from playgrad.devices import registry

device = registry.gpu(0)
registry._adapters()[0] = device.host.info = replace(device.host.info, is_software=False)
registry.keep_tuning(device, None)
"""


def kept(playground: Playground) -> list[dict[str, Any]]:
    """What the browser keeps of adapters."""
    return list(json.loads(playground.page.evaluate(KEPT) or "{}").values())


def badge(playground: Playground) -> str:
    return playground.at("backend-badge").get_attribute("title") or ""


def test_what_was_measured_is_told_kept_and_handed_to_the_next_visit(
    playground: Playground,
) -> None:
    playground.wait(lambda: "Kernels, by the kind of adapter" in badge(playground))
    assert kept(playground) == []
    printed = playground.finish(MEASURE)
    (tuning,) = kept(playground)
    assert f"best: {Tuning(**tuning)}" in printed
    playground.wait(lambda: "Kernels, measured on this adapter" in badge(playground))
    playground.page.reload()
    playground.wait(lambda: "Kernels, measured on this adapter" in badge(playground))
    playground.runs_well()


def test_a_real_gpu_is_measured_while_nothing_runs(playground: Playground) -> None:
    playground.finish(PASS_FOR_HARDWARE)
    # It takes a while here, between the probes of which a program can run.
    playground.runs_well()
    playground.wait(lambda: len(kept(playground)) == 1)
    playground.wait(lambda: "Kernels, measured on this adapter" in badge(playground))
    playground.runs_well()
