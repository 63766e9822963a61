"""Measures operations that are cut into chunks for threads.

python -m bench.shared_nodes               what cutting costs: processor time of all threads
python -m bench.shared_nodes --threads 2   what it gains: in a page, on one thread and on several

The first runs code for one, two and eight threads on one of them, in wasmtime: *jobs* is the number
of pieces of work that threads would share. The second has real threads. There the whole on one
thread, chunks that threads share, and the same chunks on one thread take turns. The least of some
runs counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from unittest import mock

import numpy as np

import playgrad as pg
from bench.browser import opened_tab
from bench.paths import BENCH
from bench.shared_cases import cases
from playgrad.runtime import executor, host_program
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import using_step_host
from playgrad.runtime.wasmtime_host import WasmtimeHost

THREADS = (1, 2, 8)
_RUNS = 12
_PAGE = """
import json, time
from playgrad.runtime import host_program
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import PageHost, page_host, using_step_host

TURN = 0.03
host_program.SECONDS_OF_NODE = 0.0
relaxed, most = page_host().relaxed, page_host().threads
hosts = [PageHost(relaxed), PageHost(relaxed, min(THREADS, most))]


def compiled(build, host):
    graph = pg.Graph()
    with graph.as_default():
        node = build().node
    with using_step_host(host):
        session = Session(graph, "cpu")
        session.run(node)
    return (lambda: session.run(node)), session.compiled(node).host_program.compiled


rows = []
for name, build in cases(ONLY):
    (whole, _), (cut, program) = (compiled(build, host) for host in hosts)
    shares = True
    program._choice.shares = lambda: shares
    ways = {"whole": (whole, True), "shared": (cut, True), "alone": (cut, False)}
    best = dict.fromkeys(ways, 1e9)
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for way, (run, shares) in ways.items():
            turn = time.perf_counter() + TURN
            while time.perf_counter() < turn:
                started = time.perf_counter()
                run()
                best[way] = min(best[way], time.perf_counter() - started)
    rows.append([name, program.step.jobs, *(1000 * seconds for seconds in best.values())])
print("RESULT" + json.dumps({"threads": hosts[1].threads, "rows": rows}))
"""


def measured(build: Callable[[], pg.Tensor], threads: int) -> tuple[float, int]:
    """Return the milliseconds of a run, and its jobs."""
    graph = pg.Graph()
    with graph.as_default():
        node = build().node
    host = WasmtimeHost(1 << 29, relaxed=False, multiplies=False)
    host.threads = threads
    with (
        using_step_host(host),
        mock.patch.object(host_program, "SECONDS_OF_NODE", 0.0),
        mock.patch.object(executor, "default_threads", lambda: 0),
        Session(graph, "cpu") as session,
    ):
        best = np.inf
        for _ in range(_RUNS):
            began = time.process_time()
            session.run(node)
            best = min(best, time.process_time() - began)
        runnable = session.compiled(node)
        assert runnable is not None and runnable.host_program is not None
        compiled = runnable.host_program.compiled
        assert compiled is not None
        return 1000 * best, compiled.step.jobs


def in_page(threads: int, seconds: float, only: str) -> None:
    """Print a row for each case, in a page with so many threads."""
    program = (BENCH / "shared_cases.py").read_text(encoding="utf-8")
    program += f"\nTHREADS, SECONDS, ONLY = {threads}, {seconds}, {only!r}\n" + _PAGE
    with opened_tab(600) as tab:
        ran = tab.run_playgrad(program.replace("from __future__ import annotations\n", ""), "cpu")
    if "error" in ran:
        raise SystemExit(f"bench: {ran['error']}")
    (result,) = ran["results"]
    print(f"| | 1 thread, ms | {result['threads']} threads | | their chunks on 1 thread |")
    print("|---|---|---|---|---|")
    for name, jobs, whole, shared, alone in result["rows"]:
        gain = f"{whole / shared:.2f}×" if jobs else "whole"
        print(f"| {name} | {whole:.2f} | {shared:.2f} | {gain} | {alone:.2f} |")


def in_wasmtime(only: str) -> None:
    """Print a row for each case, in processor time."""
    print(f"| | {' | '.join(f'for {n}, ms (jobs)' for n in THREADS)} |")
    print("|---|" + "---|" * len(THREADS))
    for name, build in cases(only):
        cells = (measured(build, threads) for threads in THREADS)
        print(f"| {name} | {' | '.join(f'{ms:.2f} ({jobs})' for ms, jobs in cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=0, help="measure so many in a page")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each row of a page")
    parser.add_argument("--only", default="", help="a part of the names of the rows")
    options = parser.parse_args()
    if options.threads:
        in_page(options.threads, options.seconds, options.only)
    else:
        in_wasmtime(options.only)


if __name__ == "__main__":
    main()
