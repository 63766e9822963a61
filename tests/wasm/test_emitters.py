"""Every emitter against the references, with the samples of the op contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from playgrad.contract.cases import Case, cases, cases_of, operations
from playgrad.dtypes import dtype
from playgrad.errors import DataError
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Node
from playgrad.ops.emitted import emitted_operations, emitter_of
from tests.wasm.emitted_node import FailedError, node_of, run_emitted

Array = np.ndarray[Any, Any]


def node_of_case(case: Case) -> Node:
    return node_of(case.op, case.sample.inputs, case.sample.attrs)


COMPILED = [case for case in cases() if emitter_of(node_of_case(case)) is not None]


def assert_close(case: Case, results: Sequence[Array] | None, reference: Sequence[Array]) -> None:
    assert results is not None
    for result, expected in zip(results, reference, strict=True):
        assert result.dtype == expected.dtype and result.shape == expected.shape
        if dtype(expected.dtype).floating:
            scale = np.abs(expected[np.isfinite(expected)], dtype=np.float64).max(initial=1e-6)
            np.testing.assert_allclose(result, expected, case.sample.tolerance, float(scale) * 1e-6)
        else:
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_agrees_with_the_reference(case: Case) -> None:
    node, inputs = node_of_case(case), case.sample.inputs
    reference = case.op.reference(inputs, case.sample.attrs)
    assert_close(case, run_emitted(node, inputs), reference)


def overlaps_of(node: Node) -> list[dict[int, int]]:
    """Return which inputs outputs may overwrite: each output one, in turn."""
    inputs, outputs = ([tensor.spec for tensor in each] for each in (node.inputs, node.outputs))
    pairs = [
        {output: number}
        for output, spec in enumerate(outputs)
        for number, other in enumerate(inputs)
        if other == spec and spec.size
    ]
    together = {
        output: output for output, spec in enumerate(outputs) if inputs[output:][:1] == [spec]
    }
    return [*pairs, together] if len(together) > 1 else pairs


IN_PLACE = [
    case
    for case in COMPILED
    if (emitter := emitter_of(node_of_case(case))) is not None and emitter.in_place
]


@pytest.mark.parametrize("case", IN_PLACE, ids=str)
def test_may_overwrite_an_input(case: Case) -> None:
    node, inputs = node_of_case(case), case.sample.inputs
    reference = case.op.reference(inputs, case.sample.attrs)
    for overlaps in overlaps_of(node):
        assert_close(case, run_emitted(node, inputs, overlaps), reference)


CHECKED = [
    op
    for op in operations()
    if op.check is not None and any(emitter_of(node_of_case(case)) for case in cases_of(op))
]


@pytest.mark.parametrize("op", CHECKED, ids=lambda op: op.name)
def test_refuses_what_the_reference_refuses(op: OpDef) -> None:
    """Indices one too large, and negative ones, at each position of the checked inputs."""
    refused = 0
    for case in cases_of(op):
        node = node_of_case(case)
        if emitter_of(node) is None:
            continue
        for number in op.checked:
            array = case.sample.inputs[number]
            if array.dtype.kind != "i" or not array.size:
                continue
            for wrong in (-1, 1 << 20, -(1 << 31)):
                for position in {0, array.size // 2, array.size - 1}:
                    inputs = [each.copy() for each in case.sample.inputs]
                    inputs[number].reshape(-1)[position] = wrong
                    try:
                        op.reference(inputs, case.sample.attrs)
                    except DataError:
                        refused += 1
                        with pytest.raises(FailedError):
                            run_emitted(node, inputs)
    assert refused


def test_every_emitter_is_of_an_operation_with_samples() -> None:
    names = {case.op.name for case in COMPILED} | {"elementwise"}
    assert emitted_operations() <= names
