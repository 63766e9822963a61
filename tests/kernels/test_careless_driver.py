"""The op contract on a driver that takes the liberties of WGSL, which software adapters do not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import playgrad as pg
from playgrad.contract.cases import cases_of, operations
from playgrad.contract.non_finite import check_non_finite
from playgrad.contract.on_device import check_gradients, check_values
from playgrad.contract.special_values import check_special_values, is_plain
from playgrad.graph.opdef import OpDef
from tests.drivers.careless import as_careless_driver, careless_gpu
from tests.sweeps import slow

pytestmark = pytest.mark.gpu
PLAIN = [op for op in operations() if is_plain(op)]
OTHERS = [op for op in operations() if op.lower is not None and op not in PLAIN]
STRUCTURED = [op for op in OTHERS if op.elementwise is None and not op.writes]


@pytest.fixture(scope="module")
def careless() -> Iterator[str]:
    with careless_gpu() as name:
        yield name


@pytest.mark.parametrize("op", PLAIN, ids=lambda op: op.name)
def test_elementwise_operations_agree_at_special_values(op: OpDef, careless: str) -> None:
    check_special_values(op, careless)


@pytest.mark.parametrize("op", STRUCTURED, ids=lambda op: op.name)
def test_non_finite_numbers_reach_what_depends_on_them(op: OpDef, careless: str) -> None:
    check_non_finite(op, cases_of(op), careless)


@pytest.mark.parametrize("op", slow(*STRUCTURED), ids=lambda op: op.name)
def test_non_finite_numbers_do_so_on_other_drivers(op: OpDef) -> None:
    check_non_finite(op, cases_of(op), "gpu:0")


@pytest.mark.parametrize("op", slow(*OTHERS), ids=lambda op: op.name)
def test_values_agree(op: OpDef, careless: str) -> None:
    check_values(op, cases_of(op), careless)


GRADIENTS = [op for op in operations() if any(case.differentiable for case in cases_of(op))]


@pytest.mark.parametrize(
    "op",
    # A row of one element has the gradient 0, also where a quotient is not exact.
    [op if op.name == "layer_normalization" else slow(op)[0] for op in GRADIENTS],
    ids=lambda op: op.name,
)
def test_gradients_agree(op: OpDef, careless: str) -> None:
    check_gradients(op, cases_of(op), careless)


@pytest.mark.parametrize(
    ("wgsl", "x", "expected"),
    [
        ("select(x[i], 0.0, x[i] < 0.0)", np.nan, 0.0),
        ("select(0.0, 1.0, x[i] != x[i])", np.nan, 0.0),
        ("exp(x[i])", np.nan, 0.0),
        ("floor(x[i] / 3.0)", 9.0, 2.0),
        ("x[i] * x[i] - 1.21", 1.1, -(2.0**-23)),
        ("f32(i32(x[i]) % 5)", -6.0, 0.0),
    ],
)
def test_the_driver_is_careless(wgsl: str, x: float, expected: float, careless: str) -> None:
    function = pg.register_op(
        "careless",
        reference=lambda x: x,
        wgsl=f"fn element(i: u32) -> f32 {{ return {wgsl}; }}",
    )
    with pg.Graph().as_default() as graph, graph.device(careless):
        fed = pg.placeholder("float32", (1,))
        result = function(fed)
    with pg.Session(graph, device=careless) as session:
        assert session.run(result, {fed: np.array([x], np.float32)}) == [expected]


def test_other_wgsl_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected fn or struct"):
        as_careless_driver("diagnostic(off, derivative_uniformity);")
