"""Each operation as ONNX: onnxruntime computes the samples of the op contract as NumPy does."""

from __future__ import annotations

from typing import Any

import onnx
import onnxruntime
import pytest
from onnx import checker, helper, shape_inference

from playgrad.contract.cases import Case, add_case, cases_of, operations
from playgrad.errors import ExportError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import lookup
from playgrad.interchange.onnx.export import onnx_bytes
from playgrad.interchange.onnx.importing.replay import TRANSLATIONS as READ
from playgrad.interchange.onnx.opsets import AXES_AS_INPUT, OPSETS, WRITTEN
from playgrad.interchange.onnx.translation import TRANSLATIONS
from playgrad.networks.inference import InferenceGraph
from tests.interchange.predictions import OPERATIONS, expect_sample
from tests.sweeps import budget, dice

# Where ONNX specifies nothing, and onnxruntime differs: NaN is no largest number, and powers of
# integers that do not fit saturate. It sorts no unsigned numbers.
UNSPECIFIED = {"argmax-4", "argmin-4", "pow-2", "argsort-7"}
UNSIGNED_POWERS = "pow-3"
CASES = [
    case
    for op in operations()
    if op.name in TRANSLATIONS
    for case in cases_of(op)
    if str(case) not in {*UNSPECIFIED, UNSIGNED_POWERS}
]
# A subgraph, and sums and extremes of updates at repeated places: not translated yet.
LEFT_OUT = {"while_loop", "scatter_add", "joined_calls"}
LEFT_OUT |= {name for name in OPERATIONS if "segment_" in name or "gather_sum" in name}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_onnxruntime_computes_the_sample(case: Case) -> None:
    added = add_case(case, Graph())
    shown = added.node.outputs[:1] if case.op.name == "max_pool2d" else added.node.outputs
    data = onnx_bytes(InferenceGraph("sample", tuple(added.inputs), shown, {}))
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    feeds = zip(session.get_inputs(), added.values.values(), strict=True)
    results = session.run(None, {info.name: array for info, array in feeds})
    expect_sample(case, results)


def exported(case: Case, opset: int | None = None) -> Any:
    added = add_case(case, Graph())
    graph = InferenceGraph("sample", tuple(added.inputs), added.node.outputs[:1], {})
    return onnx.load_from_string(onnx_bytes(graph, opset))


@pytest.mark.parametrize("case", dice("opsets").sample(CASES, budget(150, len(CASES))), ids=str)
def test_files_have_the_lowest_opset_that_their_operators_need(case: Case) -> None:
    model = exported(case)
    (opset,) = model.opset_import
    assert model.ir_version == helper.find_min_ir_version_for([opset])
    if opset.version > WRITTEN[0]:
        opset.version -= 1
        with pytest.raises((checker.ValidationError, shape_inference.InferenceError)):
            checker.check_model(model, full_check=True)
    for opset in (AXES_AS_INPUT, WRITTEN[-1]):
        if opset >= model.opset_import[0].version:
            checker.check_model(exported(case, opset), full_check=True)


def test_every_operator_that_is_written_is_read() -> None:
    written = {node.op_type for case in CASES for node in exported(case).graph.node}
    of_integers = {"DequantizeLinear", "Gemm", "QuantizeLinear"}  # no operation is written as these
    assert written == OPSETS.keys() - of_integers
    assert written <= READ.keys()


def test_every_operation_of_a_prediction_is_translated() -> None:
    assert OPERATIONS - TRANSLATIONS.keys() - {"constant"} == LEFT_OUT
    assert TRANSLATIONS.keys() <= OPERATIONS


def test_unsigned_powers_are_refused() -> None:
    (case,) = [case for case in cases_of(lookup("pow")) if str(case) == UNSIGNED_POWERS]
    added = add_case(case, Graph())
    with pytest.raises(ExportError, match=r"layer 'pow_case_3', operation .* \(pow\): ONNX has no"):
        onnx_bytes(InferenceGraph("powers", tuple(added.inputs), added.node.outputs, {}))
