"""Pipeline schedules: complete, free of deadlocks, with the memory and bubble of their papers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import playgrad as pg
from playgrad.parallel import bubble_formula
from playgrad.parallel.passes import INPUTS, WEIGHTS, Orders, Pass
from playgrad.parallel.schedules import (
    SCHEDULES,
    TWO_STREAMS,
    bubble,
    draw,
    make_schedule,
    simulate,
)

NAMES = st.sampled_from(sorted(SCHEDULES))
COUNTS = st.integers(1, 6)
MICRO_BATCHES = st.integers(1, 20)


def valid_schedule(name: str, devices: int, micro_batches: int, chunks: int) -> tuple[Orders, int]:
    """Return a valid schedule near these numbers, and its number of stages."""
    chunks = chunks if name == "interleaved" else 1
    micro_batches = max(micro_batches, 2) if name in TWO_STREAMS else micro_batches
    return make_schedule(name, devices, micro_batches, chunks), devices * chunks


def in_flight(order: list[Pass]) -> int:
    """Return the largest number of micro-batches whose activations a device keeps at the same
    time."""
    active, most = 0, 0
    for entry in order:
        if entry.part != INPUTS:  # activations are needed for the gradients of weights, too
            active += -1 if entry.backward else 1
        most = max(most, active)
    return most


@given(NAMES, COUNTS, MICRO_BATCHES, st.integers(1, 3))
def test_every_pass_is_done_once_on_the_device_of_its_stage(
    name: str, devices: int, micro_batches: int, chunks: int
) -> None:
    orders, stages = valid_schedule(name, devices, micro_batches, chunks)
    done = [entry for order in orders for entry in order]
    assert len(set(done)) == len(done)
    streams = 2 if name in TWO_STREAMS else 1
    backward = (INPUTS, WEIGHTS) if name in ("zero_bubble", "dualpipe") else ("",)
    micro_batches = max(micro_batches, streams)
    assert set(done) == {
        Pass(stage, number, bool(kind), stream, part)
        for stage in range(stages)
        for stream in range(streams)
        for number in range((micro_batches + streams - 1 - stream) // streams)
        for kind, parts in enumerate([("",), backward])
        for part in parts
    }
    for device, order in enumerate(orders):
        for entry in order:
            place = entry.stage % devices
            assert device == (devices - 1 - place if entry.stream else place)


@given(NAMES, COUNTS, MICRO_BATCHES, st.integers(1, 3))
def test_dependencies_end_before_a_pass_begins(
    name: str, devices: int, micro_batches: int, chunks: int
) -> None:
    orders, stages = valid_schedule(name, devices, micro_batches, chunks)
    timed = simulate(orders)
    ends = {item.entry: item.end for item in timed}
    place = {item.entry: number for number, item in enumerate(timed)}
    for entry, device, start in timed:
        needed = []
        if entry.part == WEIGHTS:
            needed.append(entry._replace(part=INPUTS))
        elif entry.backward:
            needed.append(entry._replace(backward=False, part=""))
            if entry.stage + 1 < stages:
                needed.append(entry._replace(stage=entry.stage + 1))
        elif entry.stage:
            needed.append(entry._replace(stage=entry.stage - 1))
        for other in needed:
            assert ends[other] <= start
            assert place[other] < place[entry]
        rank = orders[device].index(entry)
        for other in orders[device][:rank]:
            assert ends[other] <= start


@given(COUNTS, MICRO_BATCHES, st.integers(2, 3))
def test_activations_in_flight_are_bounded(devices: int, micro_batches: int, chunks: int) -> None:
    for device in range(devices):
        assert in_flight(make_schedule("gpipe", devices, micro_batches)[device]) == micro_batches
        assert in_flight(make_schedule("1f1b", devices, micro_batches)[device]) == min(
            devices - device, micro_batches
        )
        order = make_schedule("interleaved", devices, micro_batches, chunks)[device]
        assert in_flight(order) <= 2 * (devices - device - 1) + (chunks - 1) * devices + 1
        order = make_schedule("bidirectional", devices, max(2, micro_batches))[device]
        assert in_flight(order) <= max(2, devices)
        order = make_schedule("zero_bubble", devices, micro_batches)[device]
        assert in_flight(order) == min(devices, micro_batches)
        order = make_schedule("dualpipe", devices, max(2, micro_batches))[device]
        assert in_flight(order) <= devices + 1


@given(COUNTS, MICRO_BATCHES)
def test_bubbles_of_gpipe_and_1f1b_match_the_formula(devices: int, micro_batches: int) -> None:
    for name in ("gpipe", "1f1b"):
        orders = make_schedule(name, devices, micro_batches)
        assert bubble(orders) == pytest.approx((devices - 1) / (micro_batches + devices - 1))
        assert bubble_formula(name, devices, micro_batches) == pytest.approx(bubble(orders))


@given(COUNTS, st.integers(1, 4), st.integers(1, 4))
def test_bubbles_of_interleaved_match_the_formula(devices: int, groups: int, chunks: int) -> None:
    counted = bubble(make_schedule("interleaved", devices, groups * devices, chunks))
    assert counted == pytest.approx((devices - 1) / (chunks * groups * devices + devices - 1))
    formula = bubble_formula("interleaved", devices, groups * devices, chunks)
    assert formula == pytest.approx(counted)


@given(st.integers(1, 5), st.integers(1, 5))
def test_bubbles_of_bidirectional_match_the_formula(half: int, groups: int) -> None:
    devices = 2 * half
    counted = bubble(make_schedule("bidirectional", devices, groups * devices))
    assert bubble_formula("bidirectional", devices, groups * devices) == pytest.approx(counted)
    # One basic unit: table 2 of the paper, (D - 2) / (3/2 N + D - 2).
    one = bubble_formula("bidirectional", devices, devices)
    assert one == pytest.approx((devices - 2) / (1.5 * devices + devices - 2))
    assert one <= bubble_formula("1f1b", devices, devices)


@given(COUNTS, MICRO_BATCHES)
def test_bubbles_of_divided_backward_passes_match_the_formula(
    devices: int, micro_batches: int
) -> None:
    micro_batches += devices
    counted = bubble(make_schedule("zero_bubble", devices, micro_batches))
    assert bubble_formula("zero_bubble", devices, micro_batches) == pytest.approx(counted)
    assert counted == pytest.approx((devices - 1) / (3 * micro_batches + devices - 1))
    assert counted <= bubble_formula("1f1b", devices, micro_batches)


@given(st.integers(1, 4), st.integers(1, 4))
def test_bubbles_of_dualpipe_match_the_formula(half: int, groups: int) -> None:
    """A device in the middle waits for the first micro-batch, and for nothing else."""
    devices, micro_batches = 2 * half, 2 * half * groups
    counted = bubble(make_schedule("dualpipe", devices, micro_batches))
    assert counted == pytest.approx((half - 1) / (3 * micro_batches + half - 1))
    assert bubble_formula("dualpipe", devices, micro_batches) == pytest.approx(counted)
    # Less than the report's (p / 2 - 1)(F + B + B - 3 W) = p - 2 for B = 2, F = W = 1, where both
    # passes of a pair end together.
    assert counted <= bubble_formula("bidirectional", devices, micro_batches)


def test_bubbles_without_a_formula_are_counted() -> None:
    for name, devices, micro_batches, chunks in [
        ("bidirectional", 3, 4, 1),
        ("interleaved", 4, 6, 2),
        ("zero_bubble", 4, 3, 1),
        ("dualpipe", 3, 4, 1),
    ]:
        counted = bubble(make_schedule(name, devices, micro_batches, chunks))
        assert bubble_formula(name, devices, micro_batches, chunks) == counted > 0


def test_schedules_are_drawn_as_text() -> None:
    assert draw(make_schedule("gpipe", 2, 2)).splitlines() == [
        "device 0  01...aabb",
        "device 1  .01aabb..",
    ]
    assert draw(make_schedule("1f1b", 2, 3)).splitlines() == [
        "device 0  01..aa2bb.cc",
        "device 1  .0aa1bb2cc..",
    ]
    assert draw(make_schedule("bidirectional", 2, 2)).splitlines() == [
        "device 0  0⁰AAaa",
        "device 1  ⁰0aaAA",
    ]
    assert draw(make_schedule("zero_bubble", 2, 3)).splitlines() == [
        "device 0  01.a+2b+c+",
        "device 1  .0a1b+2c++",
    ]
    assert draw(make_schedule("dualpipe", 2, 4)).splitlines() == [
        "device 0  0⁰Aa1+¹Bb+++",
        "device 1  ⁰0aA¹+1bB+++",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("zigzag", 2, 2), "no schedule 'zigzag'"),
        (("gpipe", 0, 2), "at least one device"),
        (("1f1b", 2, 2, 2), "not 2 chunks"),
        (("bidirectional", 2, 1), "need two micro-batches"),
        (("dualpipe", 2, 1), "need two micro-batches"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[str, int, int], words: str) -> None:
    with pytest.raises(pg.GraphError, match=words):
        make_schedule(*arguments)


def test_a_circle_is_an_error() -> None:
    orders = [[Pass(0, 0, True), Pass(0, 0, False)]]
    with pytest.raises(pg.GraphError, match="wait for each other"):
        simulate(orders)
