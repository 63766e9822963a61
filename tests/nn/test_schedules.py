"""Learning-rate schedules by their formulas, and the one cycle of PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad import optim

STEPS = 12


def rates(schedule: optim.Schedule, factor: float = 1.0) -> list[float]:
    """Return the rates of STEPS steps, with the assigned rate at ``factor`` times the initial."""
    with pg.Graph().as_default() as graph:
        step = pg.placeholder("float32", ())
        rate = schedule.rate(pg.constant(schedule.initial_learning_rate * factor), step)
    with pg.Session(graph, "cpu") as session:
        return [float(session.run(rate, {step: np.float32(i)})) for i in range(STEPS)]


def cosine(step: float, steps: int, alpha: float) -> float:
    return (1 - alpha) * 0.5 * (1 + math.cos(math.pi * min(step / steps, 1))) + alpha


def warm_cosine(step: int) -> float:
    return 0.1 + 0.4 * step / 4 if step < 4 else 0.5 * cosine(step - 4, 6, 0.2)


def cycled(step: int) -> float:
    end = 5 * max(math.ceil(step / 5), 1)
    return 0.9 * (1 - step / end) ** 2 + 0.1


CASES: dict[str, tuple[optim.Schedule, Callable[[int], float]]] = {
    "piecewise": (
        optim.PiecewiseConstantDecay([3, 7], [1.0, 0.5, 0.1]),
        lambda step: 1.0 if step <= 3 else 0.5 if step <= 7 else 0.1,
    ),
    "cosine": (optim.CosineDecay(0.5, 8, alpha=0.1), lambda step: 0.5 * cosine(step, 8, 0.1)),
    "warm cosine": (
        optim.CosineDecay(0.1, 6, alpha=0.2, warmup_target=0.5, warmup_steps=4),
        warm_cosine,
    ),
    "warm from 0": (
        optim.CosineDecay(0.0, 20, warmup_target=0.5, warmup_steps=12),
        lambda step: 0.5 * step / 12,
    ),
    "inverse time": (
        optim.InverseTimeDecay(0.5, 4, 0.3),
        lambda step: 0.5 / (1 + 0.3 * step / 4),
    ),
    "inverse time in stairs": (
        optim.InverseTimeDecay(0.5, 4, 0.3, staircase=True),
        lambda step: 0.5 / (1 + 0.3 * (step // 4)),
    ),
    "polynomial": (
        optim.PolynomialDecay(1.0, 8, 0.1, power=2.0),
        lambda step: 0.9 * (1 - min(step, 8) / 8) ** 2 + 0.1,
    ),
    "cycle": (optim.PolynomialDecay(1.0, 5, 0.1, power=2.0, cycle=True), cycled),
}


@pytest.mark.parametrize("case", CASES)
def test_schedules_match_their_formulas(case: str) -> None:
    schedule, formula = CASES[case]
    assert isinstance(schedule, optim.Schedule)
    np.testing.assert_allclose(rates(schedule), [formula(i) for i in range(STEPS)], rtol=1e-5)


@pytest.mark.parametrize(
    ("schedule", "formula"),
    [
        (optim.ExponentialDecay(1.0, 1000, 0.9995, staircase=True), lambda n: 0.9995**n),
        (optim.InverseTimeDecay(1.0, 1000, 1.0, staircase=True), lambda n: 1 / (1 + n)),
    ],
)
def test_stairs_begin_at_their_step_however_late(
    schedule: optim.Schedule, formula: Callable[[float], float]
) -> None:
    steps = np.array([999, 1000, 5_386_999, 5_387_000, 16_776_999, 16_777_000])
    with pg.Graph().as_default() as graph:
        step = pg.placeholder("float32", steps.shape)
        rate = schedule.rate(pg.constant(1.0), step)
    with pg.Session(graph, "cpu") as session:
        actual = session.run(rate, {step: steps.astype(np.float32)})
    np.testing.assert_allclose(actual, [formula(n // 1000) for n in steps], rtol=2e-5)


def test_one_cycle_matches_pytorch() -> None:
    optimizer = torch.optim.SGD([torch.zeros(1)], 1.0)
    theirs = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.6, total_steps=STEPS, pct_start=0.4)
    expected = []
    for _ in range(STEPS):
        expected.append(theirs.get_last_lr()[0])
        optimizer.step()
        if len(expected) < STEPS:
            theirs.step()
    schedule = optim.OneCycle(0.6, STEPS, pct_start=0.4)
    np.testing.assert_allclose(rates(schedule), expected, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(
        rates(optim.OneCycle(0.6, 6, pct_start=0.4))[6:], [0.6 / 25e4] * 6, rtol=1e-3
    )


@pytest.mark.parametrize("case", ["piecewise", "cosine", "polynomial"])
def test_an_assigned_rate_takes_effect(case: str) -> None:
    schedule, _ = CASES[case]
    assert rates(schedule, 0.5)[1] < 0.7 * rates(schedule)[1]


def test_a_schedule_trains() -> None:
    with pg.Graph().as_default() as graph:
        w = pg.Variable(0.0, name="w")
        update = optim.SGD(optim.PiecewiseConstantDecay([1], [1.0, 0.25])).minimize(w * 1.0)
    with pg.Session(graph, "cpu") as session:
        session.repeat(update, 4)
        assert float(session.value(w)) == -2.5


def test_wrong_arguments_are_refused() -> None:
    for make, words in (
        (lambda: optim.PiecewiseConstantDecay([1, 2], [1.0]), "one value more than boundaries"),
        (lambda: optim.PiecewiseConstantDecay([2, 1], [1.0, 1.0, 1.0]), "must increase"),
        (lambda: optim.PiecewiseConstantDecay([2], [1.0, -1.0]), "positive numbers"),
        (lambda: optim.CosineDecay(0.1, 0), "must be positive"),
        (lambda: optim.CosineDecay(0.1, 5, warmup_steps=3), "need a warmup_target"),
        (lambda: optim.InverseTimeDecay(0.1, 0, 1), "must be positive"),
        (lambda: optim.PolynomialDecay(0.1, 5, power=0), "must be positive"),
        (lambda: optim.OneCycle(0.1, 3, pct_start=0.1), "pct_start above 1"),
        (lambda: optim.OneCycle(0.1, 9, div_factor=0), "must be positive"),
    ):
        with pytest.raises(ValueError, match=words):
            make()
