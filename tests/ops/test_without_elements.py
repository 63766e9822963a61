"""Operations on tensors without elements, alone and beside others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from playgrad.contract.cases import Case, add_case, cases_of, operations
from playgrad.contract.without_elements import without_elements
from playgrad.errors import PlaygradError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import OpDef
from playgrad.runtime.session import Session

# The compiler creates these for shapes that are known to fit.
FITTED = ("with_epilogue", "recurrence")
OPERATIONS = [op for op in operations() if not op.writes and op.name not in FITTED]


def empty_cases(op: OpDef) -> list[tuple[Case, list[Any]]]:
    """Return the cases that have a result, with that; others are refused."""
    found = []
    for case in cases_of(op):
        for empty in without_elements(case):
            try:
                result = op.reference(list(empty.sample.inputs), empty.sample.attrs)
            except PlaygradError:
                continue
            found.append((empty, list(result)))
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # means of nothing
@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_there_is_a_result_or_a_typed_error(op: OpDef) -> None:
    for case, results in empty_cases(op):
        assert [array.dtype for array in results] == [
            spec.dtype for spec in op.infer(case.specs, case.sample.attrs)
        ]


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_gpu_computes_the_same_beside_other_kernels() -> None:
    graph = Graph()
    expected: list[Any] = []
    fetches: list[Any] = []
    feeds: dict[Any, Any] = {}

    for op in OPERATIONS:
        if op.lower is None or (op.elementwise is not None and op.name != "add"):
            continue  # elementwise operations have one lowering
        cases = empty_cases(op)
        cases = [each for each in cases if not any(array.size for array in each[1])] + cases[:2]
        for case, results in cases:
            one = add_case(case, graph, device="gpu:0")
            fetches.append(list(one.node.outputs))
            feeds |= one.feeds
            expected.append(results)
    with Session(graph, device="gpu:0") as session:
        actual = session.run(fetches, feeds)
    for a, b in zip(actual, expected, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4)
