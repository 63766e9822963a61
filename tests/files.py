"""The order in which xdist's workers take the files of tests, each whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

_BROWSER_ENDS = 0.8
"""The part of the run in which all files for the browser have begun."""


def in_turn(items: list[pytest.Item]) -> Callable[[pytest.Item], float]:
    """Return a sort key: large files come first, so that the workers end at about the same time.

    Files for the browser, in which a worker waits a lot and every test is long, come between the
    others, and none of them last.
    """
    sizes = Counter(item.path for item in items)
    browser = {item.path for item in items if item.get_closest_marker("browser")}
    places: dict[Path, float] = {}
    for group, end in ((browser, _BROWSER_ENDS), (sizes.keys() - browser, 1.0)):
        largest_first = sorted(group, key=lambda path: (-sizes[path], path))
        places |= {path: end * i / len(group) for i, path in enumerate(largest_first)}
    return lambda item: places[item.path]
