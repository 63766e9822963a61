"""Gradients over all of float32: none is NaN where the result and the derivative are finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.contract.cases import operations
from playgrad.contract.interpreter import evaluate
from playgrad.contract.special_values import is_plain
from playgrad.graph.opdef import OpDef

Array = np.ndarray[Any, Any]
# On both sides of where exp overflows (88.7), its square does (44.4), tanh rounds to 1, ...
SIZES = np.array(
    [
        *(0.0, 1e-45, 1e-42, 1.2e-38, 1e-30, 1e-20, 1e-10, 1e-7, 1e-4, 0.01, 0.3, 0.5, 0.999),
        *(1, 1.5, 2, 3, 5, 7, 9, 10, 15, 17, 20, 30, 43, 44, 45, 60, 80, 88, 88.7, 88.8, 89, 90),
        *(103, 104, 178, 200, 1e3, 1e4, 1e7, 1e10, 1e15, 1e18, 1.8e19, 2e19, 1e25, 1e30, 3e38),
    ],
    np.float32,
)
NUMBERS = np.concatenate([-SIZES[::-1], SIZES])
PLAIN = [op for op in operations() if is_plain(op) and op.gradient is not None]
UNARY: dict[str, Callable[[pg.Tensor], pg.Tensor]] = {
    op.name: lambda x, op=op: x.graph.add(op, [x]).output  # type: ignore[misc]
    for op in PLAIN
    if len(op.samples[0].inputs) == 1
}
UNARY |= {
    "elu of 2": lambda x: pg.elu(x, 2.0),
    "celu": pg.celu,
    "celu of 0.5": lambda x: pg.celu(x, 0.5),
    "leaky_relu": pg.leaky_relu,
    "cube": lambda x: x**3.0,
    "root": lambda x: x**0.5,
}
BINARY = [op for op in PLAIN if len(op.samples[0].inputs) == 2]


def derivatives(y: pg.Tensor, xs: list[pg.Tensor]) -> list[pg.Tensor]:
    return [d for d in pg.gradients(pg.reduce_sum(y), xs) if d is not None]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", UNARY)
def test_of_one_argument(name: str) -> None:
    with pg.Graph().as_default():
        x = pg.placeholder("float32", NUMBERS.shape)
        y = UNARY[name](x)
        (first,) = derivatives(y, [x])
        second = derivatives(first, [x]) or [first]
        result, slope, curvature = evaluate([y, first, *second], {x: NUMBERS})
    assert not NUMBERS[np.isnan(slope) & np.isfinite(result)].size
    assert not NUMBERS[np.isnan(curvature) & np.isfinite(result) & np.isfinite(slope)].size


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.name)
def test_of_two_arguments(op: OpDef) -> None:
    """The derivatives of a power by its exponent exist for positive bases."""
    numbers = NUMBERS[(NUMBERS == 0) | (np.abs(NUMBERS) >= 1e-30)][::2]
    a, b = (grid.ravel() for grid in np.meshgrid(numbers, numbers))
    if op.name == "pow":
        a, b = a[a > 0], b[a > 0]
    with pg.Graph().as_default() as graph:
        xs = [pg.placeholder("float32", a.shape) for _ in range(2)]
        y = graph.add(op, xs).output
        firsts = derivatives(y, xs)
        result, *slopes = evaluate([y, *firsts], dict(zip(xs, (a, b), strict=True)))
    for slope in slopes:
        wrong = np.isnan(slope) & np.isfinite(result)
        assert not np.column_stack([a, b])[wrong].size


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_on_a_gpu() -> None:
    numbers = NUMBERS[(NUMBERS == 0) | (np.abs(NUMBERS) >= 1.2e-38)]  # others may be 0 there
    with pg.Graph().as_default() as graph, graph.device("gpu:0"):
        x = pg.placeholder("float32", numbers.shape)
        slopes = [derivatives(function(x), [x])[0] for function in UNARY.values()]
    expected = evaluate(slopes, {x: numbers})
    with pg.Session(graph, "gpu") as session:
        actual = session.run(slopes, {x: numbers})
    for name, a, b in zip(UNARY, actual, expected, strict=True):
        wrong = np.isnan(a) & np.isfinite(b)
        assert not numbers[wrong].size, name
