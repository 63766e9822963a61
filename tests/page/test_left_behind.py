"""What a program leaves in the event loop is not heard by the next one."""

from __future__ import annotations

import asyncio
import sys
from contextlib import redirect_stdout

import pytest

from tests.page.python_side import PythonSide, python_side

LEAVING = """
import asyncio
import playgrad as pg

async def counting():
    for number in range(1000):
        print("left behind:", number)
        await asyncio.sleep(0)

async def stubborn():
    for number in range(100):
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            pass
        print("left behind, stubbornly:", number)
        pg.show([[0.0, 1.0]])

tasks = [asyncio.ensure_future(each()) for each in (counting, stubborn)]
loop = asyncio.get_running_loop()
loop.call_later(0.01, print, "left behind: a timer")
"""


def test_tasks_of_a_program_end_unheard_when_the_next_one_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        python_side() as python,
        redirect_stdout(python.streams[0]),
        monkeypatch.context() as patch,
    ):
        # The page's modules are new in each test.
        patch.setattr(sys.modules["playgrad.page.left_behind"], "LOOP_IS_OWN", True)
        asyncio.run(visit(python))


async def visit(python: PythonSide) -> None:
    assert python.run(LEAVING) == "done"
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for _ in range(5):
        await asyncio.sleep(0)
    assert "left behind: 4" in heard(python) and "stubbornly: 3" in heard(python)
    python.events.clear()

    assert python.run("print('next')") == "done"
    await asyncio.gather(*tasks, asyncio.sleep(0.02), return_exceptions=True)
    assert heard(python) == "next\n"
    assert python.of("figure") == []
    assert sorted(task.cancelled() for task in tasks) == [False, True]

    python.events.clear()
    assert python.ask("prompt", code="print('typed')")["outcome"] == "done"
    assert heard(python) == "typed\n"


def heard(python: PythonSide) -> str:
    python.streams[0].flush()
    return python.output


def test_tasks_of_others_in_the_loop_go_on() -> None:
    """Such as those of a notebook, or of the browser's driver in a test."""

    async def beside() -> bool:
        task = asyncio.ensure_future(asyncio.sleep(0, result=True))
        assert python.run("print('a program')") == "done"
        return await task

    with python_side() as python, redirect_stdout(python.streams[0]):
        assert asyncio.run(beside())
