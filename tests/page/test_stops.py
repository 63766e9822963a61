"""A stop reaches the program's own runs, even if Python's interrupt was lost, and only once."""

from __future__ import annotations

import pytest

from tests.page.python_side import PythonSide, python_side

STOPS_AT = 7
LOOP = """
import playgrad as pg
from playgrad.runtime.hooks import get_hooks

with pg.device("DEVICE"):
    total = pg.Variable([0.0], name="total")
    step = total.assign_add(1.0)
session = pg.Session(device="cpu")

def work(runs=50):
    for number in range(runs):
        if number == 7:
            get_hooks().emit({"kind": "progress", "step": 7})  # the page requests a stop
        session.run(step)
"""


def run(source: str, device: str = "cpu") -> tuple[str, str]:
    """Run a program that a stop interrupts; return its last state and its output."""
    with python_side() as side:
        side.stop_at = STOPS_AT
        return side.run(LOOP.replace("DEVICE", device) + source), output_of(side)


def output_of(side: PythonSide) -> str:
    assert not side.of("error"), side.of("error")
    return side.output


@pytest.mark.parametrize("device", ["cpu:0", "cpu:1"])
def test_a_stop_ends_a_loop_of_runs(device: str) -> None:
    setting = "pg.set_logical_devices(cpu=2)\n"
    source = f"{setting}work()\nprint('not reached')"
    assert run(source, device) == ("stopped", "")


def test_a_stop_ends_a_repetition() -> None:
    source = "work(7)\nget_hooks().emit({'kind': 'progress', 'step': 7})\n"
    assert run(source + "session.repeat(step, 50)\nprint('not reached')") == ("stopped", "")


def test_cleanup_after_a_stop_is_not_interrupted() -> None:
    source = """
try:
    work()
except KeyboardInterrupt:
    session.run(step)
session.run(step)
print(session.value(total))
"""
    assert run(source) == ("done", f"[{STOPS_AT + 2}.]\n")


def test_an_interrupt_handled_by_the_program_uses_up_the_stop() -> None:
    source = """
get_hooks().emit({"kind": "progress", "step": 7})
try:
    raise KeyboardInterrupt  # as Python raises it
except KeyboardInterrupt:
    session.run(step)
print(session.value(total))
"""
    assert run(source) == ("done", "[1.]\n")


def test_nothing_is_interrupted_after_the_program() -> None:
    with python_side() as side:
        side.stop_at = STOPS_AT
        assert side.run(LOOP.replace("DEVICE", "cpu") + "work()") == "stopped"
        assert not side.module.controller.hooks.interrupts()
