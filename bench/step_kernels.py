"""Measures each kernel of a training step by timestamps, through wgpu-py.

python -m bench.step_kernels                   W1B to W5, on the first GPU
python -m bench.step_kernels w3 w4 --checks none

A time is the least of several replays of the step, in which each dispatch has a pass of its own. So
their sum is more than a step takes; the time from the first to the last says by how much. An
adapter without timestamp-query has none.
"""

from __future__ import annotations

import argparse
import sys
import time

from bench.paths import DATA
from bench.peers.playgrad_program import PlaygradTrainer
from bench.shader_checks import CHECKS, shader_checks
from bench.workload_files import write

WORKLOADS = ("w1b", "w2", "w3", "w4", "w5")
STEPS, REPLAYS = 100, 6


def report(workload: str) -> None:
    """Print the kernels of a workload's step."""
    trainer = PlaygradTrainer(lambda name: (DATA / name).read_bytes(), workload, "gpu")
    try:
        trainer.steps(STEPS // 5)
        started = time.perf_counter()
        trainer.steps(STEPS)
        milliseconds = 1000 * (time.perf_counter() - started) / STEPS
        print(f"\n{workload.upper()} on {trainer.adapter}: {milliseconds:.3f} ms a step")
        for loaded in trainer.plans.values():
            families = {kernel["id"]: kernel["family"] for kernel in loaded.plan["kernels"]}
            for segment, (first, last) in enumerate(loaded.plan["segments"]):
                replays = [loaded.time_kernels(segment) for _ in range(REPLAYS)]
                if None in replays:
                    raise SystemExit("bench.step_kernels: the adapter has no timestamp-query")
                commands = loaded.plan["commands"][first:last]
                least = [min(r[i][1] - r[i][0] for r in replays) for i in range(len(commands))]
                span = min(r[-1][1] - r[0][0] for r in replays)
                print(f"sum {1e6 * sum(least):.1f} µs, from first to last {1e6 * span:.1f} µs")
                for command, seconds in zip(commands, least, strict=True):
                    size = "×".join(map(str, command["workgroups"]))
                    family = families[command["kernel"]]
                    print(f"{1e6 * seconds:9.1f}  {family:28} {size:>12}  {command['node']}")
    finally:
        trainer.close()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.step_kernels", description=__doc__.splitlines()[0])
    parser.add_argument("workloads", nargs="*", default=WORKLOADS)
    parser.add_argument("--checks", choices=tuple(CHECKS), help="of wgpu-py; by default its own")
    options = parser.parse_args(arguments)
    write(DATA)
    with shader_checks(options.checks):
        for workload in options.workloads:
            report(workload)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
