"""Members of a run draw samples of a graph, each for its own part of the nodes."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.cluster.conftest import PATIENCE, Launcher

PROGRAM = Path(__file__).with_name("sampled_program.py").read_text()


def samples_of(folder: Path, who: object) -> Counter[str]:
    """Return the nodes of each sample that a process has drawn, and how often it has."""
    return Counter((folder / f"sampled_{who}").read_text().splitlines())


def test_each_member_samples_its_nodes_and_the_losses_are_those_of_one_process(
    launcher: Launcher,
) -> None:
    program = launcher.program(PROGRAM)
    run = launcher.start(program, "localhost:2")
    alone = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert alone.returncode == 0, alone.stderr[-2000:]
    assert run.wait() == 0, run.err[-2000:]
    printed = run.out[: run.out.index("the end")].splitlines()
    assert printed == alone.stdout.splitlines()[:-1]
    everything = samples_of(program.parent, "alone")
    members = [samples_of(program.parent, rank) for rank in range(2)]
    twice = members[0] + members[1] - everything
    assert len(twice) == 2 and set(twice) <= set(members[0]) & set(members[1])  # the first step
    assert members[0] + members[1] == everything + twice
    assert [sum(each.values()) for each in members] == [14, 14]  # 4 steps in each of 3 epochs
