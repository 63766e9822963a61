"""Gradients of reductions, losses and layers over all of float32.

None is NaN where the result and the derivative are finite: the latter by the same graph in float64,
where intermediate results of these numbers are in range.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.contract.interpreter import evaluate
from playgrad.nn.loss import BY_KIND, Loss

Array = np.ndarray[Any, Any]
Function = Callable[[pg.Tensor], pg.Tensor]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def rows(sizes: list[float], width: int = 3) -> Array:
    numbers = sorted({sign * size for size in sizes for sign in (1, -1)})
    return np.array(list(itertools.product(numbers, repeat=width)), np.float32)


ALL = rows([0, 1e-45, 1e-42, 1.2e-38, 1e-20, 1e-3, 1.5, 89, 1e10, 2e19, 3e38])
MODERATE = rows([0, 1e-9, 1e-3, 1.5, 89, 1e9])
"""For the second derivatives of the norm of order 0.5, which divide by powers of the numbers."""

OPERATIONS: dict[str, Function] = {
    **{
        name: lambda x, name=name: getattr(pg, name)(x, axis=1)  # type: ignore[misc]
        for name in ("sum", "mean", "max", "min", "prod", "std", "logsumexp", "norm", "cumsum")
    },
    **{
        name: lambda x, name=name: getattr(pg, name)(x)  # type: ignore[misc]
        for name in ("softmax", "log_softmax")
    },
    "norm 1": lambda x: pg.norm(x, 1, axis=1),
    "norm inf": lambda x: pg.norm(x, float("inf"), axis=1),
}
POWERS: dict[str, Function] = {
    f"norm {order}": lambda x, order=order: pg.norm(x, order, axis=1)  # type: ignore[misc]
    for order in (0.5, 1.5, 3, -1, -2)
}


def of_loss(loss: Loss, targets: list[float]) -> Function:
    def function(x: pg.Tensor) -> pg.Tensor:
        rows_of = int(x.shape[0] or 0)
        if "sparse" in loss.kind:
            return loss.per_sample(pg.constant(np.ones(rows_of, np.int32)), x)
        return loss.per_sample(pg.constant(np.tile(targets, (rows_of, 1)), x.dtype), x)

    return function


LOSSES: dict[str, Function] = {}
for kind, cls in BY_KIND.items():
    if kind in ("custom", "ctc"):
        continue
    LOSSES[kind] = of_loss(cls(), [0.0, 1.0, 0.0])
    LOSSES[f"{kind} of signs"] = of_loss(cls(), [1.0, -1.0, 1.0])
    if "crossentropy" in kind:
        LOSSES[f"{kind} of logits"] = of_loss(cls(from_logits=True), [0.0, 1.0, 0.0])


def derivatives(y: pg.Tensor, x: pg.Tensor) -> list[pg.Tensor]:
    """Return the first derivative, and the second one by the first element of each row."""
    (first,) = pg.gradients(pg.reduce_sum(y), [x])
    assert first is not None
    (second,) = pg.gradients(pg.reduce_sum(first[:, 0]), [x])
    return [first] if second is None else [first, second]


def values(function: Function, x: Array, dtype: str, device: str | None) -> list[Array]:
    """Return the result and its derivatives; ``device`` None evaluates node by node."""
    with pg.Graph().as_default() as graph:
        tensor = pg.placeholder(dtype, x.shape)
        y = function(tensor)
        fetches, feeds = [y, *derivatives(y, tensor)], {tensor: x.astype(dtype)}
        if device is None:
            return [by_row(value, len(x)) for value in evaluate(fetches, feeds)]
        with pg.Session(graph, device) as session:
            return [by_row(value, len(x)) for value in session.run(fetches, feeds)]


def by_row(value: Array, count: int) -> Array:
    return np.asarray(value).reshape(count, -1)


def representable(value: Array) -> Array:
    return np.abs(value) < float(np.finfo(np.float32).max)


def check(function: Function, x: Array, device: str | None, order: int = 2) -> None:
    """Check derivatives up to ``order``; second ones where numbers have a reciprocal in range."""
    exact = values(function, x, "float64", None)
    actual = values(function, x, "float32", device)
    sound = np.ones(len(x), bool)
    for number, (true, value) in enumerate(zip(exact[: order + 1], actual, strict=False)):
        if number == 2:
            sound &= ((x == 0) | (np.abs(x) > 1e-37)).all(1)
        if number:
            # Of a row some of whose derivatives are out of range, others may be lost with them.
            wrong = sound & representable(true).all(1) & np.isnan(value).any(1)
            assert not x[wrong].size, x[wrong][0]
        sound &= np.isfinite(value).all(1)


@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_of_an_operation(name: str, device: str | None) -> None:
    check(OPERATIONS[name], ALL, device)


@pytest.mark.parametrize("name", POWERS)
def test_of_a_norm_of_another_order(name: str) -> None:
    check(POWERS[name], ALL, None, order=1 if name == "norm 0.5" else 2)
    check(POWERS[name], MODERATE, None)


@pytest.mark.parametrize("name", LOSSES)
def test_of_a_loss(name: str) -> None:
    if name == "categorical_crossentropy of signs":
        # Negative shares of a sum near 0: the square of its reciprocal is out of range.
        check(LOSSES[name], ALL, None, order=1)
        check(LOSSES[name], ALL[((ALL == 0) | (np.abs(ALL) >= 1e-3)).all(1)], None)
    else:
        check(LOSSES[name], ALL, None)


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    some = ALL[(np.abs(ALL) >= 1.2e-38).all(1)][::7]  # smaller numbers may be 0 there
    for function in (OPERATIONS["prod"], OPERATIONS["norm"], LOSSES["cosine_similarity"]):
        check(function, some, "gpu:0")
    sizes = [0, 1e-20, 1.5, 1e4, 2e19, 1e30, 5e37]  # of which sums are in range
    for name in ("layer normalization", "RMS normalization"):
        make, shape = LAYERS[name]
        check_layer(make(), rows(sizes, 4)[::11], shape, "gpu:0")  # 13 would fix the last number


def test_a_derivative_of_a_product_is_the_product_of_the_others() -> None:
    inf = float("inf")
    x = np.array(
        [[0, 2, 3], [0, 0, 3], [inf, 2, -3], [3e38, 3e38, 1e-30], [1e-45, 3e38, 2]], np.float32
    )
    _, first, second = values(OPERATIONS["prod"], x, "float32", "cpu")
    expected = np.stack([x[:, 1] * x[:, 2], x[:, 0] * x[:, 2], x[:, 0] * x[:, 1]], 1)
    np.testing.assert_allclose(first, expected, 1e-6)
    some = [0, 1, 3]  # the others divide by infinity, or by a number without a reciprocal
    expected = np.stack([0 * x[:, 1], x[:, 2], x[:, 1]], 1)
    np.testing.assert_allclose(second[some], expected[some], 1e-6, 1e-36)


def test_norms_are_right_where_squares_are_out_of_range() -> None:
    x = np.array([[3e30, 4e30], [3e-30, 4e-30], [3e38, 0], [0, 0]], np.float32)
    for function in (lambda x: pg.norm(x, axis=1), lambda x: pg.norm(x, 2.0, axis=1)):
        y, first, *_ = values(function, x, "float32", "cpu")
        np.testing.assert_allclose(y[:, 0], [5e30, 5e-30, 3e38, 0], 1e-6)
        np.testing.assert_allclose(first, [[0.6, 0.8], [0.6, 0.8], [1, 0], [0, 0]], 1e-6)


LAYERS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "layer normalization": (nn.LayerNormalization, (4,)),
    "layer normalization along two axes": (lambda: nn.LayerNormalization(axis=(1, 2)), (2, 2)),
    "RMS normalization": (nn.RMSNormalization, (4,)),
    "group normalization": (lambda: nn.GroupNormalization(2), (4,)),
    "cosine of layers": (lambda: NormalizedDot(), (2, 2)),
    "LSTM": (lambda: nn.LSTM(2), (2, 2)),
    "GRU": (lambda: nn.GRU(2), (2, 2)),
    "SimpleRNN": (lambda: nn.SimpleRNN(2), (2, 2)),
    "max pooling": (lambda: nn.MaxPooling2D(2), (2, 2, 1)),
    "average pooling": (lambda: nn.AveragePooling2D(2), (2, 2, 1)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_of_a_layer(name: str) -> None:
    make, shape = LAYERS[name]
    check_layer(make(), rows([0, 1e-45, 1e-20, 1.5, 1e4, 2e19, 1e30, 3e38], 4)[::5], shape)


def test_of_batch_normalization() -> None:
    """Of channels in place of rows."""
    layer = nn.BatchNormalization()
    x = rows([0, 1e-45, 1e-20, 1.5, 1e4, 2e19, 1e30, 3e38], 4)[::5]
    check_layer(
        lambda y, training: pg.transpose(layer(pg.transpose(y), training=training)), x, (4,)
    )


def test_of_attention() -> None:
    """Of numbers whose products, the scores, are in range."""
    attention = nn.MultiHeadAttention(1, 2)
    x = rows([0, 1e-45, 1e-20, 1.5, 1e4, 1e9], 4)[::5]
    check_layer(lambda y, training: attention(y, y), x, (2, 2))


class NormalizedDot:
    """The cosines of the steps of a sequence."""

    def __init__(self) -> None:
        self._dot = nn.Dot(2, normalize=True)

    def __call__(self, x: pg.Tensor, training: bool) -> pg.Tensor:
        return self._dot([x, x])


def check_layer(
    layer: Callable[..., pg.Tensor], x: Array, shape: tuple[int, ...], device: str = "cpu"
) -> None:
    with pg.Graph().as_default() as graph:
        tensor = pg.placeholder("float32", (len(x), *shape))
        fetches = [layer(tensor, training=True)]
        for seed in range(2):
            *_, y = fetches
            weights = np.random.default_rng(seed).normal(size=y.shape).astype(np.float32)
            (slope,) = pg.gradients(pg.reduce_sum(y * weights), [tensor])
            if slope is not None:
                fetches.append(slope)
        with pg.Session(graph, device) as session:
            results = session.run(fetches, {tensor: x.reshape(tensor.shape)})
    sound = np.isfinite(by_row(results[0], len(x))).all(1)
    assert sound.any()
    for result in results[1:]:
        wrong = sound & np.isnan(by_row(result, len(x))).any(1)
        assert not x[wrong].size, x[wrong][0]
        sound &= np.isfinite(by_row(result, len(x))).all(1)
