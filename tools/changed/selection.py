"""The tests of a change: nearest first, as many as fit into a time, after a fixed smoke set."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tools.changed.reach import NODE_RUNNER, Reach, is_test
from tools.changed.repository import Repository

SMOKE = (
    "tests/test_structure.py",
    "tests/test_operations.py",
    "tests/graph/test_graph.py",
    "tests/compiler/test_passes.py",
    "tests/runtime/test_session.py",
    "tests/nn/test_fit.py",
    "tests/browser/test_execution.py",
)
"""A little of everything, which runs after any change."""


@dataclass
class Selection:
    """Tests to run, and tests that use the change but would take too long."""

    run: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


class Times:
    """How long test files take, by ``tests/seconds.json``."""

    def __init__(self, repository: Repository) -> None:
        files: dict[str, float] = json.loads(repository.text("tests/seconds.json"))["files"]
        self._files: Mapping[str, float] = files
        self._median = statistics.median(files.values())
        scripts = len(repository.under("tests/page/", suffix=".test.mjs"))
        self._script = files.get(NODE_RUNNER, 0.0) / max(scripts, 1)

    def of(self, tests: Iterable[str]) -> float:
        """Return the seconds that tests take together."""
        return sum(map(self._of_one, tests))

    def _of_one(self, test: str) -> float:
        return self._script if "::" in test else self._files.get(test, self._median)


def select(changed: list[str], reach: Reach, times: Times, seconds: float) -> Selection:
    """Choose tests that take ``seconds`` together; changed tests run however long they take."""
    distances = dict(reach.nearest_first(changed))
    first = [path for path in changed if path in distances and is_test(path)]
    nearest = sorted(distances, key=lambda test: (distances[test], times.of([test]) > seconds / 4))
    selection, left = Selection(), seconds
    for test in dict.fromkeys((*first, *SMOKE, *nearest)):
        took = times.of([test])
        if test in first or test in SMOKE or took <= left:
            selection.run.append(test)
            left -= took
        else:
            selection.left_out.append(test)
    return selection
