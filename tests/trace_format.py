"""A check of the Trace Event Format that chrome://tracing and ui.perfetto.dev open."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

_METADATA = {"process_name", "process_labels", "process_sort_index", "thread_name"}
SLACK_US = 1e-3
"""Of sums of floats, in microseconds."""


def check_trace(data: Any) -> list[dict[str, Any]]:
    """Check that ``data`` is in the JSON Object Format; return its complete events.

    See "Trace Event Format" by the authors of chrome://tracing.
    """
    assert isinstance(data["traceEvents"], list)
    assert data.get("displayTimeUnit", "ms") in ("ms", "ns")
    spans: list[dict[str, Any]] = []
    for event in data["traceEvents"]:
        assert isinstance(event["name"], str) and event["name"]
        assert type(event["pid"]) is int and type(event["tid"]) is int
        assert isinstance(event.get("args", {}), dict)
        if event["ph"] == "M":
            assert event["name"] in _METADATA
        else:
            assert event["ph"] == "X"
            assert isinstance(event["cat"], str)
            assert all(isinstance(event[key], int | float) for key in ("ts", "dur"))
            assert event["ts"] >= 0 and event["dur"] >= 0
            spans.append(event)
    threads = {(e["pid"], e["tid"]) for e in data["traceEvents"] if e["ph"] == "M"}
    assert {(span["pid"], span["tid"]) for span in spans} <= threads
    for thread in threads:
        own = [span for span in spans if (span["pid"], span["tid"]) == thread]
        for one, other in pairwise(sorted(own, key=lambda span: span["ts"])):
            assert one["ts"] + one["dur"] <= other["ts"] + SLACK_US  # overlapping ones would nest
    return spans
