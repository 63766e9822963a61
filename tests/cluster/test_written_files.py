"""Files of a program are written once on each machine."""

from __future__ import annotations

import pytest

import playgrad as pg
from bench.two_machines import TwoMachines
from tests.cluster.conftest import Launcher

WRITES = """
import os
from pathlib import Path

import playgrad as pg
from playgrad.figures import drawing

FOLDER = Path(__file__).parent
whole = drawing.write_whole


def add(name, text="x"):
    with open(FOLDER / name, "a") as file:
        file.write(text)


def counted(path, content):
    add("figures")
    whole(path, content)


drawing.write_whole = counted
pg.plot([1.0, 2.0], save=FOLDER / "plot.svg")
if pg.parallel.writes_files():
    add("mine")
add("all")
for _ in range(3):
    pg.parallel.write_once(lambda: add("once"))
    assert (FOLDER / "once").exists()


def fails():
    add("failed")
    raise LookupError("no place for it", FOLDER.stat)  # cannot be sent to another process


try:
    pg.parallel.write_once(fails)
except (LookupError, RuntimeError) as error:
    add("caught")
    assert "no place for it" in str(error)
pg.parallel.write_once(lambda: (FOLDER / "nowhere" / "x").write_text("x"))
"""


def sizes(launcher: Launcher) -> dict[str, int]:
    names = ("figures", "mine", "all", "once", "failed", "caught")
    folder = launcher.program("").parent
    return {name: len((folder / name).read_text()) for name in names}


def test_one_member_of_a_machine_writes(launcher: Launcher) -> None:
    run = launcher.start(launcher.program(WRITES), "localhost:2")
    assert run.wait() == 1
    assert run.err.count("FileNotFoundError") == 1
    expected = {"figures": 1, "mine": 1, "all": 2, "once": 3, "failed": 1, "caught": 2}
    assert sizes(launcher) == expected
    assert (launcher.program("").parent / "plot.svg").read_text().startswith("<svg")


@pytest.mark.slow
def test_each_machine_has_a_member_that_writes(launcher: Launcher, machines: TwoMachines) -> None:
    hosts = machines.hosts(2)
    run = launcher.start(
        launcher.program(WRITES), hosts, "--rsh", machines.script, prefix=machines.on_first
    )
    assert run.wait() == 1
    expected = {"figures": 2, "mine": 2, "all": 4, "once": 6, "failed": 2, "caught": 4}
    assert sizes(launcher) == expected


def test_a_process_alone_writes_its_files() -> None:
    assert pg.parallel.writes_files()
    written = []
    pg.parallel.write_once(lambda: written.append(1))
    assert written == [1]
