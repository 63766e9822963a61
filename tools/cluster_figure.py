"""Draw which strategy is fastest on 8 to 1,024 members: ``python -m tools.cluster_figure``.

That takes a few minutes. Nothing is measured: members, links and networks are on paper, see
`LINKS`, `SPEED` and `LAYERS`. One pipeline is simulated. Its replicas are alike, so the time to add
up their gradients is that of the collective that `choose` takes for the link. ``--check`` compares
this with simulations of all members, as far as those are short enough.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from playgrad.parallel.collectives.algorithm import ALL_REDUCE
from playgrad.parallel.collectives.choice import LinkModel, choose
from playgrad.parallel.pipeline_jobs import pipeline_jobs
from playgrad.parallel.schedules import make_schedule
from playgrad.parallel.simulator import Interconnect, Machine, simulate_jobs
from playgrad.parallel.step_jobs import BUCKET_BYTES, StageCost, data_parallel_jobs
from playgrad.runtime.timeline import timeline

FIGURE = Path(__file__).parents[1] / "docs" / "images" / "cluster-scaling.svg"
LINKS = {
    "1 Gbit/s, 100 µs": (1.2e8, 100e-6),
    "10 Gbit/s, 30 µs": (1.2e9, 30e-6),
    "100 Gbit/s, 5 µs": (1.2e10, 5e-6),
}
"""Bytes per second in each direction, and latency."""
SPEED = 1e12
"""Floating-point operations per second of a member."""
BATCH = 4096
"""Samples of a step, whatever the number of members."""
LAYERS = 64
"""Equal dense layers, so that a network of P parameters is sqrt(P / 64) wide."""
OVERHEAD = 100e-6
"""Seconds to start a task."""
SIZES = (100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
MEMBERS = (8, 16, 32, 64, 128, 256, 512, 1024)
DEPTHS = (2, 4, 8, 16, 32, 64)
ALONE, DATA, PIPELINE, BOTH = "one member", "data parallel", "pipeline", "replicas of a pipeline"
_WORTHWHILE = 1.05
"""A strategy pays if it is at least this many times as fast as one member."""


def stage_cost(parameters: int, rows: float, depth: int) -> StageCost:
    """Return the cost of one of ``depth`` equal stages for ``rows`` samples."""
    forward = 2 * parameters * rows / SPEED / depth
    width = math.sqrt(parameters / LAYERS)
    nbytes = 4 * parameters // depth
    # An update and a sum read and write each parameter a few times, at 100 GB/s.
    moving = nbytes / 1e11
    return StageCost(
        forward, 2 * forward, 5 * moving, nbytes, int(4 * rows * width), adding=3 * moving
    )


def reducing(nbytes: int, members: int, link: LinkModel) -> float:
    """Return the seconds to add up gradients among ``members``, in buckets."""
    if members == 1:
        return 0.0
    buckets = max(1, nbytes // BUCKET_BYTES)
    size = -(-nbytes // buckets)
    best = choose(size, members, link=link).algorithm
    return buckets * link.seconds(best.cost(ALL_REDUCE, size, members), best.both_ways)


@cache
def seconds(parameters: int, members: int, depth: int, link_name: str) -> float:
    """Return the seconds of a step in ``members / depth`` pipelines of ``depth`` stages."""
    bandwidth, latency = LINKS[link_name]
    model = LinkModel(latency + OVERHEAD, bandwidth, members, 2.0)
    replicas = members // depth
    rows = BATCH / replicas
    micro_batches = 1 if depth == 1 else int(min(4 * depth, rows))
    cost = stage_cost(parameters, rows / micro_batches, depth)
    if depth == 1:
        alone = timeline(simulate_jobs(data_parallel_jobs(cost, 1))).seconds
    elif micro_batches < depth:
        return math.inf
    else:
        jobs = pipeline_jobs([cost] * depth, make_schedule("1f1b", depth, micro_batches))
        link = Interconnect(latency, bandwidth, sends_aside=True)
        alone = timeline(simulate_jobs(jobs, link, Machine(overhead=OVERHEAD))).seconds
    adding = cost.adding * math.log2(replicas)
    return alone + reducing(cost.parameters, replicas, model) + adding


def best(parameters: int, members: int, link_name: str) -> tuple[str, float]:
    """Return the fastest strategy, and its speed relative to one member."""
    one = seconds(parameters, 1, 1, link_name)
    times = {(DATA, 1): seconds(parameters, members, 1, link_name)}
    for depth in DEPTHS:
        if depth <= members:
            name = PIPELINE if depth == members else BOTH
            times[name, depth] = seconds(parameters, members, depth, link_name)
    (name, _), fastest = min(times.items(), key=lambda item: item[1])
    speedup = one / fastest
    return (name, speedup) if speedup > _WORTHWHILE else (ALONE, 1.0)


# Drawing

_CELL, _ROW, _LEFT, _TOP, _GAP = 62, 34, 92, 104, 68
_CLASSES = {ALONE: "alone", DATA: "data", PIPELINE: "pipeline", BOTH: "both"}
_STYLE = """
    text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-size: 13px;
      fill: #1b1f1e; }
    .title { font-size: 15px; font-weight: 600; }
    .side { fill: #565d5b; }
    .middle { text-anchor: middle; }
    .end { text-anchor: end; }
    rect { stroke: #ffffff; stroke-width: 1.5; }
    .alone { fill: #e4e6e5; }
    .data { fill: #8fd6c9; }
    .pipeline { fill: #f5c98b; }
    .both { fill: #b9c9f5; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6eae8; }
      .side { fill: #a3adaa; }
      rect { stroke: #14181a; }
      .alone { fill: #2b3130; }
      .data { fill: #14635a; }
      .pipeline { fill: #7a4d12; }
      .both { fill: #33477f; }
    }
"""


def drawing() -> str:
    """Return the figure as SVG: a table for each link."""
    width = _LEFT + _CELL * len(MEMBERS) + 16
    panel = _ROW * len(SIZES) + _GAP
    height = _TOP + panel * len(LINKS) - 6
    title = "The fastest strategy by link, size of the network and number of members"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-labelledby="title">',
        f'<title id="title">{title}</title>',
        f"<style>{_STYLE}</style>",
        *_legend(),
    ]
    for number, link in enumerate(LINKS):
        parts += _panel(link, _TOP + number * panel)
    return "\n".join([*parts, "</svg>", ""])


def _legend() -> Iterator[str]:
    x = 12
    for name, kind in _CLASSES.items():
        label = f"{name} is fastest" if name == ALONE else name
        yield f'<rect class="{kind}" x="{x}" y="12" width="20" height="16"/>'
        yield f'<text x="{x + 26}" y="25">{label}</text>'
        x += 44 + 7 * len(label)
    yield (
        '<text class="side" x="12" y="50">in each cell: how many times as fast as one member; '
        "rows: parameters</text>"
    )


def _panel(link: str, top: int) -> Iterator[str]:
    yield f'<text class="title" x="12" y="{top - 28}">{link}</text>'
    for column, members in enumerate(MEMBERS):
        x = _LEFT + _CELL * column + _CELL // 2
        text = f"{members:,}" + (" members" if column == 0 else "")
        yield f'<text class="side middle" x="{x}" y="{top - 8}">{text}</text>'
    for row, parameters in enumerate(SIZES):
        y = top + _ROW * row
        name = f"{parameters // 1_000_000} M" if parameters < 1e9 else "1,000 M"
        label = "0.1 M" if parameters < 1e6 else name
        yield f'<text class="side end" x="{_LEFT - 10}" y="{y + 22}">{label}</text>'
        for column, members in enumerate(MEMBERS):
            kind, speedup = best(parameters, members, link)
            x = _LEFT + _CELL * column
            yield (
                f'<rect class="{_CLASSES[kind]}" x="{x}" y="{y}" width="{_CELL}" height="{_ROW}"/>'
            )
            text = f"{speedup:.1f}" if speedup < 10 else f"{speedup:.0f}"
            yield f'<text class="middle" x="{x + _CELL // 2}" y="{y + 22}">{text}</text>'


# Checking


def check(members: Sequence[int] = (8, 16, 32)) -> None:
    """Print how far simulations of all members are from what is drawn."""
    print("| link | parameters | members | drawn ms | all members simulated, ms | ratio |")
    print("|---|---|---|---|---|---|")
    for name, (bandwidth, latency) in LINKS.items():
        link = Interconnect(latency, bandwidth, sends_aside=True)
        for parameters in (1_000_000, 10_000_000):
            for count in members:
                cost = stage_cost(parameters, BATCH / count, 1)
                model = LinkModel(latency + OVERHEAD, bandwidth, count, 2.0)
                size = min(4 * parameters, BUCKET_BYTES)
                algorithm = choose(size, count, link=model).algorithm.name
                jobs = data_parallel_jobs(cost, count, algorithm)
                times = timeline(simulate_jobs(jobs, link, Machine(overhead=OVERHEAD)))
                drawn = seconds(parameters, count, 1, name)
                print(
                    f"| {name} | {parameters:,} | {count} | {1e3 * drawn:.2f} | "
                    f"{1e3 * times.seconds:.2f} ({algorithm}) | {drawn / times.seconds:.2f} |"
                )


def main() -> None:
    """Draw, or check what is drawn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        check()
    else:
        FIGURE.write_text(drawing())


if __name__ == "__main__":
    main()
