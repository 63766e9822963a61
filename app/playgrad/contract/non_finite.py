"""The rule that a NaN or an infinity in an input reaches every result that depends on it.

A device that loses it makes a network that diverged look healthy. Where a result does not depend on
the element, because it is multiplied by 0 or a mask hides it, NaN is allowed as well as the number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from playgrad.contract.cases import Case, CaseNode, add_case
from playgrad.contract.comparison import BrokenRuleError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array, OpDef
from playgrad.runtime.session import Session

_NON_FINITE = (np.nan, np.inf)
_FAR = 1e3
"""The element is changed to this number and its negative to find out which results depend on it."""


def check_non_finite(op: OpDef, cases: Sequence[Case], device: str) -> None:
    """Check ``cases`` of ``op``, which writes no variables, with one element NaN, or infinite."""
    graph = Graph()
    nodes = [add_case(case, graph, device=device) for case in cases]
    with Session(graph, device=device) as session, np.errstate(all="ignore"):
        for value in _NON_FINITE:
            for number in range(max(len(case.sample.inputs) for case in cases)):
                changed = [_changed(one.case, number, value) for one in nodes]
                feeds = {
                    tensor: array
                    for one, case in zip(nodes, changed, strict=True)
                    for tensor, array in zip(one.values, case.sample.inputs, strict=True)
                }
                results = session.run([list(one.node.outputs) for one in nodes], feeds)
                for one, case, arrays in zip(nodes, changed, results, strict=True):
                    if case is not one.case:
                        _expect_reached(one, case, number, value, arrays)


def _changed(case: Case, number: int, value: float) -> Case:
    """Return ``case`` with ``value`` in the middle of an input, if that is of floats."""
    inputs = list(case.sample.inputs)
    if number >= len(inputs) or inputs[number].dtype != np.float32 or not inputs[number].size:
        return case
    inputs[number] = inputs[number].copy()
    inputs[number].flat[inputs[number].size // 2] = value
    return replace(case, sample=replace(case.sample, inputs=tuple(inputs)))


def _expect_reached(
    one: CaseNode, case: Case, number: int, value: float, results: Sequence[Array]
) -> None:
    for output, (actual, expected, depends) in enumerate(
        zip(results, _reference(case), _depends(one.case, number), strict=True)
    ):
        scale = np.abs(expected, where=np.isfinite(expected), out=np.zeros(expected.shape)).max(
            initial=0.0
        )
        tolerance = case.sample.tolerance
        atol = max(tolerance * scale, 1e-6)
        same = np.isclose(actual, expected, tolerance, atol, equal_nan=True)
        if expected.dtype.kind == "f":
            same |= ~depends & (np.isnan(actual) | ~np.isfinite(expected))
            if value == np.inf:  # inf - inf depends on the order of additions
                same |= ~np.isfinite(actual) & ~np.isfinite(expected)
        if not np.all(same):
            place = tuple(int(i) for i in np.argwhere(~same)[0])
            raise BrokenRuleError(
                f"with {value} in input {number} of sample {case.number}, result {output} is "
                f"{actual[place]} at {place} instead of {expected[place]}."
            )


def _reference(case: Case) -> list[Array]:
    return list(case.op.reference(list(case.sample.inputs), case.sample.attrs))


def _depends(case: Case, number: int) -> Iterator[Array]:
    """Return for each result which of its elements depend on the middle one of an input."""
    above, below = (_reference(_changed(case, number, far)) for far in (_FAR, -_FAR))
    for a, b in zip(above, below, strict=True):
        yield ~np.isclose(a, b, rtol=1e-6, atol=0.0, equal_nan=True)
