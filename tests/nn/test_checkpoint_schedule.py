"""The times of checkpoints: spread over a training, at a bounded cost."""

from __future__ import annotations

import pytest

from playgrad.training.checkpoints.schedule import LARGEST_SHARE, SMALL_BYTES, CheckpointSchedule


def times(seconds: float, cost: float, size: int = 1000, spread: bool = True) -> list[float]:
    """When checkpoints of a training are made that lasts ``seconds``, with chunks of 0.02 s."""
    schedule, now = CheckpointSchedule(spread), 100.0
    schedule.begin(now, size, False)
    made = []
    while now < 100 + seconds:
        if schedule.is_due(now):
            made.append(now - 100)
            now += cost
            schedule.made(now, cost)
        now += 0.02
    return made


@pytest.mark.parametrize("seconds", [2, 30, 600, 3600])
@pytest.mark.parametrize("cost", [0.001, 0.01, 0.2])
def test_checkpoints_take_a_small_share_of_the_time(seconds: float, cost: float) -> None:
    made = times(seconds, cost)
    assert made[0] == 0
    assert (len(made) - 2) * cost <= LARGEST_SHARE * seconds, "two show what one costs"


@pytest.mark.parametrize("seconds", [2, 30, 600])
def test_checkpoints_are_spread_over_the_training(seconds: float) -> None:
    made = times(seconds, 0.001)
    gaps = [after - before for before, after in zip(made, [*made[1:], seconds], strict=True)]
    assert max(gaps) < seconds / 12
    assert max(gaps) < 9, "what a crash costs"


def test_a_slow_first_checkpoint_does_not_keep_others_from_a_short_training() -> None:
    schedule = CheckpointSchedule(True)
    schedule.begin(0.0, 1000, False)
    schedule.made(0.0, 0.1)
    assert schedule.is_due(0.35)
    schedule.made(0.35, 0.002)
    assert schedule.is_due(0.5)


def test_checkpoints_without_spreading_only_limit_lost_work() -> None:
    made = times(30, 0.001, spread=False)
    assert 1 <= made[0] < 1.1
    assert len(made) == 4


def test_a_large_model_waits_for_its_first_checkpoint() -> None:
    assert times(2, 0.001, SMALL_BYTES)[0] == 0
    assert times(2, 0.001, SMALL_BYTES + 1)[0] > 0


def test_ends_of_many_short_trainings_share_their_cost() -> None:
    schedule, now, ends, made = CheckpointSchedule(True), 0.0, 0, 0.0
    for _ in range(1000):
        schedule.begin(now, 1000, False)
        if schedule.is_due(now):
            now, made = now + 0.01, made + 0.01
            schedule.made(now, 0.01)
        now += 0.05
        if schedule.end(now):
            now, made, ends = now + 0.01, made + 0.01, ends + 1
            schedule.made(now, 0.01)
    assert ends > 0
    assert made <= 2 * LARGEST_SHARE * now + 0.02
