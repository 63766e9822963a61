"""Seconds until a lost member is noticed, and until the rest trains again. Linux, as root.

    python -m bench.lost_members [--rounds 3]

A program trains on two machines, which are network namespaces, with checkpoints. In the middle of
it, the second member is killed or stopped, or the link to it is taken down. Columns are the seconds
from then until the user is told, and until the training goes on from the checkpoint; the median of
the rounds, and their range. Open MPI sometimes fails to start: a run that ends before its first
checkpoint is tried once more, with its last words on standard error, and counted.
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
_LAST_WORDS = 600


class NotStartedError(Exception):
    """A run has ended before its first checkpoint."""


def seconds(way: str, folder: Path) -> tuple[float, float]:
    """Lose a member in the ``way`` of that name; return both times.

    Raises:
        NotStartedError: the run ended before there was a member to lose.
    """
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
            try:
                _wait_for(process, lambda: any((folder / "checkpoints").glob("step-*.playgrad")))
            except _EndedError:
                raise NotStartedError(errors.read_text().strip()[-_LAST_WORDS:]) from None
            began = time.perf_counter()
            if way in SIGNALS:
                os.kill(int((folder / "pid1").read_text()), SIGNALS[way])
            else:
                machines.cut()
            times = []
            for text in (NOTICED, CONTINUED):
                try:
                    _wait_for(process, lambda text=text: text in errors.read_text())  # type: ignore[misc]
                except _EndedError as error:
                    raise SystemExit(f"{error}: {errors.read_text()[-_LAST_WORDS:]}") from None
                times.append(time.perf_counter() - began)
        finally:
            process.terminate()
            process.wait()
    return times[0], times[1]


class _EndedError(Exception):
    """The training has ended, or does not go on."""


def _wait_for(process: subprocess.Popen[bytes], happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        if process.poll() is not None or time.monotonic() > end:
            raise _EndedError(f"the training ended with {process.poll()}, or took too long")
        time.sleep(0.01)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print("| the member | seconds until noticed | range | until training goes on | range |")
    print("|---|---:|---|---:|---|")
    again = 0
    for way in (*SIGNALS, "link down"):
        found = []
        for _ in range(options.rounds):
            try:
                found.append(_once(way))
            except NotStartedError as error:
                again += 1
                print(f"{way}: started again, as the run did not start: {error}", file=sys.stderr)
                found.append(_once(way))
        cells = []
        for column in zip(*found, strict=True):
            cells += [
                f"{statistics.median(column):.1f}",
                f"{min(column):.1f} to {max(column):.1f}",
            ]
        print(f"| {way} | {' | '.join(cells)} |", flush=True)
    print(f"\n{again} of {(len(SIGNALS) + 1) * options.rounds} runs did not start at first")


def _once(way: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as name:
        return seconds(way, Path(name))


if __name__ == "__main__":
    main()
