"""The image of Python's memory holds more than modules, and memory is touched before a run."""

from __future__ import annotations

import gc
import subprocess
import sys

from playgrad.compiler import compile as compiler
from playgrad.devices import saved_tunings
from playgrad.graph.graph import Graph, get_default_graph
from playgrad.page.memory_reserve import touch_memory
from playgrad.page.warm_up import warm_up


def test_the_warm_up_leaves_no_graph_or_program_behind() -> None:
    gc.collect()
    before = [each for each in gc.get_objects() if type(each) is Graph]
    programs = list(compiler._cache._entries)
    nodes = len(get_default_graph().nodes)
    warm_up()
    graphs = [each for each in gc.get_objects() if type(each) is Graph]
    assert len(graphs) == len(before)
    assert list(compiler._cache._entries) == programs
    assert len(get_default_graph().nodes) == nodes


def test_the_kernels_are_hashed_once() -> None:
    saved_tunings.kernels_hash.cache_clear()
    warm_up()
    assert saved_tunings.kernels_hash.cache_info().currsize == 1


_DRAWS = """
import secrets
drawn = []
secrets.token_bytes = lambda count=None: drawn.append(count) or b"0" * (count or 32)
import playgrad, playgrad.io
from playgrad.page.question import questions
from playgrad.page.warm_up import warm_up
forms = [question.request for question in questions().values()]
warm_up()
assert not drawn, drawn
"""


def test_an_image_has_drawn_nothing_that_tells_processes_apart() -> None:
    subprocess.run([sys.executable, "-c", _DRAWS], check=True, timeout=300)


def test_touching_no_memory_or_too_much_is_no_error() -> None:
    for size in (0, 1 << 62):
        touch_memory(size)
