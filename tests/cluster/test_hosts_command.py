"""``playgrad hosts``: what it finds out about machines, and what it says to mend."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from playgrad.cluster.check import find_problems
from playgrad.cluster.hosts import HostSlots
from playgrad.cluster.links import pairings
from playgrad.cluster.probe import Account, ask
from tests.cli.processes import APP, end_of, environment, run_process, running

SHELL = """#!/bin/sh
# Takes the place of ssh: every "machine" is this one, except that something is wrong with it.
host=$1; shift
case $host in
  good) exec sh -c "$*" ;;
  older) exec sh -c "$(echo "$*" | sed 's#PYTHONPATH=[^ ]*#PYTHONPATH={older}#')" ;;
  locked) echo 'root@locked: Permission denied (publickey,password).' >&2; exit 255 ;;
  empty) exec sh -c "$(echo "$*" | sed 's#{python}#/nowhere/python#')" ;;
  silent) exec sleep 600 ;;
  greeting) echo 'Welcome!'; echo '{{"python"'; exec sh -c "$*" ;;
esac
"""


@pytest.fixture
def shell(tmp_path: Path) -> str:
    """A script that takes the place of ssh."""
    package = tmp_path / "older" / "playgrad"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0.0.9"\n')
    script = tmp_path / "shell"
    script.write_text(SHELL.format(older=package.parent, python=sys.executable))
    script.chmod(0o755)
    return str(script)


def test_two_processes_of_this_machine_are_measured(tmp_path: Path) -> None:
    ended = run_process(["hosts", "localhost:2", "--json"], cwd=tmp_path)
    result = json.loads(ended.out)
    assert (ended.code, result["problems"], ended.err) == (0, [], "")
    (host,) = result["hosts"]
    assert host["name"] == "localhost" and host["slots"] == 2 and host["cores"] >= 1
    assert abs(host["clock_offset"]) <= host["clock_uncertainty"] + 1e-3
    (link,) = result["links"]
    assert link["hosts"] == ["localhost", "localhost"]
    for measured in (link, result["together"]):
        assert 0 < measured["latency"] < 1 and measured["bandwidth"] > 1e5
    assert 0 < result["together"]["rate"] <= 1


def test_every_machine_that_cannot_take_part_is_named_with_a_remedy(
    shell: str, tmp_path: Path
) -> None:
    hosts = "good,older,locked,empty:2"
    ended = run_process(["hosts", hosts, "--rsh", shell], cwd=tmp_path)
    assert ended.code == 1, ended.err
    assert "older: has playgrad 0.0.9, and here is" in ended.out
    assert "install the same version (pip install playgrad==" in ended.out
    assert "locked: cannot be reached: ssh asks for a password" in ended.out
    assert "ssh-copy-id locked" in ended.out
    assert "empty: cannot be reached: empty has no" in ended.out
    assert "good:" not in ended.out and "nothing to mend" not in ended.out


def test_a_machine_that_does_not_answer_is_given_up(shell: str) -> None:
    account = ask(HostSlots("silent", 1), shell, "/", seconds=0.2)
    assert "no answer within 0.2 s" in account.problem


def test_an_interrupt_ends_what_was_started(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = tmp_path / "shell"
    script.write_text(f"#!/bin/sh\nexec 3>{pipe}\necho up >&3\nexec sleep 600\n")
    script.chmod(0o755)
    with (
        running("hosts", "a", "--rsh", str(script)) as process,
        pipe.open("rb", buffering=0) as reader,
    ):
        assert reader.read(3) == b"up\n"
        process.send_signal(signal.SIGINT)
        ended = end_of(process)
        assert (ended.code, ended.err) == (130, "playgrad: stopped\n")
        assert select.select([reader], [], [], 60.0)[0] and reader.read(1) == b""


def test_a_shell_that_does_not_exist_is_named() -> None:
    account = ask(HostSlots("a", 1), "/nowhere/ssh -p 22", "/")
    assert account.problem.startswith("/nowhere/ssh cannot be run here (No such file or directory)")


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> tuple[Account, Path]:
    """The account that this machine gives after a greeting, with a program in its folder."""
    folder = tmp_path_factory.mktemp("account")
    (folder / "train.py").write_text("print(1)\n")
    script = folder / "shell"
    script.write_text(SHELL.format(older="", python=sys.executable))
    script.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
        return ask(HostSlots("greeting", 1), str(script), str(folder)), folder


def test_what_differs_between_machines_is_a_problem(account: tuple[Account, Path]) -> None:
    here, folder = account
    assert not here.problem
    assert find_problems([here], here, str(folder)) == []
    source = APP / "playgrad"
    assert here.facts["playgrad"] and here.facts["source"] and source.is_dir()

    def problem(**changes: object) -> str:
        other = replace(here, facts={**here.facts, **changes})
        (found,) = find_problems([other], here, str(folder))
        return found.text

    assert "has Python 3.9.1, and here is" in problem(python="3.9.1")
    assert "has NumPy 1.0" in problem(numpy="1.0")
    assert "cannot load mpi4py (ImportError: no): pip install 'playgrad[cluster]'" in problem(
        mpi4py=None, mpi=None, errors={"mpi4py": "ImportError: no"}
    )
    assert "has MPI MPICH 4.3: " not in problem(mpi="MPICH 4.3")
    assert "has MPI MPICH 4.3, and here is" in problem(mpi="MPICH 4.3")
    assert "has wasmtime (none), and here is" in problem(wasmtime=None)
    assert "has wasmtime 1.0, and here is" in problem(wasmtime="1.0")
    assert "other source files of playgrad" in problem(source="0")
    assert f"has no folder {folder}" in problem(folder=False)
    assert "train.py" in problem(files={"train.py": "0"})
    assert "train.py" in problem(files={})


@pytest.mark.parametrize(("offset", "words"), [(3.2, "3.2 s ahead"), (-3.2, "3.2 s behind")])
def test_a_clock_that_is_wrong_is_a_problem(
    account: tuple[Account, Path], offset: float, words: str
) -> None:
    here, folder = account
    (problem,) = find_problems([replace(here, offset=offset)], here, str(folder))
    assert words in problem.text and not problem.prevents
    uncertain = replace(here, offset=offset, uncertainty=2.5)
    assert find_problems([uncertain], here, str(folder)) == []


@pytest.mark.parametrize("count", range(1, 8))
def test_each_pair_of_machines_is_measured_once_and_none_twice_at_a_time(count: int) -> None:
    rounds = list(pairings(count))
    pairs = sorted(pair for each in rounds for pair in each)
    assert pairs == [(a, b) for a in range(count) for b in range(a + 1, count)]
    for each in rounds:
        busy = [place for pair in each for place in pair]
        assert len(busy) == len(set(busy))
