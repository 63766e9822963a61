"""Optimizers, weight decay, clipping and moving averages compared with PyTorch, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad import optim

Array = np.ndarray[Any, Any]
STEPS = 12
random = np.random.default_rng(3)
A, B = random.normal(size=(4, 3)), random.normal(size=3)
X = 0.7 * random.normal(size=(STEPS, 8, 4))
DEVICES = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]


def ours(optimizer: pg.optim.Optimizer, device: str = "cpu") -> list[Array]:
    """Return the weights after STEPS steps on the batches X."""
    with pg.Graph().as_default() as graph:
        a, b = pg.Variable(A.astype(np.float32), "a"), pg.Variable(B.astype(np.float32), "b")
        x = pg.placeholder("float32", (8, 4))
        y = pg.tanh(pg.matmul(x, a) + b)
        update = optimizer.minimize(pg.reduce_sum(y * y * y))
    with pg.Session(graph, device) as session:
        for batch in X:
            session.run(update, {x: batch.astype(np.float32)})
        return [session.value(a), session.value(b)]


def theirs(
    make: Callable[[list[torch.Tensor]], torch.optim.Optimizer],
    clip: Callable[[list[torch.Tensor]], Any] = lambda weights: None,
    after: Callable[[list[torch.Tensor]], Any] = lambda weights: None,
) -> list[Array]:
    """Return the same in float64.

    Args:
        clip: is called with the weights before each update.
        after: is called with the weights after each update.
    """
    a, b = (torch.tensor(array, requires_grad=True) for array in (A, B))
    optimizer = make([a, b])
    for batch in X:
        optimizer.zero_grad()
        y = torch.tanh(torch.tensor(batch) @ a + b)
        (y * y * y).sum().backward()
        clip([a, b])
        optimizer.step()
        after([a, b])
    return [a.detach().numpy(), b.detach().numpy()]


# PyTorch adds epsilon to the root, Keras to the square: with a tiny one there is no difference.
OPTIMIZERS: dict[str, tuple[Callable[[], optim.Optimizer], Any]] = {
    "adam with decay": (
        lambda: optim.Adam(0.01, epsilon=1e-6, weight_decay=0.1),
        lambda w: torch.optim.AdamW(w, 0.01, eps=1e-6, weight_decay=0.1),
    ),
    "adamw": (
        lambda: optim.AdamW(0.01, epsilon=1e-6),
        lambda w: torch.optim.AdamW(w, 0.01, eps=1e-6, weight_decay=0.004),
    ),
    "adam amsgrad": (
        lambda: optim.Adam(0.05, beta_2=0.5, epsilon=1e-6, amsgrad=True),
        lambda w: torch.optim.Adam(w, 0.05, betas=(0.9, 0.5), eps=1e-6, amsgrad=True),
    ),
    "adamw amsgrad": (
        lambda: optim.AdamW(0.05, beta_2=0.5, epsilon=1e-6, amsgrad=True),
        lambda w: torch.optim.AdamW(
            w, 0.05, betas=(0.9, 0.5), eps=1e-6, amsgrad=True, weight_decay=0.004
        ),
    ),
    "rmsprop": (
        lambda: optim.RMSprop(0.01, rho=0.8, epsilon=1e-14),
        lambda w: torch.optim.RMSprop(w, 0.01, alpha=0.8, eps=1e-7),
    ),
    "rmsprop momentum": (
        lambda: optim.RMSprop(0.005, momentum=0.7, epsilon=1e-14),
        lambda w: torch.optim.RMSprop(w, 0.005, alpha=0.9, momentum=0.7, eps=1e-7),
    ),
    "rmsprop centred": (
        lambda: optim.RMSprop(0.01, centered=True, epsilon=1e-14),
        lambda w: torch.optim.RMSprop(w, 0.01, alpha=0.9, centered=True, eps=1e-7),
    ),
    "rmsprop centred momentum": (
        lambda: optim.RMSprop(0.005, momentum=0.5, centered=True, epsilon=1e-14),
        lambda w: torch.optim.RMSprop(w, 0.005, alpha=0.9, momentum=0.5, centered=True, eps=1e-7),
    ),
    "adadelta": (
        lambda: optim.Adadelta(1.0, rho=0.9, epsilon=1e-4),
        lambda w: torch.optim.Adadelta(w, 1.0, rho=0.9, eps=1e-4),
    ),
    "adamax": (
        lambda: optim.Adamax(0.02, beta_2=0.9, epsilon=1e-12),
        lambda w: torch.optim.Adamax(w, 0.02, betas=(0.9, 0.9), eps=1e-12),
    ),
    "adagrad": (
        lambda: optim.Adagrad(0.1, epsilon=1e-14),
        lambda w: torch.optim.Adagrad(w, 0.1, initial_accumulator_value=0.1, eps=1e-7),
    ),
}


@pytest.mark.parametrize("case", OPTIMIZERS)
def test_optimizers_match_pytorch(case: str) -> None:
    make, make_theirs = OPTIMIZERS[case]
    for value, expected in zip(ours(make()), theirs(make_theirs), strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-4, atol=2e-5)


class TorchLion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al. 2023; PyTorch has no Lion."""

    def __init__(self, weights: list[torch.Tensor], rate: float, decay: float) -> None:
        super().__init__(weights, {"rate": rate, "decay": decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        (group,) = self.param_groups
        for w in group["params"]:
            m = self.state[w].setdefault("m", torch.zeros_like(w))
            direction = torch.sign(0.9 * m + 0.1 * w.grad)
            w.sub_(group["rate"] * (direction + group["decay"] * w))
            m.mul_(0.99).add_(w.grad, alpha=0.01)


@pytest.mark.parametrize("device", DEVICES)
def test_lion_matches_a_pytorch_implementation(device: str) -> None:
    """On the GPU as well, with decay and clipping; the op contract holds every update there."""

    def clip(weights: list[torch.Tensor]) -> None:
        torch.nn.utils.clip_grad_norm_(weights, 0.8)

    values = ours(optim.Lion(0.01, weight_decay=0.5, global_clipnorm=0.8), device)
    expected_values = theirs(lambda w: TorchLion(w, 0.01, 0.5), clip)
    for value, expected in zip(values, expected_values, strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-5, atol=2e-6)


def clip_each(weights: list[torch.Tensor]) -> None:
    for w in weights:
        torch.nn.utils.clip_grad_norm_([w], 0.5)


CLIPPING: dict[str, tuple[dict[str, float], Any]] = {
    "clipvalue": ({"clipvalue": 0.3}, lambda w: torch.nn.utils.clip_grad_value_(w, 0.3)),
    "clipnorm": ({"clipnorm": 0.5}, clip_each),
    "global_clipnorm": (
        {"global_clipnorm": 0.8},
        lambda w: torch.nn.utils.clip_grad_norm_(w, 0.8),
    ),
    "loose": ({"global_clipnorm": 1e9}, lambda w: None),
}


@pytest.mark.parametrize("case", CLIPPING)
def test_gradient_clipping_matches_pytorch(case: str) -> None:
    options, clip = CLIPPING[case]
    values = ours(optim.SGD(0.05, **options))  # type: ignore[arg-type]
    expected = theirs(lambda w: torch.optim.SGD(w, 0.05), clip)
    for value, other in zip(values, expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=2e-4, atol=2e-5)
    free = theirs(lambda w: torch.optim.SGD(w, 0.05))
    assert (abs(expected[0] - free[0]).max() > 1e-2) == (case != "loose")


def test_a_gradient_of_zeros_is_not_scaled_to_nan() -> None:
    for name in ("clipnorm", "global_clipnorm"):
        with pg.Graph().as_default() as graph:
            w = pg.Variable([1.0, 2.0], "w")
            update = optim.SGD(0.1, **{name: 1.0}).minimize(pg.reduce_sum(w * 0.0))  # type: ignore[arg-type]
        with pg.Session(graph, "cpu") as session:
            session.run(update)
            np.testing.assert_array_equal(session.value(w), [1, 2])


def test_moving_averages_of_the_weights_match_pytorch() -> None:
    average: list[Array] = []

    def after(weights: list[torch.Tensor]) -> None:
        values = [w.detach().numpy().copy() for w in weights]
        average[:] = [
            0.7 * mean + 0.3 * value for mean, value in zip(average or values, values, strict=True)
        ]

    theirs(lambda w: torch.optim.SGD(w, 0.05), after=after)
    optimizer = optim.SGD(0.05, use_ema=True, ema_momentum=0.7)
    with pg.Graph().as_default() as graph:
        a, b = pg.Variable(A.astype(np.float32), "a"), pg.Variable(B.astype(np.float32), "b")
        x = pg.placeholder("float32", (8, 4))
        y = pg.tanh(pg.matmul(x, a) + b)
        update = optimizer.minimize(pg.reduce_sum(y * y * y))
    with pg.Session(graph, "cpu") as session:
        for batch in X:
            session.run(update, {x: batch.astype(np.float32)})
        for variable, expected in zip((a, b), average, strict=True):
            mean = optimizer.average_of(variable)
            assert mean is not None
            np.testing.assert_allclose(session.value(mean), expected, rtol=2e-5, atol=2e-6)


def test_weight_decay_skips_excluded_variables() -> None:
    optimizer = optim.SGD(0.5, weight_decay=0.1)
    with pg.Graph().as_default() as graph:
        weights = [
            pg.Variable(1.0, name) for name in ("dense/kernel", "dense/bias", "norm/gamma", "norm")
        ]
        loss = weights[0] * 0.0
        for weight in weights[1:]:
            loss = loss + weight * 0.0
        optimizer.exclude_from_weight_decay([weights[2]], ["bias"])
        update = optimizer.minimize(loss)
    with pg.Session(graph, "cpu") as session:
        session.run(update)
        values = [float(session.value(weight)) for weight in weights]
    np.testing.assert_allclose(values, [0.95, 1, 1, 0.95], rtol=1e-6)
