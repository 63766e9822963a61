"""The graph of every example, folded as the page draws it at first, has no cycle."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

from playgrad import paths
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.devices import registry
from playgrad.graph.graph import reset_default_graph
from playgrad.page.questions.training_step import graph
from playgrad.page.session_graphs import SessionGraphs
from playgrad.runtime.hooks import Hooks, set_hooks
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.program_file import run_program

SIDE = Path(__file__).parent / "programs" / "folded_graphs.mjs"
EXAMPLES = sorted((paths.static() / "examples").glob("*.py"))
SECONDS = 15
"""The time that a program without `fit` has to run its sessions."""


class _Drawn(BaseException):
    """Ends a program whose graph is known."""


class _Watcher(Hooks):
    """Collects what `playgrad.page.controller` would draw, and ends the program then."""

    def __init__(self) -> None:
        self.views: list[dict[str, Any]] = []
        self.sessions = SessionGraphs(self.views.append, "example.py")
        self._end = time.monotonic() + SECONDS

    def fitting(self, model: Any) -> None:
        self.views.append(graph(model))
        raise _Drawn

    def preparing(self, program: Program, policy: Policy) -> None:
        self.sessions.add(program, policy)

    def interrupts(self) -> bool:
        return time.monotonic() > self._end


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    registry.set_logical_devices(cpu=1)
    reset_default_graph()


def _views(example: Path) -> list[dict[str, Any]]:
    watcher = _Watcher()
    before = set_hooks(watcher)
    try:
        with options_set(Options(device="cpu", verbose=0)):
            run_program(example, 0)
    except (_Drawn, KeyboardInterrupt):
        pass
    finally:
        set_hooks(before)
    watcher.sessions.finish()
    return watcher.views


Arrows = list[tuple[str, str]]


@pytest.fixture(scope="module")
def draw() -> Iterator[Callable[[list[dict[str, Any]]], list[Arrows]]]:
    """A function that returns the arrows of each drawing of graphs, folded and opened."""
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    pipe = subprocess.PIPE
    with subprocess.Popen([node, str(SIDE)], stdin=pipe, stdout=pipe, encoding="utf-8") as process:

        def ask(views: list[dict[str, Any]]) -> list[Arrows]:
            assert process.stdin and process.stdout
            print(json.dumps(views), file=process.stdin, flush=True)
            drawings: list[Arrows] = json.loads(process.stdout.readline())
            return drawings

        yield ask


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_a_folded_example_has_no_cycle(example: Path, draw: Any) -> None:
    views = _views(example)
    assert views, "the example has no graph"
    drawings = draw(views)
    assert len(drawings) == 2 * len(views)
    for arrows in drawings:
        sorter: TopologicalSorter[str] = TopologicalSorter()
        for start, end in arrows:
            sorter.add(end, start)
        sorter.prepare()  # raises CycleError
