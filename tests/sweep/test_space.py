"""The settings that a sweep tries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.sweeps.space import combinations, in_words


def test_a_grid_is_tried_in_turn() -> None:
    assert combinations({"lr": [0.1, 0.01], "act": ["relu", "tanh"]}, {}) == [
        {"lr": 0.1, "act": "relu"},
        {"lr": 0.1, "act": "tanh"},
        {"lr": 0.01, "act": "relu"},
        {"lr": 0.01, "act": "tanh"},
    ]


def test_draws_are_within_their_ranges_and_a_longer_sweep_begins_the_same() -> None:
    random = {"units": pg.between(8, 64), "lr": pg.between(1e-4, 1.0, log=True), "act": ["a", "b"]}
    trials = combinations({"seed": [1, 2]}, random, 400, seed=7)
    assert trials[:30] == combinations({"seed": [1, 2]}, random, 30, seed=7)
    assert trials != combinations({"seed": [1, 2]}, random, 400, seed=8)
    assert {trial["units"] for trial in trials} >= {8, 64}
    assert all(isinstance(trial["units"], int) and 8 <= trial["units"] <= 64 for trial in trials)
    rates: list[Any] = [trial["lr"] for trial in trials]
    assert all(1e-4 <= rate <= 1.0 for rate in rates)
    assert 0.4 < sum(rate < 1e-2 for rate in rates) / len(rates) < 0.6
    assert [trial["seed"] for trial in trials[:4]] == [1, 2, 1, 2]
    assert {trial["act"] for trial in trials} == {"a", "b"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({}, {}), "1 to 10,000 trials, got 0"),
        (({"lr": []}, {}), "'lr' has no values"),
        (({"lr": [1]}, {"lr": [2]}, 3), "'lr' is both in grid and in random"),
        (({}, {"lr": [1, 2]}), "need a number of trials"),
        (({"lr": [1, 2]}, {}, 3), "2 combinations, fewer than 3 trials"),
        (({}, {"lr": [1, 2]}, 10**9), "got 1,000,000,000"),
        (({"act": "relu"}, {}), "'act' needs a list of values"),
        (({"lr": [0.1, float("nan")]}, {}), "'lr' cannot have the value nan"),
        (({"layers": [(8, 8)]}, {}), r"'layers' cannot have the value \(8, 8\)"),
        (({"lr": [1]}, {}, 1, -1), "seed of a sweep is at least 0, got -1"),
    ],
)
def test_settings_that_make_no_sweep_are_refused(arguments: Any, words: str) -> None:
    with pytest.raises(pg.DataError, match=words):
        combinations(*arguments)


@pytest.mark.parametrize(
    ("low", "high", "log"),
    [
        (2, 1, False),
        (0, 1, True),
        (1, float("inf"), False),
        (0, 10**20, False),
        (0, float("nan"), True),
    ],
)
def test_ranges_without_numbers_are_refused(low: float, high: float, log: bool) -> None:
    with pytest.raises(pg.DataError, match="range"):
        pg.between(low, high, log)


def test_settings_are_said_shortly() -> None:
    assert in_words({"lr": 0.123456, "units": 64, "act": "relu"}) == "lr=0.1235 units=64 act=relu"


def test_values_of_numpy_become_those_of_python() -> None:
    (first, _) = combinations({"units": np.array([32, 64])}, {})
    assert first == {"units": 32} and type(first["units"]) is int


def test_rounded_draws_stay_in_their_range() -> None:
    draws = combinations({}, {"momentum": pg.between(0.99991, 0.99999)}, 50)
    assert all(0.99991 <= trial["momentum"] <= 0.99999 for trial in draws)  # type: ignore[operator]
