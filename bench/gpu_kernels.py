"""Compares the variants of kernels on a GPU, at the sizes of the workloads and beyond.

python -m bench.gpu_kernels                        the first GPU, under a minute on a fast one
python -m bench.gpu_kernels --device gpu:1 --only product --json kernels.json
python -m bench.gpu_kernels --page --hardware      the same in Chromium
python -m bench.gpu_kernels --checks none          without what wgpu adds to shaders
python -m bench.gpu_kernels --choices 64 784 128   every tile of one product, beside its estimate

Each variant is compiled as in any program, compared with NumPy, and replayed by turns with the
others (`playgrad.runtime.tuner`). "–" is a variant that does not compile on the adapter, or is
wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.browser import opened_tab, pasted
from bench.gpu_probes import chosen, compare, product
from bench.shader_checks import CHECKS, shader_checks
from playgrad.devices import registry
from playgrad.devices.kinds import index_of
from playgrad.devices.tuning import VARIANTS
from playgrad.ops.lowering import block_tiling
from playgrad.ops.lowering.block_tiling import BLOCKS, BlockChoice
from playgrad.runtime.tuner import measure

Row = Mapping[str, Any]
"""A probe: ``probe`` (its name), ``kind``, ``work`` and the ``seconds`` of each variant."""

_IN_PAGE = """
import json
from playgrad.devices import registry

device = registry.gpu(0)
rows = [
    {"probe": m.probe.name, "kind": m.probe.kind, "work": m.probe.work, "seconds": m.seconds}
    for m in compare(device, chosen(KINDS, LARGEST or math.inf), SECONDS)
]
print("RESULT" + json.dumps({"adapter": device.adapter, "rows": rows}))
"""


def in_page(kinds: list[str], largest: float, seconds: float, hardware: bool) -> dict[str, Any]:
    """Measure in playgrad's page, in Chromium.

    Returns:
        ``adapter`` and ``rows``.
    """
    limit = None if math.isinf(largest) else largest
    names = {"KINDS": kinds, "LARGEST": limit, "SECONDS": seconds}
    values = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    with opened_tab(seconds + 120, hardware) as tab:
        ran = tab.run_playgrad(f"{pasted('gpu_probes.py')}\n{values}{_IN_PAGE}", "gpu")
    if "error" in ran:
        raise SystemExit(f"bench.gpu_kernels: the page failed: {ran['error']}")
    result: dict[str, Any] = ran["results"][0]
    return result


def on_desktop(device: Any, kinds: list[str], largest: float, seconds: float) -> Iterator[Row]:
    """Measure through wgpu-py, and yield each row as it comes."""
    for each in compare(device, chosen(kinds, largest), seconds):
        probe = each.probe
        row = {"probe": probe.name, "kind": probe.kind, "work": probe.work}
        yield {**row, "seconds": each.seconds}


def choices(device: Any, rows: int, depth: int, columns: int) -> None:
    """Print the time of each tile, slices and splits for one product, beside the estimate."""
    probe = product("", rows, depth, columns)
    print(f"| {probe.name} | µs | GFLOP/s | estimate |\n|---|---|---|---|")
    for variant in ("blocks_8x8", "blocks_8x8_ahead", "blocks_8x4", "blocks_4x4"):
        rule = BLOCKS[variant]
        limits = device.target.limits
        every = block_tiling.possible_choices(rule, depth, limits, device.target.loop_rounds)
        for choice in every:
            with always(choice):
                seconds = measure(device, probe, [variant])[variant]
            cost = choice.cost(rows, columns, 1, depth, rule.processors)
            tile = choice.tile
            name = f"{tile.rows} × {tile.columns} by {tile.thread_rows} × {tile.thread_columns}"
            name += f", {choice.slices} slices, {choice.splits} splits"
            name += ", ahead" if tile.ahead else ""
            time_of = f"{1e6 * seconds:.1f} | {probe.work / seconds / 1e9:.3g}"
            print(f"| {name} | {time_of} | {cost:.0f} |", flush=True)


@contextmanager
def always(choice: BlockChoice) -> Iterator[None]:
    """Let `block_tiling` take ``choice`` for all products within the block."""
    usual = block_tiling.choose_blocks
    block_tiling.choose_blocks = lambda *_: choice  # type: ignore[assignment]
    try:
        yield
    finally:
        block_tiling.choose_blocks = usual


def print_row(row: Row, before: str) -> None:
    """Print the rates of a row, and the head of a table if its kind is not that of the row
    ``before``."""
    kind = row["kind"]
    if kind != before:
        unit = "GB/s" if kind in ("memory", "reduction") else "GFLOP/s"
        names = VARIANTS[kind]
        print(f"\n| {kind}, {unit} | {' | '.join(names)} |\n|{'---|' * (len(names) + 1)}")
    seconds = row["seconds"]
    cells = (
        f"{row['work'] / seconds[name] / 1e9:.3g}" if name in seconds else "–"
        for name in VARIANTS[kind]
    )
    print(f"| {row['probe']} | {' | '.join(cells)} |", flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.gpu_kernels", description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="gpu:0")
    parser.add_argument("--only", choices=tuple(VARIANTS), action="append", default=[])
    parser.add_argument("--seconds", type=float, default=55, help="begin no probe after this time")
    parser.add_argument("--largest", type=float, default=math.inf, help="in 10^9 operations")
    parser.add_argument("--choices", type=int, nargs=3, metavar=("ROWS", "DEPTH", "COLUMNS"))
    parser.add_argument("--page", action="store_true", help="in Chromium, in playgrad's page")
    parser.add_argument("--hardware", action="store_true", help="in Chromium, on the machine's GPU")
    parser.add_argument("--checks", choices=tuple(CHECKS), help="of wgpu-py; by default its own")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.page and (options.choices or options.checks):
        parser.error("--page takes no --choices and no --checks")
    asked = options.only, options.largest, options.seconds
    rows: list[Row] = []
    with shader_checks(options.checks):
        if options.page:
            measured = in_page(*asked, options.hardware)
            adapter, found = measured["adapter"], iter(measured["rows"])
        else:
            device = registry.gpu(index_of(options.device))
            adapter, found = device.adapter, on_desktop(device, *asked)
        print(f"{adapter}, {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}")
        if options.choices:
            choices(device, *options.choices)
            return 0
        for row in found:
            print_row(row, rows[-1]["kind"] if rows else "")
            rows.append(row)
    count = len(chosen(*asked[:2]))
    if len(rows) < count:
        left = count - len(rows)
        print(f"\n{left} of {count} probes were left out after {options.seconds:g} s.")
    if options.json:
        text = json.dumps({"adapter": adapter, "checks": options.checks, "rows": rows}, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
