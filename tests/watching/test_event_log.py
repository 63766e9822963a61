"""Readers of a log get every event once, and a log has bounds."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from playgrad.watching import event_log
from playgrad.watching.event_log import EventLog, Portion, Position
from playgrad.watching.folding import (
    MOST_EPOCHS,
    MOST_FITS,
    MOST_POINTS,
    POINTS_OF_EARLIER_FITS,
    Entry,
    folded,
)
from playgrad.watching.messages import encoded, received
from tests.watching.readers import END, FIT, WATCHED, epoch_end, progress


def events_of(portion: Portion) -> list[dict[str, Any]]:
    return [json.loads(entry.text) for entry in portion.entries]


def all_of(log: EventLog, position: Position | None = None) -> list[dict[str, Any]]:
    """Return what a reader at ``position`` gets until nothing is left."""
    events: list[dict[str, Any]] = []
    while (portion := log.read(position, 0)).entries:
        events += events_of(portion)
        position = portion.position
    return events


def test_a_reader_gets_each_event_once() -> None:
    log = EventLog()
    log.add(WATCHED)
    first = log.read(None, 0)
    assert first.is_first and events_of(first) == [WATCHED]
    nothing = log.read(first.position, 0)
    assert not nothing.is_first and not nothing.entries
    log.add(FIT)
    second = log.read(nothing.position, 60)
    assert not second.is_first and events_of(second) == [FIT]


@pytest.mark.parametrize(
    "text", ["", "x", "0123456789abcdef.0.5", "0123456789abcdef.0.-1", "0.0.0", "9" * 99]
)
def test_an_unknown_position_is_the_beginning(text: str) -> None:
    log = EventLog()
    log.add(WATCHED)
    assert log.read(Position.parse(text), 0).is_first


def test_a_position_beyond_the_end_is_the_beginning() -> None:
    log = EventLog()
    log.add(WATCHED)
    position = log.read(None, 0).position
    assert log.read(position._replace(number=99), 0).is_first
    assert Position.parse(str(position)) == position


def test_a_cleared_log_begins_anew() -> None:
    log = EventLog()
    log.add(WATCHED)
    position = log.read(None, 0).position
    log.clear()
    portion = log.read(position, 0)
    assert portion.is_first and not portion.entries
    assert not log.read(portion.position, 0).is_first


def test_a_full_log_is_folded_and_shows_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(event_log, "RECENT_BYTES", 1 << 16)
    log = EventLog()
    for event in (WATCHED, {"kind": "status", "state": "running"}, FIT):
        log.add(event)
    early = log.read(None, 0).position
    steps = 12_000
    for step in range(1, steps + 1):
        log.add(progress(step, 1 / step))
        if step % 2000 == 0:
            log.add(epoch_end(step // 2000, step))
        if step == steps - 100:
            late = log.read(early, 0).position._replace(number=early.number + step)
    assert sum(len(entry.text) for entry in log._entries) < 1 << 20
    assert log.read(early, 0).is_first
    assert all_of(log, late)[0]["step"] > steps - 200
    events = all_of(log)
    assert events[0] == WATCHED
    kinds = [event["kind"] for event in events]
    assert kinds.count("progress") < steps / 4
    points = [point for event in events for point in event.get("points", ())]
    assert [step for step, *_ in points] == list(range(1, steps + 1))
    ends = [position for position, kind in enumerate(kinds) if kind == "epoch_end"]
    assert len(ends) == 6
    for position in ends:  # each marks the last point before it
        before = [event for event in events[:position] if event["kind"] == "progress"][-1]
        assert before["points"][-1][0] == events[position]["step"]


def test_a_reader_of_many_portions_sees_no_event_twice_when_the_log_was_folded() -> None:
    log = EventLog()
    text = {"kind": "stdout", "text": "x" * 10_000}
    for _ in range(1000):
        log.add(text)
    position, count = None, 0
    while (portion := log.read(position, 0)).entries:
        assert portion.is_first == (position is None)
        position, count = portion.position, count + len(portion.entries)
    assert 100 < count < 400


def entries_of(events: list[dict[str, Any]]) -> list[Entry]:
    return [Entry(at, event["kind"], encoded(event)) for at, event in enumerate(events, 1)]


def test_long_curves_are_thinned_by_means() -> None:
    many = progress(1)
    many["points"] = [[step, float(step % 2), None] for step in range(1, 4 * MOST_POINTS + 1)]
    many["points"][0][1] = math.nan
    thin = json.loads(folded(entries_of([FIT, many]))[1].text)["points"]
    assert len(thin) == MOST_POINTS
    assert thin[0] == [4, pytest.approx(1 / 3), None] and thin[1] == [8, 0.5, None]


def test_of_earlier_fits_little_is_kept() -> None:
    fit = [{"kind": "lab_fit", "title": "One device", "devices": 1}, FIT]
    fit += [progress(step) for step in range(1000)]
    fit += [epoch_end(epoch, 1000) for epoch in range(MOST_EPOCHS + 100)] + [END]
    kept = folded(entries_of([WATCHED, *(fit * (MOST_FITS + 3))]))
    kinds = [entry.kind for entry in kept]
    assert kinds[0] == "watched" and kinds.count("fit_begin") == kinds.count("fit_end") == MOST_FITS
    assert kinds.count("epoch_end") == MOST_FITS * MOST_EPOCHS
    counts = [len(json.loads(each.text)["points"]) for each in kept if each.kind == "progress"]
    assert counts[-1] == 1000 and max(counts[:-1]) <= POINTS_OF_EARLIER_FITS


def test_numbers_that_json_lacks_arrive() -> None:
    event = progress(1, math.nan)
    event["points"] += [[2, math.inf, None], [3, -math.inf, np.float32(0.5)]]
    points = received(encoded(event))["points"]
    assert math.isnan(points[0][1]) and points[1][1] == math.inf
    assert points[2] == [3, -math.inf, 0.5]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no json", "Expecting value"),
        ("[]", "no events of the kind None"),
        ('{"kind": "checkpoint", "bytes": ""}', "no events of the kind 'checkpoint'"),
        ('{"kind": "link", "state": "live", "address": "", "reason": ""}', "kind 'link'"),
        ('{"kind": "status", "state": "idling"}', "is not one of"),
        ('{"kind": "status", "state": "done", "more": 1}', "there is no such field"),
        ('{"kind": "stdout"}', "is missing"),
        ("[" * 200 + "]" * 200, "inside each other"),
        (encoded(progress(1 << 60)), "too large"),
    ],
)
def test_what_is_no_event_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        received(text)
