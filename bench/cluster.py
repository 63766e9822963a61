"""Compares the simulator, fed with measured links, with training over MPI. Linux, as root.

    python -m bench.cluster [--rounds 3]

prints a table: for each link, network and strategy, simulated and real milliseconds per step, and
their ratio. Both are of undisturbed work: the simulator adds up the least times of its parts, and
the real time is the least of many single steps, without the work of ``fit`` between them.

Members are processes on this machine ("localhost:N"), or in two network namespaces that a link of
the named bandwidth and latency joins ("100 Mbit/s, 2 ms"). Each round measures both, one after the
other; the result is the median over the rounds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.two_machines import two_machines

PLAYGRAD = [sys.executable, "-m", "playgrad"]
PROGRAM = """
import playgrad as pg
from bench.simulator import workloads
from playgrad.runtime.members import current_members

workload = workloads()[{name!r}]
model = workload.trained()
x, y = workload.samples(2)
model.fit(x, y, batch_size=workload.batch, epochs=1, verbose=0)
if current_members().size > 1:  # the simulator is alone
    run = model.training_loop.step.run
    print("seconds", min(model.session.repeat(run, 1).seconds for _ in range({steps})))
"""
NETWORKS = (
    "mlp 784-128-128-128-10, batch 64",
    "mlp 784-512-512-512-10, batch 256",
    "cnn 16-32-32, batch 32",
)
STEPS = 200
"""Steps that are timed one by one: other work on the machine may leave one of them alone."""
STRATEGIES = {
    "sync, ring": ["--parallel", "sync", "--collective", "ring"],
    "sync, central": ["--parallel", "sync", "--collective", "central"],
    "gpipe": ["--parallel", "pipeline", "--schedule", "gpipe", "--micro-batches", "4"],
    "1f1b": ["--parallel", "pipeline", "--schedule", "1f1b", "--micro-batches", "4"],
}


@dataclass(frozen=True)
class Place:
    """The machines that the members run on.

    Attributes:
        before: the words before a command.
        hosts: the machines, as ``--hosts`` names them.
        members: their number.
        rsh: the option for what takes the place of ssh, if anything does.
    """

    before: Sequence[str]
    hosts: str
    members: int
    rsh: Sequence[str] = ()

    def run(self, *words: str) -> str:
        """Run playgrad there and return its output. ``{hosts}`` stands for the machines."""
        filled = [word.replace("{hosts}", self.hosts) for word in words]
        line = [*self.before, *PLAYGRAD, *filled, *self.rsh]
        ended = subprocess.run(line, capture_output=True, text=True)
        if ended.returncode:
            raise SystemExit(f"{' '.join(line)}:\n{ended.stdout}{ended.stderr}")
        return ended.stdout


@contextmanager
def place_named(name: str) -> Iterator[Place]:
    """Yield the members of ``localhost:N``, or of two machines with a link of that speed."""
    if name.startswith("localhost"):
        yield Place([], name, int(name.split(":")[1]))
        return
    rate, _, latency = name.partition(", ")
    milliseconds = float(latency.split()[0]) if latency else 0.0
    with two_machines(int(rate.split()[0]), milliseconds) as machines:
        yield Place(machines.on_first, machines.hosts(), 2, ["--rsh", machines.script])


def real_seconds(place: Place, program: Path, strategy: Sequence[str]) -> float:
    """Return the least seconds of a step of ``program``, as it measures them."""
    words = [*strategy, "--devices", str(place.members)]
    lines = place.run("train", str(program), "--device", "cpu", "--hosts", "{hosts}", *words)
    (line,) = (line for line in lines.splitlines() if line.startswith("seconds "))
    return float(line.removeprefix("seconds "))


def simulated_seconds(links: Path, program: Path, strategy: Sequence[str], members: int) -> float:
    """Return the simulated seconds of a step, from measurements made now."""
    words = [*strategy, "--devices", str(members), "--links", str(links), "--json"]
    line = [*PLAYGRAD, "simulate", str(program), "--device", "cpu", *words]
    ended = subprocess.run(line, capture_output=True, text=True, check=True)
    (row,) = json.loads(ended.stdout.splitlines()[-1])
    return float(row["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--links", nargs="+", default=["localhost:2", "localhost:4", "1000 Mbit/s", "100 Mbit/s"]
    )
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS))
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES))
    options = parser.parse_args()
    print("| link | network | strategy | simulated ms | real ms | ratio | range |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for link in options.links:
            with place_named(link) as place:
                for network in options.networks:
                    program = folder / "program.py"
                    program.write_text(PROGRAM.format(name=network, steps=STEPS))
                    for strategy in options.strategies:
                        row = _row(place, folder, program, STRATEGIES[strategy], options.rounds)
                        print(f"| {link} | {network} | {strategy} | {row} |", flush=True)


def _row(place: Place, folder: Path, program: Path, strategy: Sequence[str], rounds: int) -> str:
    pairs = []
    links = folder / "links.json"
    for _ in range(rounds):
        links.write_text(place.run("hosts", "{hosts}", "--json"))
        simulated = simulated_seconds(links, program, strategy, place.members)
        pairs.append((simulated, real_seconds(place, program, strategy)))
    ratios = sorted(simulated / real for simulated, real in pairs)
    simulated, real = (1e3 * median(column) for column in zip(*pairs, strict=True))
    within = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
    return f"{simulated:.2f} | {real:.2f} | {median(ratios):.2f} | {within}"


if __name__ == "__main__":
    main()
