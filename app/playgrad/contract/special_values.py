"""Elementwise operations at the edges of each dtype, and near 0, on a device.

Every elementwise operation is checked with every dtype that it accepts, without samples: NaN,
infinity, zeros of both signs, the smallest and largest integers, division by 0, bytes that wrap.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from playgrad.contract.comparison import BrokenRuleError, expect_close
from playgrad.errors import DTypeError, PlaygradError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array, OpDef
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops import placeholder
from playgrad.runtime.session import Session

_INFINITY = float("inf")
SPECIAL = {
    "float32": np.array(
        [np.nan, _INFINITY, -_INFINITY, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 7.25], np.float32
    ),
    "float16": np.array(
        [np.nan, _INFINITY, -_INFINITY, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 7.25, 6e-8], np.float16
    ),
    "int32": np.array([-(2**31), 2**31 - 1, 0, 1, -1, 2, -7, 46341], np.int32),
    "uint32": np.array([0, 1, 2, 7, 2**31, 2**32 - 1], np.uint32),
    "uint8": np.array([0, 1, 2, 100, 200, 255], np.uint8),
    "int8": np.array([-128, 127, 0, 1, -1, 2, -7, 100], np.int8),
    "bool": np.array([False, True]),
}
"""The values by dtype; of several inputs, all combinations are tried."""
_HALF = (2.0**-10, 2.0**-24)
"""Tolerances of float16: where float32 differs a little, the other one of two neighbours."""
SMALL = np.array([1e-6, -1e-6, 1e-4, -1e-4, 0.003, -0.003, 0.05, -0.05, 0.3, -0.3], np.float32)
"""Arguments near 0, where a difference of larger numbers loses a small result."""


def is_plain(op: OpDef) -> bool:
    """Return whether ``op`` is an elementwise operation without attributes."""
    if op.elementwise is None or op.writes:
        return False
    try:
        op.elementwise.build({})
    except (KeyError, PlaygradError):  # it has attributes without defaults
        return False
    return True


def _inputs(op: OpDef, kind: str) -> list[Array]:
    """Return all combinations of special values, as inputs of one shape."""
    kinds = [kind] * len(op.samples[0].inputs)
    if op.name == "where":
        kinds[0] = "bool"
    grids: Iterable[Array] = np.meshgrid(*(SPECIAL[each] for each in kinds), indexing="ij")
    return [grid.ravel() for grid in grids]


def check_special_values(op: OpDef, device: str) -> None:
    """Check ``op`` with special values of each dtype that it accepts, in one run."""
    expected: list[Array] = []
    fetches: list[Tensor] = []
    feeds: dict[Tensor, Array] = {}
    graph = Graph()
    with graph.as_default(), graph.device(device):
        groups = [_inputs(op, kind) for kind in SPECIAL]
        if len(op.samples[0].inputs) == 1:
            groups.append([SMALL])
        for arrays in groups:
            tensors = [placeholder(array.dtype, array.shape) for array in arrays]
            try:
                fetches.append(graph.add(op, tensors).output)
            except DTypeError:
                continue
            feeds |= dict(zip(tensors, arrays, strict=True))
            (result,) = op.reference(arrays, {})
            expected.append(result)
    if not fetches:
        raise BrokenRuleError("it accepts no dtype.")
    with Session(graph, device=device) as session:
        for actual, reference in zip(session.run(fetches, feeds), expected, strict=True):
            # Small results may not have large relative errors.
            rtol, atol = _HALF if reference.dtype == np.float16 else (1e-4, 1e-12)
            expect_close("the result at special values", actual, reference, rtol, atol)


def check_small_arguments(op: OpDef) -> None:
    """Check that the float32 reference of a function of one argument is accurate near 0."""
    if len(op.samples[0].inputs) != 1:
        return
    try:
        op.infer([TensorSpec(SMALL.shape, "float32")], {})
    except DTypeError:
        return
    (single,), (double,) = (op.reference([x], {}) for x in (SMALL, SMALL.astype(np.float64)))
    expect_close("the float32 result near 0", single.astype(double.dtype), double, 1e-6, 0.0)
