"""Runs of `playgrad train --hosts`, on this machine and on two machines of one's own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bench.two_machines import TwoMachines, two_machines

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
PATIENCE = 500.0
"""Seconds that a run may take on a busy machine, before the test fails."""
LATENCY = 3.0
ROOT = Path(__file__).resolve().parent.parent.parent
TRAINS = """
import numpy as np
import playgrad as pg
from playgrad import nn

rng = np.random.default_rng(0)
x = rng.standard_normal((512, 8)).astype(np.float32)
y = (x[:, 0] * x[:, 1] > 0).astype(np.int32)
model = pg.Sequential([nn.Dense(16, activation="tanh"), nn.Dense(2)])
model.compile(pg.optim.Adam(0.003), loss=nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=EPOCHS, verbose=0)
print("weights", [f"{value:.9g}" for value in model.get_weights()[0].ravel()[:4]])
"""


@dataclass
class HostsRun:
    """``playgrad train --hosts`` in a process of its own.

    Args:
        prefix: a command that runs it elsewhere.
        python: the interpreter, beside which the MPI library is installed.
    """

    arguments: list[str]
    folder: Path
    prefix: list[str] = field(default_factory=list)
    python: str = sys.executable

    def __post_init__(self) -> None:
        self._out = (self.folder / "out.txt").open("w+")
        self._err = (self.folder / "err.txt").open("w+")
        self.process = subprocess.Popen(
            [*self.prefix, self.python, "-m", "playgrad", "train", *self.arguments],
            cwd=ROOT,
            stdout=self._out,
            stderr=self._err,
            env=dict(os.environ),
        )

    @property
    def out(self) -> str:
        return (self.folder / "out.txt").read_text()

    @property
    def err(self) -> str:
        return (self.folder / "err.txt").read_text()

    def wait(self) -> int:
        """Wait for the end; return the exit code."""
        return self.process.wait(PATIENCE)

    def wait_for(self, text: str) -> None:
        """Wait until ``text`` was written to standard error."""
        end = time.monotonic() + PATIENCE
        while text not in self.err:
            assert time.monotonic() < end, f"{text!r} did not come: {self.err}"
            assert self.process.poll() is None, f"it has ended: {self.err}"
            time.sleep(0.05)

    def members(self) -> list[int]:
        """Return the processes of the members, in order of their ranks."""
        found: dict[int, int] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes().split(b"\0")
                variables = dict(
                    each.split(b"=", 1)
                    for each in (folder / "environ").read_bytes().split(b"\0")
                    if b"=" in each
                )
            except OSError:  # it has ended, or belongs to somebody else
                continue
            is_ours = self.arguments[0].encode() in command and b"playgrad" in command
            rank = variables.get(b"OMPI_COMM_WORLD_RANK", variables.get(b"PMI_RANK"))
            if is_ours and rank is not None and b"PLAYGRAD_SUPERVISOR" in variables:
                found[int(rank)] = int(folder.name)
        return [found[rank] for rank in sorted(found)]

    def send(self, number: signal.Signals, rank: int) -> None:
        """Send a signal to a member."""
        os.kill(self.members()[rank], number)

    def close(self) -> None:
        """End it, whatever it does."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(40.0)
            except subprocess.TimeoutExpired:
                self.process.kill()
        for pid in self.members():
            os.kill(pid, signal.SIGKILL)
        self._out.close()
        self._err.close()


class Launcher:
    """Starts runs, and ends them after the test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs: list[HostsRun] = []

    def program(self, text: str) -> Path:
        """Write a program."""
        path = self._folder / f"program_{len(list(self._folder.glob('program_*')))}.py"
        path.write_text(text)
        return path

    def trains(self, epochs: int) -> Path:
        """Write a program that trains for so many epochs of 16 steps."""
        return self.program(TRAINS.replace("EPOCHS", str(epochs)))

    def start(
        self,
        program: Path,
        hosts: str,
        *options: object,
        prefix: list[str] | None = None,
        python: str = sys.executable,
    ) -> HostsRun:
        """Start ``playgrad train PROGRAM --hosts HOSTS``."""
        folder = self._folder / f"run_{len(self._runs)}"
        folder.mkdir()
        arguments = [str(program), "--hosts", hosts, *map(str, options)]
        self._runs.append(HostsRun(arguments, folder, prefix or [], python))
        return self._runs[-1]

    def close(self) -> None:
        for run in self._runs:
            run.close()


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    made = Launcher(tmp_path)
    yield made
    made.close()


@pytest.fixture
def machines() -> Iterator[TwoMachines]:
    """Yield machines with a link of 100 Mbit/s, over which a message takes `LATENCY` ms."""
    with ExitStack() as stack:
        try:
            made = stack.enter_context(two_machines(rate=100, latency=LATENCY))
        except OSError as error:
            pytest.skip(f"no two machines joined by a shaped link here: {error}")
        yield made
