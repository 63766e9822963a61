"""Rotation: `make test` checks a third of the operations on GPUs, chosen by the commit's hash.

The files listed below decide what a GPU computes. `make contract` writes their digest to
``tests/gpu.sha256`` when all operations have passed. Where the files have another digest, a kernel,
a lowering or the compiler has changed since, and all operations are checked; no history is needed
to tell. So a digest that nobody renewed costs time, and hides nothing.

``--part`` overrides the choice. A test marked ``rotates`` belongs to a part by its operation, or
else by its name.
"""

from __future__ import annotations

import re
import subprocess
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import pytest

PARTS = 3
ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "gpu.sha256"
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
    """Return the files of the page that run Plans: the device worker, and what it imports."""
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
    git = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    result = subprocess.run(git, capture_output=True, text=True)
    if result.returncode:
        return None, "this is not a git checkout"
    commit = result.stdout.strip()
    number = int(commit, 16) % PARTS + 1
    return number, f"commit {commit[:8]}; --part={number} chooses it again"


def header(part: str) -> list[str]:
    """Return the line of the report that says what a run checks; none if it checks everything."""
    if part == "all":
        return []
    number, reason = choice(part)
    which = "all" if number is None else f"part {number} of {PARTS}"
    return [f"operations on GPUs: {which} ({reason})"]


def part_of(item: pytest.Item) -> int:
    """Return the part that a test belongs to."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    name = params["op"].name if "op" in params else item.name
    return crc32(name.encode()) % PARTS + 1


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of other parts."""
    number, _ = choice(config.getoption("part"))
    if number is None:
        return
    rotating = [item for item in items if item.get_closest_marker("rotates")]
    others = {item for item in rotating if part_of(item) != number}
    config.hook.pytest_deselected(items=list(others))
    items[:] = [item for item in items if item not in others]


if __name__ == "__main__":
    print(digest())
