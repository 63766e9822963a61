"""Trials that do worse than most are ended early."""

from __future__ import annotations

import math

import pytest

import playgrad as pg


def test_the_best_part_continues() -> None:
    rule = pg.Halving(epochs=20, first=2, factor=3)
    assert rule.milestones == [2, 6, 18]
    assert rule.continues(2, 5.0), "the first has nobody to be compared with"
    assert not rule.continues(2, 6.0)
    assert rule.continues(2, 4.0)
    assert not rule.continues(2, 4.9)
    assert not rule.continues(2, math.nan)
    assert rule.continues(6, 9.0), "each milestone is compared by itself"


@pytest.mark.parametrize("arguments", [(1,), (10, 10), (10, 1, 1), (10, 0)])
def test_a_rule_without_a_comparison_is_refused(arguments: tuple[int, ...]) -> None:
    with pytest.raises(pg.DataError, match="halving"):
        pg.Halving(*arguments)
