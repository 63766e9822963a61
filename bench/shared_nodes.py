"""Measures what cutting operations into chunks for threads costs: code that is written for one, two
and eight threads, run by one thread in wasmtime, in processor time.

python -m bench.shared_nodes

The least of some runs counts; `jobs` is the number of pieces of work that threads would share.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from unittest import mock

import numpy as np

import playgrad as pg
from playgrad import ops
from playgrad.ops.reductions.sparse import gather_sum
from playgrad.runtime import executor, host_program
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import using_step_host
from playgrad.runtime.wasmtime_host import WasmtimeHost

THREADS = (1, 2, 8)
_RUNS = 12
_NODES, _EDGES, _ROWS = 10_000, 100_000, 25_000


def cases() -> Iterator[tuple[str, Callable[[], pg.Tensor]]]:
    """Yield the name of a case, and what builds its tensor."""
    random = np.random.default_rng(0)
    sources = random.integers(0, _NODES, _EDGES).astype(np.int32)
    targets = np.sort(random.integers(0, _NODES, _EDGES)).astype(np.int32)
    for width in (16, 64, 128):
        x = random.normal(size=(_NODES, width)).astype(np.float32)
        for ordered in (False, True):
            yield (
                f"{_EDGES:,} edges between {_NODES:,} nodes, {width} features"
                + ordered * ", in order",
                lambda x=x, ordered=ordered: gather_sum(
                    *map(pg.Variable, (x, sources, targets)), _NODES, indices_are_sorted=ordered
                ),
            )
        rows = random.normal(size=(_ROWS, width)).astype(np.float32)
        yield (
            f"sums of {_ROWS:,} rows of {width} in {_NODES:,} segments",
            lambda rows=rows: pg.segment_sum(
                pg.Variable(rows), pg.Variable(targets[:_ROWS]), _NODES
            ),
        )
    lines = random.normal(size=(64, 1000)).astype(np.float32)
    yield "sorting 64 rows of 1,000", lambda: ops.argsort(pg.Variable(lines))
    image = random.normal(size=(16, 28, 28, 128)).astype(np.float32)

    def filter_gradient() -> pg.Tensor:
        filters = pg.Variable(np.ones((3, 3, 128, 1), np.float32))
        y = ops.depthwise_conv2d(pg.Variable(image), filters, 1, "same")
        (gradient,) = pg.gradients(ops.reduce_sum(y * 0.5), [filters])
        assert gradient is not None
        return gradient

    yield "gradient by the filters of a depthwise convolution 3×3, 16×28×28×128", filter_gradient


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


def main() -> None:
    """Print a row for each case."""
    print(f"| | {' | '.join(f'{n} threads, ms (jobs)' for n in THREADS)} |")
    print("|---|" + "---|" * len(THREADS))
    for name, build in cases():
        cells = (measured(build, threads) for threads in THREADS)
        print(f"| {name} | {' | '.join(f'{ms:.2f} ({jobs})' for ms, jobs in cells)} |", flush=True)


if __name__ == "__main__":
    main()
