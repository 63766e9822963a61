"""Measures what a GPU costs beneath playgrad, by WebGPU alone in Chromium.

python -m bench.gpu_costs --hardware                     on the machine's GPU, under a minute
python -m bench.gpu_costs --largest 256 --megabytes 16   on the software adapter

Dispatches that wait for each other, in one pass and in passes of their own; bytes read and
written, by what an invocation moves; and square products by tiles (bench/web/gpu_costs_product.js),
which say what the variants of `bench.gpu_kernels` can hope for. Times are differences between many
and few dispatches, the least of seven. *Error* is that of one element of the product.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from bench.browser import opened_tab

ALLOWED = 1e-6
"""Error of a product's element, of sums of up to 4096 numbers of about 10⁻³."""


def tile_name(row: dict[str, Any]) -> str:
    """Return a product's tile in words."""
    words = f"{row['rows']} × {row['columns']} × {row['step']} by {row['down']} × {row['across']}"
    options = [name for name in ("prefetch", "unroll") if row[name]]
    return ", ".join([words, *options])


def report(outcome: dict[str, Any]) -> None:
    """Print the tables.

    Raises:
        SystemExit: a product is wrong.
    """
    print(f"{outcome['adapter']}, {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}")
    print(f"features: {' '.join(outcome['features'])}\nopened with: {' '.join(outcome['opened'])}")
    print("\n| dispatches that … | µs each |\n|---|---|")
    for row in outcome["dispatches"]:
        print(f"| {row['name']} | {row['microseconds']:.2f} |")
    print("\n| an invocation moves | GB/s |\n|---|---|")
    for row in outcome["bandwidth"]:
        print(f"| {row['name']} | {row['gigabytes']:.4g} |")
    print("\n| product | tile × step by results of an invocation | GFLOP/s | error |")
    print("|---|---|---|---|")
    for row in outcome["products"]:
        rate = f"{row['gigaflops']:.4g}"
        print(f"| {row['size']}³ | {tile_name(row)} | {rate} | {row['error']:.1e} |")
    wrong = [tile_name(row) for row in outcome["products"] if not row["error"] <= ALLOWED]
    if wrong:
        raise SystemExit(f"bench.gpu_costs: wrong products by {'; '.join(wrong)}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.gpu_costs", description=__doc__.splitlines()[0])
    parser.add_argument("--hardware", action="store_true", help="on the machine's GPU")
    parser.add_argument("--largest", type=int, default=4096, help="rows of the largest product")
    parser.add_argument("--megabytes", type=int, default=256, help="of the tensor that is copied")
    parser.add_argument("--seconds", type=float, default=90, help="give up after this time")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    if options.largest % 128 or options.largest <= 0:
        parser.error(f"--largest must be a multiple of 128, got {options.largest}")
    if options.megabytes < 1 or options.megabytes & (options.megabytes - 1):
        parser.error(f"--megabytes must be a power of two, got {options.megabytes}")
    with opened_tab(options.seconds, options.hardware) as tab:
        query = {"largest": options.largest, "megabytes": options.megabytes}
        outcome = tab.outcome("gpu_costs.html", query)
    if "error" in outcome:
        raise SystemExit(f"bench.gpu_costs: {outcome['error']}")
    if options.json:
        options.json.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    report(outcome)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
