"""Seconds until a lost member is noticed, and until the rest trains again. Linux, as root.

    python -m bench.lost_members [--rounds 3]

A program trains on two machines, which are network namespaces, with checkpoints. In the middle of
it, the second member is killed or stopped, or the link to it is taken down. Columns are the seconds
from then until the user is told, and until the training goes on from the checkpoint; the median of
the rounds, and their range.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.two_machines import two_machines

PROGRAM = """
import os
import numpy as np
import playgrad as pg
from playgrad.runtime.members import current_members

members = current_members()
open(f"{os.path.dirname(__file__)}/pid{members.rank}", "w").write(str(os.getpid()))
x = np.random.default_rng(0).standard_normal((512, 8)).astype(np.float32)
model = pg.Sequential([pg.nn.Dense(16, activation="tanh"), pg.nn.Dense(1)])
model.compile(pg.optim.Adam(0.001), loss="mse")
model.fit(x, x[:, :1], batch_size=32, epochs=1_000_000, verbose=0)
"""
SIGNALS = {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP}
NOTICED = "The run starts again"
CONTINUED = "continuing after step"
PATIENCE = 120.0


def seconds(way: str, folder: Path) -> tuple[float, float]:
    """Lose a member in the ``way`` of that name; return both times."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    words = [sys.executable, "-m", "playgrad", "train", str(program), "--device", "cpu"]
    words += ["--checkpoint", str(folder / "checkpoints"), "--checkpoint-every", "100"]
    with two_machines(100) as machines:
        words += ["--hosts", machines.hosts(), "--rsh", machines.script]
        words = [*machines.on_first, *words]
        errors = folder / "errors"
        with errors.open("w") as file:
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=file)
        try:
            _wait_for(process, lambda: any((folder / "checkpoints").glob("step-*.playgrad")))
            began = time.perf_counter()
            if way in SIGNALS:
                os.kill(int((folder / "pid1").read_text()), SIGNALS[way])
            else:
                machines.cut()
            times = []
            for text in (NOTICED, CONTINUED):
                _wait_for(process, lambda text=text: text in errors.read_text())  # type: ignore[misc]
                times.append(time.perf_counter() - began)
        finally:
            process.terminate()
            process.wait()
    return times[0], times[1]


def _wait_for(process: subprocess.Popen[bytes], happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"the training ended with {process.poll()}, or took too long")
        time.sleep(0.01)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print("| the member | seconds until noticed | range | until training goes on | range |")
    print("|---|---:|---|---:|---|")
    for way in (*SIGNALS, "link down"):
        found = []
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as name:
                found.append(seconds(way, Path(name)))
        cells = []
        for column in zip(*found, strict=True):
            cells += [
                f"{statistics.median(column):.1f}",
                f"{min(column):.1f} to {max(column):.1f}",
            ]
        print(f"| {way} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
