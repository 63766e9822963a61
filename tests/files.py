"""The order in which xdist's workers take the files of tests, each whole."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping

import pytest

from tests.seconds import file_of

_BROWSER_ENDS = 0.8
"""The part of the run in which all files for the browser have begun."""


def in_turn(
    items: list[pytest.Item], seconds: Mapping[str, float]
) -> Callable[[pytest.Item], float]:
    """Return a sort key: long files come first, so that the workers end at about the same time.

    Files for the browser, in which a worker waits a lot, come between the others, and none of them
    last. A file without ``seconds`` counts as its number of tests times the median test.
    """
    browser = {file_of(item.nodeid) for item in items if item.get_closest_marker("browser")}
    sizes = expected(Counter(file_of(item.nodeid) for item in items), seconds)
    places: dict[str, float] = {}
    for group, end in ((browser, _BROWSER_ENDS), (sizes.keys() - browser, 1.0)):
        total, begun = sum(sizes[file] for file in group), 0.0
        for file in sorted(group, key=lambda file: (-sizes[file], file)):
            places[file] = end * begun / total
            begun += sizes[file]
    return lambda item: places[file_of(item.nodeid)]


def expected(tests: Mapping[str, int], seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds that files will take, of which ``tests`` has the numbers of tests."""
    known = tests.keys() & seconds.keys()
    median = statistics.median([seconds[file] / tests[file] for file in known] or [1.0])
    return {file: seconds.get(file, number * median) + 0.01 for file, number in tests.items()}
