"""The same runs over MPICH in place of Open MPI; by night, as only its set-up installs MPICH."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.cluster.conftest import PATIENCE, ROOT, Launcher
from tests.cluster.test_differences import CACHED
from tests.cluster.test_drawn_batches import PROGRAM as DRAWN
from tests.cluster.test_strategies import compare

pytestmark = pytest.mark.slow


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch) -> str:
    """The interpreter beside which MPICH is installed; it finds packages where this one does."""
    folder = ROOT / "var" / "mpich" / "bin"
    if not (folder / "mpiexec.hydra").exists():
        pytest.skip(f"MPICH is not installed in {folder}: make setup-nightly installs it")
    paths = [str(ROOT / "app"), sysconfig.get_paths()["purelib"]]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    return str(folder / "python")


def alone(program: Path) -> str:
    """Return what a program prints on one process."""
    command = [sys.executable, str(program)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    return ended.stdout


def test_every_strategy_gives_the_bits_of_one_process(launcher: Launcher, python: str) -> None:
    compare(launcher, 4, 6, (), python)


def test_streams_are_drawn_once(launcher: Launcher, python: str) -> None:
    program = launcher.program(DRAWN)
    run = launcher.start(program, "localhost:2", python=python)
    assert run.wait() == 0, run.err
    assert run.out[: run.out.index("the end")] in alone(program)
    assert "generator" not in (program.parent / "read_1").read_text()


def test_differing_and_dead_members_are_named(launcher: Launcher, python: str) -> None:
    differing = CACHED.replace("CALL", "session.run(joined if rank == 0 else near, {x: ones})")
    run = launcher.start(launcher.program(differing), "localhost:2", python=python)
    assert run.wait() == 1
    assert "compute different programs: member 0 computes joined:0" in run.err
    run = launcher.start(launcher.trains(100_000), "localhost:2", python=python)
    run.wait_for("epoch 3/")
    run.send(signal.SIGKILL, 1)
    assert run.wait() == 1
    assert "member 1 (localhost) has died" in run.err
    assert run.members() == []
