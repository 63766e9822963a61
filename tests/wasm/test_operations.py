"""Kernels of operations in WebAssembly: the samples of the op contract, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from playgrad.contract.cases import cases_of, operations
from playgrad.graph.opdef import OpDef
from playgrad.wasm.kernel import NotCompiledError
from tests.wasm.kernel_host import run_node

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize("op", operations(), ids=lambda op: op.name)
def test_samples_agree_with_the_reference(op: OpDef) -> None:
    for case in cases_of(op):
        sample = case.sample
        try:
            results = run_node(op, sample.inputs, sample.attrs)
        except NotCompiledError:
            continue
        expected = op.reference(list(sample.inputs), sample.attrs)
        for result, reference in zip(results, expected, strict=True):
            assert result.dtype == reference.dtype
            np.testing.assert_allclose(
                result, reference, rtol=sample.tolerance, atol=1e-6, err_msg=str(case)
            )
