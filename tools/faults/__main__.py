"""Measures which small faults the tests find.

``draw`` writes faults as patches, at places that a seed decides. ``try`` applies each to a
checkout, runs the linters and the tests whose imports reach it, and notes what finds it::

    python -m tools.faults draw --seed 1 --count 60 FOLDER
    python -m tools.faults try FOLDER --checkout ANOTHER_CHECKOUT

A trial changes files, so it takes a checkout of its own, in which tests can run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.faults.draw import draw
from tools.faults.trial import Trials

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="write patches of faults in this checkout")
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--count", type=int, default=60)
    drawing.add_argument("folder", type=Path)
    trying = commands.add_parser("try", help="note which of the faults are found")
    trying.add_argument("folder", type=Path)
    trying.add_argument("--checkout", type=Path, required=True)
    trying.add_argument("--seconds", type=float, default=120, help="of tests for a fault by itself")
    trying.add_argument(
        "--first", type=Path, help="results in another checkout, whose tests run first"
    )
    trying.add_argument("--together", action="store_true", help="the faults that were not found")
    options = parser.parse_args()
    if options.command == "draw":
        options.folder.mkdir(parents=True)
        for name, patch in draw(ROOT, options.seed, options.count):
            (options.folder / f"{name}.patch").write_text(patch, encoding="utf-8")
        return
    trials = Trials(options.folder, options.checkout.resolve(), options.first)
    if options.together:
        trials.together()
    else:
        trials.one_by_one(options.seconds)


if __name__ == "__main__":
    main()
