"""Each operation as NumPy code: the script computes the samples of the op contract."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from playgrad.contract.cases import Case, add_case, cases_of
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import lookup
from playgrad.interchange.script.export import HELPERS, script_text
from playgrad.interchange.script.expressions import EXPRESSIONS
from playgrad.networks.inference import InferenceGraph
from tests.interchange.predictions import OPERATIONS, expect_sample

LEFT_OUT = {"while_loop", "joined_calls"}
UNSPECIFIED: set[str] = set()
CASES = [
    case
    for name in sorted(OPERATIONS - LEFT_OUT)
    for case in cases_of(lookup(name))
    if str(case) not in UNSPECIFIED
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_numpy_computes_the_sample(case: Case) -> None:
    added = add_case(case, Graph())
    shown = added.node.outputs[:1] if case.op.name == "max_pool2d" else added.node.outputs
    namespace: dict[str, Any] = {"__name__": "script"}
    exec(script_text(InferenceGraph("sample", tuple(added.inputs), shown, {})), namespace)
    with np.errstate(all="ignore"):
        results = namespace["predict"](*added.values.values())
    expect_sample(case, results if isinstance(results, tuple) else (results,))


def test_every_operation_of_a_prediction_is_translated() -> None:
    known = {*EXPRESSIONS, *HELPERS, "slice", "strided_slice", "constant"}
    assert OPERATIONS - known == LEFT_OUT
    assert EXPRESSIONS.keys() <= OPERATIONS
