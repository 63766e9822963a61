"""The benchmark: every peer × backend × workload, interleaved, and tables of the results.

make bench                                  everything: half an hour on two cores
make bench ARGS="--only w1 --only jax"      one workload, playgrad and one peer
make bench ARGS="--parts page --backends cpu wasm"   pages without a GPU
make bench ARGS="--quick"                   one short repeat of each
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterable
from typing import Any

from bench import parallel, report, startup
from bench.browser import Tab, chromium, opened_tab
from bench.desktop import measure as measure_desktop
from bench.install import install, installed
from bench.paths import DATA, VAR
from bench.report import MINE, Row
from bench.server import playgrad_app, serving
from bench.workload_files import write
from playgrad.benchmark.workloads import WORKLOADS

IN_PAGE = (
    ("playgrad", "webgpu"), ("tfjs", "webgpu"), ("jax", "webgpu"), ("borch", "webgpu"),
    ("playgrad", "cpu"), ("numpy", "cpu"), ("tfjs", "wasm"), ("jax", "wasm"),
)  # fmt: skip
ON_DESKTOP = (
    ("playgrad", "wgpu"), ("tinygrad", "webgpu"),
    ("playgrad", "cpu"), ("numpy", "cpu"), ("tinygrad", "cpu"), ("torch", "cpu"),
)  # fmt: skip
LACKING = {
    "w4": "no transformer in this peer's program",
    "w5": "no LSTM in this peer's program",
}
"""The reason in the rows of ``WITHOUT_SEQUENCES``."""
WITHOUT_SEQUENCES = ("numpy", "jax", "borch")
PARTS = ("page", "desktop", "startup", "parallel")
FIRST = 5
"""Steps whose losses are compared. Later repeats compare one only, to save time with slow peers."""


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    # Print each table as soon as it is complete, so that it survives if a later part is aborted.
    sys.stdout.reconfigure(line_buffering=True)
    if not options.no_install:
        install()
    write(DATA)
    here = installed()
    results: dict[str, Any] = {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}
    rows: list[Row] = []
    if "page" in options.parts or "startup" in options.parts:
        with opened_tab(options.patience, options.hardware) as tab:
            if "page" in options.parts:
                rows += _page(tab, _chosen(IN_PAGE, here, options), options, results)
            if "startup" in options.parts:
                results["startup"] = startup.measure(tab, 1 if options.quick else options.repeats)
                print(f"\n## Start-up of the MNIST example\n\n{startup.table(results['startup'])}")
    if "desktop" in options.parts:
        rows += _desktop(_chosen(ON_DESKTOP, here, options), options, results)
    differing: list[str] = []
    if "parallel" in options.parts:
        differing = _parallel(options, results)
    results["rows"] = [vars(row) for row in rows]
    if options.json:
        options.json.write(json.dumps(results, indent=1))
    wrong = [row for row in rows if row.peer == MINE and row.problems]
    for row in wrong:
        print(f"{row.name} {row.workload}: {'; '.join(row.problems)}", file=sys.stderr)
    for problem in differing:
        print(problem, file=sys.stderr)
    return 1 if wrong or differing else 0


def _parallel(options: argparse.Namespace, results: dict[str, Any]) -> list[str]:
    """Print the tables of the strategies; return where they wrongly differ from one device."""
    with serving(playgrad_app()) as playgrad, chromium(options.hardware) as browser:
        tab = Tab(browser, playgrad, playgrad, options.patience)
        tables = parallel.measure(tab, options.quick, options.patience / 2)
    results["parallel"] = tables
    for title, rows in tables.items():
        print(f"\n## Strategies: {title}\n\n{parallel.table(rows)}")
    return parallel.problems(tables)


def _page(
    tab: Tab, pairs: Iterable[tuple[str, str]], options: argparse.Namespace, results: dict[str, Any]
) -> list[Row]:
    def run(peer: str, backend: str, workload: str, settings: dict[str, Any]) -> dict[str, Any]:
        if peer == MINE:
            return tab.playgrad_on(backend, workload, settings)
        if peer == "numpy":
            return tab.numpy_by_hand(workload, settings)
        return tab.peer(peer, backend, workload, settings)

    rows = _measure(run, pairs, options)
    report.check(rows)
    print(f"\n## In the page\n\n{report.table(rows, in_page=True)}\n")
    for backends in (["webgpu"], ["cpu", "wasm"]):
        print(f"{report.comparison(rows, backends)}\n")
    print(f"{report.footprint(rows)}\n")
    if not options.quick:
        webgpu = dict.fromkeys((r.peer, r.backend) for r in rows if r.backend == "webgpu")
        _shares(run, list(webgpu), rows, results, "page")
        for row in rows:
            if row.good and row.good[0].get("kernels") and row.workload != "w0":
                print(f"\n{report.dispatch_list(row)}")
    return rows


def _desktop(
    pairs: Iterable[tuple[str, str]], options: argparse.Namespace, results: dict[str, Any]
) -> list[Row]:
    def run(peer: str, backend: str, workload: str, settings: dict[str, Any]) -> dict[str, Any]:
        return measure_desktop(peer, backend, workload, settings, options.patience)

    rows = _measure(run, pairs, options)
    report.check(rows)
    print(f"\n## On the desktop\n\n{report.table(rows, in_page=False)}\n")
    print(f"{report.comparison(rows, ['wgpu', 'webgpu'])}\n")
    print(f"{report.footprint(rows)}\n")
    if not options.quick:
        _shares(run, [(MINE, "wgpu")], rows, results, "desktop")
    return rows


def _shares(
    run: Any, pairs: list[tuple[str, str]], rows: list[Row], results: dict[str, Any], where: str
) -> None:
    """Print each workload's speed as a share of the adapter's fastest matrix product."""
    outcomes = {f"{p} {b}": run(p, b, "matmul", {}) for p, b in pairs}
    products = {name: o["gflops"] for name, o in outcomes.items() if "gflops" in o}
    results[f"{where} products"] = outcomes
    if products:
        print(report.shares_of_peak(rows, products))


def _measure(run: Any, pairs: Iterable[tuple[str, str]], options: argparse.Namespace) -> list[Row]:
    """Return all rows, measured in interleaved repeats: each repeat visits every peer once."""
    rows = [
        Row(peer, backend, workload) for workload in _workloads(options) for peer, backend in pairs
    ]
    end = time.monotonic() + 60 * options.minutes
    for repeat in range(1 if options.quick else options.repeats):
        for row in rows:
            if repeat and (not row.good or time.monotonic() > end):
                continue  # it failed the first time, or the time is up
            budget = 0.2 if options.quick else options.budget
            settings = {"budget": budget, "least": 2, "most": 5 if options.quick else options.most}
            settings["first"] = FIRST if repeat == 0 else 1
            if row.peer in WITHOUT_SEQUENCES and row.workload in LACKING:
                outcome = {"error": LACKING[row.workload]}
            else:
                outcome = run(row.peer, row.backend, row.workload, settings)
            row.outcomes.append(outcome)
            summary = outcome.get("once_ms") or outcome["error"].splitlines()[0][:120]
            print(f"{repeat + 1} {row.workload} {row.name}: {summary}", file=sys.stderr, flush=True)
    return rows


def _workloads(options: argparse.Namespace) -> list[str]:
    return [name for name in WORKLOADS if name in options.only] or list(WORKLOADS)


def _chosen(
    pairs: Iterable[tuple[str, str]], here: set[str], options: argparse.Namespace
) -> list[tuple[str, str]]:
    """Return the requested peers that are installed, on the requested backends; playgrad is always
    included."""
    named = set(options.only) - set(WORKLOADS)
    requested = named | {MINE} if named else here
    backends = options.backends or {backend for _, backend in (*IN_PAGE, *ON_DESKTOP)}
    return [pair for pair in pairs if pair[0] in here & requested and pair[1] in backends]


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one repeat of few steps")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=float, default=1.0, help="seconds per measurement")
    parser.add_argument("--most", type=int, default=200, help="steps per measurement")
    parser.add_argument(
        "--minutes",
        type=float,
        default=math.inf,
        help="limit for later repeats, per part",
    )
    parser.add_argument(
        "--patience", type=float, default=300, help="seconds until a measurement fails"
    )
    peers = {peer for peer, _ in (*IN_PAGE, *ON_DESKTOP)}
    names = sorted({*WORKLOADS, *peers})
    parser.add_argument("--only", action="append", default=[], choices=names)
    backends = sorted({backend for _, backend in (*IN_PAGE, *ON_DESKTOP)})
    parser.add_argument("--backends", nargs="+", choices=backends, help="only these")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--hardware", action="store_true", help="use the machine's GPU")
    parser.add_argument("--no-install", action="store_true", help="use the installed peers")
    parser.add_argument("--json", type=argparse.FileType("w"), metavar="FILE")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    VAR.mkdir(parents=True, exist_ok=True)
    sys.exit(main(sys.argv[1:]))
