"""The executor on a single Python thread, with asynchronous work on devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.test_devices import finish

if TYPE_CHECKING:
    from tests.browser.conftest import Engine

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

# Tasks that record when they begin and end. If the `until` of a task never becomes true, the run
# fails with a `DeviceTimeoutError` after 60 s.
TASKS = """
from playgrad.runtime.executor import Executor
from playgrad.runtime.tasks import SegmentTask

log = []

class Until:
    def __init__(self, condition):
        self.condition = condition
    def done(self):
        return self.condition()

def task(device, name, after=(), previous=None, until=lambda: True, fails=None, here=False):
    def coroutine(queued, trace, attend):
        log.append(f"{name} begins")
        while here and not until():
            attend()
        yield Until(until)
        if fails:
            raise fails
        log.append(f"{name} ends")
    return SegmentTask(name, device, after=after, previous=previous, coroutine=coroutine, here=here)

executor = Executor()
executor.timeout = 60.0
"""


def test_a_busy_device_receives_its_next_segment(engine: Engine) -> None:
    """A task of another device waits for its predecessors to end."""
    source = """
began = lambda name: lambda: f"{name} begins" in log
executor.run([
    task("gpu:0", "one", until=began("two")),
    task("gpu:0", "two", (0,), previous=0, until=began("other")),
    task("gpu:1", "other", (0,)),
])
print(", ".join(log))
"""
    assert finish(engine, TASKS + source) == (
        "one begins, two begins, one ends, other begins, other ends, two ends"
    )


def test_the_first_error_of_a_device_is_raised(engine: Engine) -> None:
    """The cause is reported, not its consequences in later segments that arrive together."""
    source = """
looks = []
def second_look():
    looks.append("two begins" in log)
    return looks.count(True) > 1
try:
    executor.run([
        task("gpu:0", "one", until=second_look, fails=ValueError("the cause")),
        task("gpu:0", "two", (0,), previous=0, until=lambda: any(looks), fails=KeyError("two")),
        task("gpu:1", "other", (1,)),
    ])
except Exception as error:
    print(repr(error))
"""
    assert finish(engine, TASKS + source) == "ValueError('the cause')"


def test_a_delayed_segment_begins_after_its_predecessor_ends(engine: Engine) -> None:
    source = """
executor.delays = {"gpu:0": 0.05}
executor.run([
    task("gpu:0", "one"), task("gpu:0", "two", (0,), previous=0), task("gpu:1", "other", (0,)),
])
print(log.index("one ends") < log.index("two begins"))
"""
    assert finish(engine, TASKS + source) == "True"


def test_work_elsewhere_begins_before_and_during_work_of_the_calling_thread(engine: Engine) -> None:
    """A processor that computes on Python's thread does not make other devices wait."""
    source = """
began = lambda name: lambda: f"{name} begins" in log
executor.run([
    task("cpu:0", "here", until=began("two"), here=True),
    task("gpu:0", "one", until=began("here")),
    task("gpu:1", "two", (1,)),
])
print(", ".join(log))
"""
    assert finish(engine, TASKS + source) == (
        "one begins, here begins, one ends, two begins, two ends, here ends"
    )


def test_an_error_elsewhere_is_raised_after_the_calling_threads_work(engine: Engine) -> None:
    source = """
looks = []
def third_look():
    looks.append("here begins" in log)
    return looks.count(True) > 2
try:
    executor.run([
        task("cpu:0", "here", until=lambda: looks.count(True) > 2, here=True),
        task("gpu:0", "one", until=third_look, fails=ValueError("the cause")),
    ])
except Exception as error:
    print(repr(error), log)
"""
    assert finish(engine, TASKS + source) == (
        "ValueError('the cause') ['one begins', 'here begins', 'here ends']"
    )
