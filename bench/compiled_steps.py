"""Measures what compiling a step gains in a page without a GPU: the same training by compiled code,
beside operation by operation.

python -m bench.compiled_steps                     every workload
python -m bench.compiled_steps --only w1 --seconds 20
python -m bench.compiled_steps --threads 2         compiled code on one thread, and on several

Both train by turns in one page, for a few milliseconds each, so that other work of the machine is
the same for both; the shortest turn of each counts. The results of both are compared.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from bench.browser import opened_tab, playgrad_program
from bench.paths import DATA
from bench.workload_files import write
from playgrad.benchmark.workloads import WORKLOADS

PROGRAM = """
from playgrad.runtime.step_host import PageHost, page_host, using_step_host

TURN = 0.03
several, relaxed = page_host(), page_host().relaxed
FIRST = PageHost(relaxed) if THREADS else None
SECOND = PageHost(relaxed, min(THREADS, several.threads)) if THREADS else PageHost(relaxed)

def trainer(host):
    with using_step_host(host):
        made = PlaygradTrainer(read, WORKLOAD, "cpu")
        losses = [made.steps(1) for _ in range(3)]
        made.step_and_read()
    return made, losses

def each(made, count):
    for _ in range(count):
        made.step_and_read()

(apart, expected), (compiled, losses) = trainer(FIRST), trainer(SECOND)
ways = {
    "apart": apart.steps, "compiled": compiled.steps,
    "apart, each": lambda count: each(apart, count),
    "compiled, each": lambda count: each(compiled, count),
}
counts, best = dict.fromkeys(ways, 1), dict.fromkeys(ways, 1e9)
end = time.perf_counter() + SECONDS
while time.perf_counter() < end:
    for name, way in ways.items():
        started = time.perf_counter()
        way(counts[name])
        seconds = (time.perf_counter() - started) / counts[name]
        best[name] = min(best[name], seconds)
        counts[name] = max(1, int(TURN / best[name]))
program = compiled.session.compiled(compiled.run).host_program
step = program.compiled.step
print("RESULT" + json.dumps({
    "ms": {name: 1000 * seconds for name, seconds in best.items()},
    "differs": max(abs(a - b) / abs(b) for a, b in zip(losses, expected)),
    "operations": len(step.order.nodes), "compiled": len(step.order.emitters),
    "threads": step.threads, "jobs": step.jobs, "most": several.threads,
    "bytes": len(step.module), "arena": step.arena.size + step.scratch,
    "compile_ms": 1000 * program.compile_seconds,
}))
"""


def program_of(workload: str, seconds: float, threads: int) -> str:
    """Return the program that measures a workload for so many seconds.

    Args:
        threads: compare so many with one; 0 to compare compiled code with Python.
    """
    names = {"WORKLOAD": workload, "SECONDS": seconds, "THREADS": threads}
    return playgrad_program(names, PROGRAM)


def row(name: str, result: dict[str, Any], shows_threads: bool) -> str:
    """Return a row of the table."""
    ms = result["ms"]
    cells = [name.upper()]
    for how in ("", ", each"):
        before, after = ms[f"apart{how}"], ms[f"compiled{how}"]
        cells += [f"{before:.3g}", f"{after:.3g}", f"{before / after:.1f}×"]
    work = f"{result['compiled']} of {result['operations']}"
    cells += [
        f"{result['jobs']}, {result['threads']}" if shows_threads else work,
        f"{result['bytes'] / 1000:.1f}",
        f"{result['compile_ms']:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(WORKLOADS))
    parser.add_argument("--threads", type=int, default=0, help="compare so many with one")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each workload")
    options = parser.parse_args()
    write(DATA)
    print(
        "| | 1 thread | several | | 1 thread, each | several, each | | shared, threads "
        "| KB | compile, ms |"
        if options.threads
        else "| | apart | compiled | | apart, each | compiled, each | | operations | KB "
        "| compile, ms |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    with opened_tab(600) as tab:
        for name in options.only or sorted(WORKLOADS):
            ran = tab.run_playgrad(program_of(name, options.seconds, options.threads), "cpu")
            if "error" in ran:
                print(f"| {name.upper()} | {json.dumps(ran['error'])[:300]} |", flush=True)
                continue
            (result,) = ran["results"]
            print(row(name, result, options.threads > 0), flush=True)
            if result["differs"] > 1e-3:
                print(f"the losses of {name} differ by {result['differs']:.1e}", flush=True)


if __name__ == "__main__":
    main()
