"""Measures the memory of a training on the desktop's processor, with compiled steps and with NumPy.

python -m bench.desktop_memory
python -m bench.desktop_memory --only w1

Each training is a process of its own. *Own* is what no other process can share, *library* what is
loaded of wasmtime's code: pages of a file, which the system may drop and all processes share. Linux
only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from bench.paths import DATA
from bench.workload_files import write
from playgrad.benchmark.workloads import WORKLOADS
from playgrad.runtime.desktop_host import VARIABLE

_MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ .{4} \S+ \S+ \S+ *(.*)")


def train(workload: str, steps: int) -> None:
    """Train, and print the memory of this process in megabytes."""
    from bench.peers.playgrad_program import PlaygradTrainer

    trainer = PlaygradTrainer(lambda file: (DATA / file).read_bytes(), workload, "cpu")
    trainer.steps(1)
    for _ in range(3):
        trainer.step_and_read()
    trainer.steps(steps)
    status = Path("/proc/self/status").read_text("ascii")
    peak, own = (int(re.findall(rf"{name}:\s+(\d+)", status)[0]) for name in ("VmHWM", "RssAnon"))
    print(json.dumps({"peak": peak / 1000, "own": own / 1000, "library": _library() / 1000}))


def _library() -> int:
    """Return the kilobytes of wasmtime's library that are in memory."""
    kilobytes, counts = 0, False
    for line in Path("/proc/self/smaps").read_text("utf-8").splitlines():
        if mapping := _MAPPING.match(line):
            counts = "wasmtime" in mapping[1]
        elif counts and line.startswith("Rss:"):
            kilobytes += int(line.split()[1])
    return kilobytes


def measured(workload: str, compiles: bool, steps: int) -> dict[str, float]:
    """Return the memory of a process that trains."""
    command = [sys.executable, "-m", "bench.desktop_memory", "--train", workload]
    ran = subprocess.run(
        [*command, "--steps", str(steps)],
        env={**os.environ, VARIABLE: str(int(compiles)), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(ran.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(WORKLOADS))
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--train", choices=sorted(WORKLOADS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train(options.train, options.steps)
        return
    write(DATA)
    print("| MB | NumPy, peak | compiled, peak | NumPy, own | compiled, own | library |")
    print("|---|---|---|---|---|---|")
    for workload in options.only or sorted(WORKLOADS):
        ways = [measured(workload, compiles, options.steps) for compiles in (False, True)]
        cells = [way[name] for name in ("peak", "own") for way in ways] + [ways[1]["library"]]
        print(f"| {workload.upper()} | {' | '.join(f'{cell:.1f}' for cell in cells)} |", flush=True)


if __name__ == "__main__":
    main()
