"""Tasks that a program leaves in the event loop are not heard by the next one."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from typing import Any

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
        run_in_a_loop(visit(python))


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
    assert python.ask("prompt", code="print('typed')")["answer"] == "done"
    assert heard(python) == "typed\n"


IN_ANOTHER_CONTEXT = """
import contextvars, threading
import playgrad as pg

def speak(where):
    print("from", where)
    pg.show([[0.0, 1.0]])

thread = threading.Thread(target=speak, args=("a thread",))
thread.start()
thread.join()
contextvars.Context().run(speak, "an empty context")
contextvars.copy_context().run(speak, "a copied context")
"""


def test_a_program_is_heard_from_any_context_and_thread() -> None:
    with python_side() as python:
        assert python.run("pass") == "done"
        assert python.run(IN_ANOTHER_CONTEXT) == "done"
        lines = ["from a thread", "from an empty context", "from a copied context"]
        assert heard(python).splitlines() == lines
        assert len(python.of("figure")) == len(lines)


def test_functions_of_an_earlier_program_are_not_heard() -> None:
    """Called in the context of the last one, as the browser's timers are."""
    with python_side() as python, redirect_stdout(python.streams[0]):
        assert python.run(IN_ANOTHER_CONTEXT) == "done"
        speak = python.module.controller.namespace["speak"]
        assert python.run("pass") == "done"
        python.events.clear()
        for act in (lambda: speak("a timer"), lambda: list(map(speak, ["a timer"]))):
            with pytest.raises(NameError, match="'pg'"):  # the namespace is cleared
                act()
        assert python.run("def speak(where):\n    print(where)\nspeak('here')") == "done"
        python.module.controller.namespace["speak"]("and there")
        assert heard(python) == "here\nand there\n"


def test_the_prompt_is_heard_after_a_reset() -> None:
    with python_side() as python:
        assert python.run("x = 1") == "done"
        for _ in range(2):
            python.requests.append({"kind": "reset"})
            python.serve()
        assert python.ask("prompt", code="print('typed')")["answer"] == "done"
        assert python.ask("prompt", code="def say(): print('again')\nsay()")["answer"] == "done"
        assert heard(python) == "typed\nagain\n"


def test_figures_left_out_are_counted_before_the_next_program_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that tasks show after the end of the program."""
    with python_side() as python, monkeypatch.context() as patch:
        patch.setattr(sys.modules["playgrad.page.figure_limit"], "WINDOW_SECONDS", math.inf)
        assert python.run("import playgrad as pg\nshow = lambda: pg.show([[0.0]])") == "done"
        for _ in range(20):
            python.module.controller.namespace["show"]()
        python.events.clear()
        assert python.run("pass") == "done"
        kinds = [event.get("state", event["kind"]) for event in python.events]
        assert kinds == ["stdout", "running", "done"]
        assert "figures left out" in python.output


def run_in_a_loop(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run it in a thread: the loop of the browser's driver may be running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def heard(python: PythonSide) -> str:
    python.streams[0].flush()
    return python.output


def test_other_tasks_in_the_loop_continue() -> None:
    """Such as a notebook's, or the browser driver's in a test."""

    async def beside() -> bool:
        task = asyncio.ensure_future(asyncio.sleep(0, result=True))
        assert python.run("print('a program')") == "done"
        return await task

    with python_side() as python, redirect_stdout(python.streams[0]):
        assert run_in_a_loop(beside())
