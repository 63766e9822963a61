"""The table of tried and survived cases, at the end of a test run.

A test that breaks something on purpose is marked with its class of accidents::

    @pytest.mark.survival("Lost devices on the desktop")

It counts as one attempt. A test that makes several says so: ``record_property("tried", 250)``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

_CLASS = "survival class"
_TRIED = "tried"


def remember_class(items: Iterable[pytest.Item]) -> None:
    """Attach the class of each marked test to its reports."""
    for item in items:
        marker = item.get_closest_marker("survival")
        if marker is not None:
            item.user_properties.append((_CLASS, marker.args[0]))


def table(reports: dict[str, list[Any]]) -> list[str]:
    """Return the lines of the table, by class, of the reports by outcome."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for outcome in ("passed", "failed", "error"):
        for report in reports.get(outcome, []):
            # The report of a file that cannot be collected has no properties.
            properties = dict(getattr(report, "user_properties", ()))
            if _CLASS not in properties or (outcome == "passed" and report.when != "call"):
                continue
            tried = int(properties.get(_TRIED, 1))
            row = counts[properties[_CLASS]]
            row[0] += tried
            row[1] += tried if outcome == "passed" else 0
    rows = [f"| {name} | {tried:,} | {survived:,} |" for name, (tried, survived) in counts.items()]
    return ["| class | tried | survived |", "|---|---:|---:|", *sorted(rows)] if rows else []
