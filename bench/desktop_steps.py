"""Measures what compiling a step gains on the desktop's processor: the same training by compiled
code, by NumPy operation by operation, and by PyTorch, with the same number of threads.

python -m bench.desktop_steps                     every workload
python -m bench.desktop_steps --only w1 --seconds 20

All train by turns in one process, for a few milliseconds each, so that other work of the machine is
the same for all; the shortest turn of each counts. With one thread it is in processor time, so that
waiting for a busy core does not count. The losses are compared.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import torch

from bench.paths import DATA
from bench.peers.playgrad_program import PlaygradTrainer
from bench.peers.torch_cpu import Trainer
from bench.workload_files import write
from playgrad.benchmark.workloads import WORKLOADS
from playgrad.runtime import executor, host_program
from playgrad.runtime.blas import limited_to
from playgrad.runtime.desktop_host import VARIABLE

TURN = 0.03
"""About the seconds of a turn."""


def trainer(workload: str, compiles: bool) -> tuple[Any, list[float]]:
    """Return a trainer, which compiles its step at once or never, after three steps."""
    compiled = {VARIABLE: "1" if compiles else "0"}
    with (
        mock.patch.dict(os.environ, compiled),
        mock.patch.object(host_program, "SECONDS_OF_NODE", 0.0),
    ):
        made = PlaygradTrainer(lambda file: (DATA / file).read_bytes(), workload, "cpu")
        losses = [made.steps(1) for _ in range(3)]
        made.step_and_read()  # another program
        made.step_and_read()
        return made, losses


def shortest(
    ways: dict[str, Callable[[int], Any]], seconds: float, clock: Callable[[], float]
) -> dict[str, float]:
    """Return the shortest seconds of a step of each way, by ``clock``."""
    counts, best = dict.fromkeys(ways, 1), dict.fromkeys(ways, 1e9)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, way in ways.items():
            started = clock()
            way(counts[name])
            each = max((clock() - started) / counts[name], 1e-9)
            best[name] = min(best[name], each)
            counts[name] = max(1, int(TURN / best[name]))
    return best


def measure(workload: str, seconds: float, clock: Callable[[], float]) -> str:
    """Return a row of the table."""
    (apart, expected), (compiled, losses) = trainer(workload, False), trainer(workload, True)
    peer = Trainer(workload, "cpu")

    def each(made: Any) -> Callable[[int], None]:
        return lambda count: [made.step_and_read() for _ in range(count)] and None

    best = shortest(
        {
            "apart": apart.steps,
            "compiled": compiled.steps,
            "torch": peer.steps,
            "apart, each": each(apart),
            "compiled, each": each(compiled),
            "torch, each": each(peer),
        },
        seconds,
        clock,
    )
    program = compiled.session.compiled(compiled.run).host_program
    cells = [workload.upper()]
    for how in ("", ", each"):
        before, after, theirs = (best[f"{name}{how}"] for name in ("apart", "compiled", "torch"))
        cells += [f"{1000 * x:.3g}" for x in (before, after, theirs)] + [f"{after / theirs:.2f}"]
    if program is None or program.compiled is None:
        cells += ["none", ""]
    else:
        order = program.compiled.step.order
        computed = sum(len(part.nodes) for part in order.parts if part.compiled)
        cells += [f"{computed} of {len(order.nodes)}, {len(order.parts)} parts"]
        cells += [f"{1000 * program.compile_seconds:.0f}"]
    differs = max(abs(a - b) / abs(b) for a, b in zip(losses, expected, strict=True))
    return f"| {' | '.join([*cells, f'{differs:.0e}'])} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(WORKLOADS))
    parser.add_argument("--seconds", type=float, default=10.0, help="for each workload")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    write(DATA)
    torch.set_num_threads(options.threads)
    print(
        "| ms | NumPy | compiled | PyTorch | ratio | NumPy, each | compiled, each | PyTorch, each"
        " | ratio | compiled operations | compile | losses differ |"
    )
    print(f"|{'---|' * 12}")
    clock = time.process_time if options.threads == 1 else time.perf_counter
    threads = mock.patch.object(executor, "default_threads", lambda: options.threads)
    with threads, limited_to(options.threads):
        for workload in options.only or sorted(WORKLOADS):
            print(measure(workload, options.seconds, clock), flush=True)


if __name__ == "__main__":
    main()
