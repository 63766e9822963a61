"""Measures the nodes of a compiled step in a page without a GPU, on one thread and on several: what
threads share, how much faster that makes it, and what stays on one thread.

python -m bench.node_times --only w3               a row for each node, the slowest first
python -m bench.node_times --threads 2 --seconds 30 --rows 20

Each node is a function of its own here. One thread and several take turns, step by step; the
shortest time of each counts.
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
from playgrad.runtime.compile_steps import _StepCompiler
from playgrad.runtime.step_host import PageHost, page_host, using_step_host

jobs = []

def part(self, part):
    if part is self._order.parts[0]:
        jobs.clear()
    runs = []
    for node in part.nodes:
        runs.append(self._begin())
        before = self._builder.jobs
        self._write(node)
        jobs.append(self._builder.jobs - before)
    return runs

_StepCompiler._part = part
host = PageHost(page_host().relaxed, min(THREADS, page_host().threads))
with using_step_host(host):
    trainer = PlaygradTrainer(read, WORKLOAD, "cpu")
    trainer.steps(1)
compiled = trainer.session.compiled(trainer.run).host_program.compiled
nodes = [node for node in compiled.step.order.nodes if node in compiled.step.order.emitters]
assert len(nodes) == len(compiled._runs) == len(jobs)
best = {way: [1e9] * len(nodes) for way in (True, False)}
way = True
compiled._choice.shares = lambda: way

def timed(number, run):
    def call(*arguments):
        started = time.perf_counter()
        run(*arguments)
        best[way][number] = min(best[way][number], time.perf_counter() - started)
    return call

compiled._runs = [timed(number, run) for number, run in enumerate(compiled._runs)]
end = time.perf_counter() + SECONDS
while time.perf_counter() < end:
    way = not way
    trainer.steps(1)
print("RESULT" + json.dumps({"threads": compiled.step.threads, "nodes": [
    {"name": node.name, "op": node.op.name, "jobs": count, "alone": 1000 * alone,
     "shared": 1000 * shared, "shapes": [list(t.spec.static_shape) for t in
                                         (*node.inputs, *node.outputs)][:4]}
    for node, count, shared, alone in zip(nodes, jobs, best[True], best[False])
]}))
"""


def table(result: dict[str, Any], most: int) -> str:
    """Return the slowest nodes, and the sums of all, as Markdown."""
    lines = [
        "| node | operation | 1 thread, ms | several, ms | | shared |",
        "|---|---|---|---|---|---|",
    ]
    nodes = sorted(result["nodes"], key=lambda node: -node["shared"])
    for node in nodes[:most]:
        shapes = " ".join("×".join(map(str, shape)) or "·" for shape in node["shapes"])
        ratio = node["alone"] / max(node["shared"], 1e-6)
        lines.append(
            f"| {node['name']:.40} | {node['op']} {shapes} | {node['alone']:.3f} "
            f"| {node['shared']:.3f} | {ratio:.2f}× | {'yes' if node['jobs'] else 'no'} |"
        )
    alone, shared = (sum(node[way] for node in nodes) for way in ("alone", "shared"))
    whole = sum(node["alone"] for node in nodes if not node["jobs"])
    lines.append(f"| all {len(nodes)} | | {alone:.2f} | {shared:.2f} | {alone / shared:.2f}× | |")
    lines.append(
        f"\n{100 * whole / alone:.1f}% of the time on one thread is in nodes that stay whole; "
        f"{result['threads']} threads."
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(WORKLOADS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each workload")
    parser.add_argument("--rows", type=int, default=25)
    options = parser.parse_args()
    write(DATA)
    with opened_tab(600) as tab:
        for name in options.only or sorted(WORKLOADS):
            names = {"WORKLOAD": name, "SECONDS": options.seconds, "THREADS": options.threads}
            ran = tab.run_playgrad(playgrad_program(names, PROGRAM), "cpu")
            if "error" in ran:
                print(f"{name.upper()}: {json.dumps(ran['error'])[:600]}", flush=True)
                continue
            print(f"\n{name.upper()}\n")
            print(table(ran["results"][0], options.rows), flush=True)


if __name__ == "__main__":
    main()
