"""Small faults at places drawn at random, as patches."""

from __future__ import annotations

import difflib
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tools.faults.places import Place, places

_FOLDERS = {
    ".py": ("app/playgrad", 0.56),
    ".js": ("static", 0.33),
    ".wgsl": ("kernels", 0.11),
}
"""Where the files of each kind are, and their part of the faults: about that of their lines, with
more for the kernels, which are few."""
_LEFT_OUT = ("static/bundled", "static/vendor", "static/examples", "static/js/messages")
"""Files of others, programs to be changed, and texts."""


def draw(root: Path, seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Return ``count`` faults of the checkout in ``root``: names and patches.

    Each package (folder) is as likely as the others, and so is each kind of fault in it. A name
    tells the number, the kind and the file.
    """
    source = random.Random(seed)
    taken: set[tuple[Path, int]] = set()
    for number, suffix in enumerate(_suffixes(count), start=1):
        path, place = _place(root, suffix, source, taken)
        taken.add((path, place.start))
        text = path.read_text(encoding="utf-8")
        changed = text[: place.start] + place.replacement + text[place.end :]
        relative = path.relative_to(root)
        patch = difflib.unified_diff(
            text.splitlines(keepends=True),
            changed.splitlines(keepends=True),
            f"a/{relative}",
            f"b/{relative}",
        )
        yield f"{number:03}-{place.kind}-{relative.stem}", "".join(patch)


def _suffixes(count: int) -> list[str]:
    first, *others = _FOLDERS
    suffixes = [suffix for suffix in others for _ in range(round(count * _FOLDERS[suffix][1]))]
    return [first] * (count - len(suffixes)) + suffixes


def _place(
    root: Path, suffix: str, source: random.Random, taken: set[tuple[Path, int]]
) -> tuple[Path, Place]:
    packages = _packages(root, suffix)
    while True:
        files = packages[source.choice(sorted(packages))]
        path = source.choice(files)
        kinds: dict[str, list[Place]] = defaultdict(list)
        for place in places(path):
            if (path, place.start) not in taken:
                kinds[place.kind].append(place)
        if kinds:
            return path, source.choice(kinds[source.choice(sorted(kinds))])


def _packages(root: Path, suffix: str) -> dict[Path, list[Path]]:
    packages: dict[Path, list[Path]] = defaultdict(list)
    for path in sorted((root / _FOLDERS[suffix][0]).rglob(f"*{suffix}")):
        if not str(path.relative_to(root)).startswith(_LEFT_OUT):
            packages[path.parent].append(path)
    return packages
