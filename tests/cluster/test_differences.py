"""Members that do different things: an error at all of them names what each does."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from playgrad.cluster.differences import differing_calls, differing_runs
from playgrad.errors import GraphError, MembersDifferError
from playgrad.runtime.run_digest import RunDigest
from tests.cluster.conftest import Launcher

CACHED = """
import os
import numpy as np
import playgrad as pg

rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0")))
graph = pg.Graph()
with graph.as_default():
    x = pg.placeholder("float32", (3,), name="x")
    with pg.device("cpu:1"):
        far = x * 2.0
    with pg.device("cpu:0"):
        joined = pg.add(far, 1.0, name="joined")
        near = pg.add(x, 1.0, name="near")
ones = np.ones(3, np.float32)
with pg.Session(graph, "cpu") as session:
    for _ in range(2):
        print(session.run(joined, {x: ones}), session.run(near, {x: ones}))
    try:
        CALL
    except pg.MembersDifferError as error:
        print("stopped:", error)
        session.run(joined, {x: ones})
"""


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (  # member 0 would wait for ever for a tensor of member 1
            "session.run(joined if rank == 0 else near, {x: ones})",
            ["compute different programs: member 0 computes joined:0", "member 1 computes near:0"],
        ),
        (
            "session.run(joined, {x: ones + rank})",
            ["the feed of 'x:0' differs", "member 0 has digest", "member 1 has digest"],
        ),
    ],
)
def test_members_that_run_different_prepared_programs_are_an_error(
    launcher: Launcher, call: str, words: list[str]
) -> None:
    run = launcher.start(launcher.program(CACHED.replace("CALL", call)), "localhost:2")
    assert run.wait() == 1
    assert "stopped:" in run.out
    for each in words:
        assert each in run.err
    assert run.err.count("the members of the run") == 1  # all tell the same, once


def test_a_member_that_runs_while_another_reads_a_variable_is_an_error(launcher: Launcher) -> None:
    call = "session.run(joined, {x: ones}) if rank == 0 else session.members.first_of(1)"
    text = CACHED.replace("CALL", call)
    run = launcher.start(launcher.program(text), "localhost:2")
    assert run.wait() == 1
    assert "member 0 (localhost): MembersDifferError: the members of the run do" in run.err
    assert "this one is at a run of joined:0" in run.err
    assert "this one is at first_of in <module>" in run.err


def test_graphs_with_other_numbers_in_them_are_an_error(launcher: Launcher) -> None:
    text = CACHED.replace("far = x * 2.0", "far = pg.leaky_relu(x, 0.1 + rank)")
    run = launcher.start(launcher.program(text.replace("CALL", "pass")), "localhost:2")
    assert run.wait() == 1
    assert "the graph differs between the members" in run.err
    assert "member 1 has digest" in run.err


def test_members_of_which_one_does_not_compile_are_an_error(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import os\nos.environ['PLAYGRAD_SIMD'] = '01'[os.environ.get(RANK) == '0']\n"
    (tmp_path / "sitecustomize.py").write_text(text.replace("RANK", "'OMPI_COMM_WORLD_RANK'"))
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{before}".rstrip(os.pathsep))
    run = launcher.start(launcher.trains(1), "localhost:2")
    assert run.wait() == 1
    assert re.search(r"the compiler of steps is none instead of wasmtime \d", run.err), run.err


def test_errors_name_members_with_the_same_work_together() -> None:
    runs = [RunDigest(1, "a"), RunDigest(2, "b"), RunDigest(1, "a"), RunDigest(2, "b")]
    error = differing_runs(runs)
    assert isinstance(error, MembersDifferError) and isinstance(error, GraphError)
    assert "members 0, 2 compute a and members 1, 3 compute b" in str(error)
    fed = [RunDigest(1, "a", {"x": 1, "y": 2}), RunDigest(1, "a", {"x": 1, "y": 3})]
    assert "the feed of 'y'" in str(differing_runs(fed))
    assert "member 0 is at share and member 1 is at agree" in str(
        differing_calls(["share", "agree"])
    )
