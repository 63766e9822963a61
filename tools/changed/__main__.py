"""Finds the tests of a change. `make test-changed` runs them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.changed.reach import Reach
from tools.changed.repository import Repository
from tools.changed.selection import Selection, Times, select

_SHOWN = 15


def main() -> None:
    """Write the tests of a change to a file for pytest, or list the tests that use files."""
    parser = argparse.ArgumentParser(prog="python -m tools.changed", description=__doc__)
    parser.add_argument(
        "--list",
        nargs="+",
        metavar="FILE",
        help="print the tests that use these files, nearest first, each after its distance",
    )
    parser.add_argument("--since", metavar="COMMIT", help="default: where main was left")
    parser.add_argument("--minutes", type=float, default=4.5, help="for all tests together")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", type=Path, help="the file to write, with a test in each line")
    options = parser.parse_args()
    repository = Repository()
    if options.list:
        for test, distance in Reach(repository).nearest_first(options.list):
            print(f"{distance}\t{test}")
        return
    base = options.since or repository.fork()
    changed = repository.changed_since(base)
    reach, times = Reach(repository), Times(repository)
    selection = select(changed, reach, times, options.minutes * 60 * options.workers)
    if options.write:
        options.write.parent.mkdir(exist_ok=True)
        options.write.write_text("".join(f"{test}\n" for test in selection.run), encoding="utf-8")
    print(f"files changed since {base[:12]}: {len(changed)}")
    for line in _report(selection, times, options.workers):
        print(line)
    sys.stdout.flush()


def _report(selection: Selection, times: Times, workers: int) -> list[str]:
    def described(tests: list[str]) -> str:
        return f"{len(tests)} test files, {times.of(tests) / workers / 60:.1f} minutes"

    lines = [f"run: {described(selection.run)}"]
    if selection.left_out:
        lines.append(f"left out: {described(selection.left_out)}; `make test` runs them:")
        lines += [f"  {test}" for test in selection.left_out[:_SHOWN]]
        if len(selection.left_out) > _SHOWN:
            lines.append(f"  and {len(selection.left_out) - _SHOWN} that are farther from it")
    return lines


if __name__ == "__main__":
    main()
