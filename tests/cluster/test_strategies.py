"""Every strategy on several processes gives the numbers of one process, to the last bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cluster.conftest import PATIENCE, Launcher

PROGRAM = Path(__file__).with_name("every_strategy.py")


def test_every_strategy_gives_the_same_bits_on_four_processes(launcher: Launcher) -> None:
    run = launcher.start(PROGRAM, "localhost:4")
    alone = subprocess.run(
        [sys.executable, str(PROGRAM)],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    expected = json.loads(alone.stdout)
    assert run.wait() == 0, run.err
    results = json.loads(run.out.splitlines()[0])
    assert len(results) == 16
    assert {name: results[name] for name in expected} == expected
