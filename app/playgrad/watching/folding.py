"""Fewer events of a training that lead to the same picture of it.

Points of long curves are averaged, as the page does; of a state, the last event is enough; old
output, old epochs and the fits before the last few are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

MOST_FITS = 8
"""The fits that the page's Lab shows."""
MOST_TRACES = 3
MOST_POINTS = 20_000
"""Of the last fit. The page draws 3,000."""
POINTS_OF_EARLIER_FITS = 300
MOST_EPOCHS = 500
"""In each fit."""
MOST_RATINGS = 500
"""In each fit."""
MOST_SETTINGS = 100
"""In each fit."""
MOST_OUTPUT = 400_000
"""Characters of events with output."""

_STATES = ("watched", "status", "error", "link")
_OUTPUT = ("stdout", "stderr")


class Entry(NamedTuple):
    """An event as JSON, with its number and its kind."""

    number: int
    kind: str
    text: str


def size_of(entry: Entry) -> int:
    """Return the bytes that ``entry`` takes, about."""
    return len(entry.text) + 100


def folded(entries: Sequence[Entry]) -> list[Entry]:
    """Return fewer entries in place of ``entries``, in the same order.

    An entry that stands for several has the number of their last one.
    """
    before, fits = _fits(entries)
    kept = [_merged(before, 0)]
    last = fits[-MOST_FITS:]
    for place, fit in enumerate(last):
        traces = MOST_TRACES if place >= len(last) - MOST_TRACES else 0
        points = MOST_POINTS if fit is last[-1] else POINTS_OF_EARLIER_FITS
        kept.append(_merged(_of_fit(fit, traces), points))
    states = [_last(entries, kind) for kind in _STATES]
    output = _newest((entry for entry in entries if entry.kind in _OUTPUT), MOST_OUTPUT)
    training = [entry for part in kept for entry in part if entry.kind not in (*_STATES, *_OUTPUT)]
    return sorted([*training, *(each for each in states if each), *output])


def _fits(entries: Iterable[Entry]) -> tuple[list[Entry], list[list[Entry]]]:
    """Return the entries before the first fit, and those of each fit, which ``lab_fit`` begins."""
    before: list[Entry] = []
    fits: list[list[Entry]] = []
    has_begun = True
    for entry in entries:
        if entry.kind == "lab_fit" or (entry.kind == "fit_begin" and has_begun):
            fits.append([])
        if entry.kind in ("lab_fit", "fit_begin"):
            has_begun = entry.kind == "fit_begin"
        (fits[-1] if fits else before).append(entry)
    return before, fits


def _of_fit(fit: Sequence[Entry], traces: int) -> list[Entry]:
    most = {
        "trace": min(traces, 1),
        "epoch_end": MOST_EPOCHS,
        "rating": MOST_RATINGS,
        "setting": MOST_SETTINGS,
    }
    kept: list[Entry] = []
    for entry in reversed(fit):
        left = most.get(entry.kind, 1)
        if left > 0:
            kept.append(entry)
        if entry.kind in most:
            most[entry.kind] = left - 1
    return kept[::-1]


def _merged(fit: Sequence[Entry], points: int) -> list[Entry]:
    """Join the ``progress`` between events that mark the last point before them."""
    runs: list[list[Entry]] = [[]]
    others: list[Entry] = []
    for entry in fit:
        if entry.kind == "progress":
            runs[-1].append(entry)
            continue
        others.append(entry)
        if entry.kind in ("epoch_end", "rating", "fit_begin", "fit_end"):
            runs.append([])
    events = [[json.loads(entry.text) for entry in run] for run in runs]
    count = sum(len(event["points"]) for run in events for event in run)
    stride = max(1, -(-count // max(1, points)))
    merged = [
        Entry(run[-1].number, "progress", _joined(of_run, stride))
        for run, of_run in zip(runs, events, strict=True)
        if run
    ]
    return sorted([*others, *merged])


def _joined(run: Sequence[dict[str, Any]], stride: int) -> str:
    points = [point for event in run for point in event["points"]]
    thin = [_mean(points[first : first + stride]) for first in range(0, len(points), stride)]
    return json.dumps({**run[-1], "points": thin}, separators=(",", ":"))


def _mean(points: Sequence[list[Any]]) -> list[Any]:
    """Return the last step, and the means of the numbers that are finite."""
    means = []
    for column in zip(*(point[1:] for point in points), strict=True):
        numbers = [value for value in column if isinstance(value, int | float)]
        means.append(sum(numbers) / len(numbers) if numbers else column[-1])
    return [points[-1][0], *means]


def _last(entries: Sequence[Entry], kind: str) -> Entry | None:
    return next((entry for entry in reversed(entries) if entry.kind == kind), None)


def _newest(entries: Iterable[Entry], most: int) -> list[Entry]:
    """Return the last entries of altogether ``most`` characters."""
    kept: list[Entry] = []
    for entry in reversed([*entries]):
        most -= size_of(entry)
        if most < 0 and kept:
            break
        kept.append(entry)
    return kept[::-1]
