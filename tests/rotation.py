"""Rotation: the commit's hash chooses a fifth of the operations on GPUs, and of the costly files.

*Costly files* of tests took over `COSTLY` seconds when they were measured (``tests/seconds.json``):
most of the time of all. They take turns, except those in ``tests/core.txt``; each as a whole,
since its tests share a page and build upon each other. `make test PART=all` and `make nightly`
leave none of them out. Files that rest are not even imported.

*Operations on GPUs*: the files listed below decide what a GPU computes. `make contract` writes
their digest to ``tests/gpu.sha256`` when all operations have passed. Where the files have another
digest, a kernel, a lowering or the compiler has changed since, and all operations are checked; no
history is needed to tell. So a digest that nobody renewed costs time, and hides nothing.

``--part`` overrides both choices. A test marked ``rotates`` belongs to a part by its operation, or
else by its name.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import pytest

from tests.seconds import COMMITTED, Seconds, file_of

PARTS = 5
COSTLY = 2.0
ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "gpu.sha256"
CORE = ROOT / "tests" / "core.txt"
_DECIDING = (
    "app/playgrad/dtypes.py",
    *(
        f"app/playgrad/{name}/**/*.py"
        for name in ("compiler", "contract", "devices", "graph", "ops")
    ),
    "constraints.txt",  # the version of wgpu
    "kernels/**/*.wgsl",
    "tests/browser/test_contract_in_page.py",
    "tests/kernels/*.py",
    "tests/test_op_contract.py",
)
_IMPORT = re.compile(r'^(?:import|export)\b[^;]*?"\./([\w-]+\.js)";', re.MULTILINE)


def _page_files() -> set[Path]:
    """Return the files of the page that run Plans: the device worker, and its imports."""
    found: set[Path] = set()
    left = [ROOT / "static" / "engine" / "device-worker.js"]
    while left:
        file = left.pop()
        found.add(file)
        imported = {file.with_name(name) for name in _IMPORT.findall(file.read_text("utf-8"))}
        left += imported - found
    return found


def digest() -> str:
    """Return the digest of the files that decide what a GPU computes."""
    files = {file for pattern in _DECIDING for file in ROOT.glob(pattern)} | _page_files()
    total = sha256()
    for file in sorted(files):
        total.update(f"{file.relative_to(ROOT).as_posix()}\0".encode())
        total.update(sha256(file.read_bytes()).digest())
    return total.hexdigest()


def choice(part: str) -> tuple[int | None, str]:
    """Return the part to run, None for all, and the reason.

    Args:
        part: the value of ``--part``.
    """
    if part != "commit":
        return (None if part == "all" else int(part)), f"--part={part}"
    if RECORD.read_text("ascii").strip() != digest():
        return None, f"what GPUs compute has changed since `make contract` wrote {RECORD.name}"
    number = _of_commit()
    if number is None:
        return None, "this is not a git checkout"
    return number, f"the commit; --part={number} chooses it again"


def _of_commit() -> int | None:
    """Return the part of the checkout's commit; None outside of a checkout."""
    git = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    result = subprocess.run(git, capture_output=True, text=True)
    return None if result.returncode else int(result.stdout, 16) % PARTS + 1


def core() -> list[str]:
    """Return the costly files of every run."""
    lines = CORE.read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def resting(part: str) -> dict[str, float]:
    """Return the seconds of the costly files that a run leaves out, by path.

    Args:
        part: the value of ``--part``.
    """
    number = None if part == "all" else _of_commit() if part == "commit" else int(part)
    if number is None:
        return {}
    parts = costly_parts(Seconds.read(COMMITTED).files)
    return {f: s for part, files in parts.items() if part != number for f, s in files.items()}


def costly_parts(seconds: Mapping[str, float]) -> dict[int, dict[str, float]]:
    """Return the seconds of the costly files of each part, which are all about as long."""
    parts: dict[int, dict[str, float]] = {number: {} for number in range(1, PARTS + 1)}
    turns = [file for file in seconds.keys() - set(core()) if seconds[file] > COSTLY]
    for file in sorted(turns, key=lambda file: (-seconds[file], file)):
        shortest = min(parts, key=lambda number: sum(parts[number].values()))
        parts[shortest][file] = seconds[file]
    return parts


@cache
def rests(file: Path, part: str) -> bool:
    """Return whether a file of tests is costly, and another part's."""
    return file.is_relative_to(ROOT) and file.relative_to(ROOT).as_posix() in _resting(part)


_resting = cache(resting)


def header(part: str) -> list[str]:
    """Return the lines of the report that say what a run checks; none if it checks everything."""
    if part == "all":
        return []
    number, reason = choice(part)
    which = "all" if number is None else f"part {number} of {PARTS}"
    rest = resting(part)
    return [
        f"operations on GPUs: {which} ({reason})",
        f"costly files: {len(rest)} of {sum(rest.values()):.0f} s have their turn in other commits",
    ]


def part_of(item: pytest.Item) -> int:
    """Return the part that a test belongs to."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    name = params["op"].name if "op" in params else item.name
    return crc32(name.encode()) % PARTS + 1


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of other parts."""
    part = config.getoption("part")
    number, _ = choice(part)
    left_out = resting(part)
    others = {
        item
        for item in items
        if file_of(item.nodeid) in left_out
        or (number is not None and item.get_closest_marker("rotates") and part_of(item) != number)
    }
    config.hook.pytest_deselected(items=list(others))
    items[:] = [item for item in items if item not in others]


if __name__ == "__main__":
    print(digest())
