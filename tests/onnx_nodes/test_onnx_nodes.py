"""The backend node tests of the onnx package on playgrad: a selection by default, all when slow."""

from __future__ import annotations

import re
from pathlib import Path

import onnx
import pytest

from playgrad.interchange.onnx.importing.call import TRANSLATIONS, NotApplicableError
from tests.onnx_nodes.__main__ import DEVICES, DOCUMENT, files, loaded, run
from tests.onnx_nodes.cases import check_case, node_cases

QUICK = ("conv", "gemm", "layernormalization", "matmul", "slice", "softmax", "topk")
"""Modules of the package with an operator each; to generate all cases takes half a minute."""

each_device = pytest.mark.parametrize(
    "device", [pytest.param(d, marks=[pytest.mark.gpu] if "gpu" in d else []) for d in DEVICES]
)


@each_device
def test_a_selection_of_node_tests_passes(device: str) -> None:
    passed = 0
    for case in node_cases(QUICK):
        if device.startswith("gpu") and passed >= 12:
            break
        try:
            check_case(case, device)
        except NotApplicableError:
            continue
        passed += 1
    assert passed >= 12


def test_a_selection_of_node_tests_loads_as_files() -> None:
    cases = node_cases(QUICK)
    count = loaded([case for case in cases if case.operator in TRANSLATIONS])
    print(f"ONNX node tests as files: {count} of {len(cases)} loaded")
    assert count >= 60


@pytest.mark.slow
@each_device
def test_all_applicable_node_tests_pass(device: str) -> None:
    passed, _ = run(device)
    print(f"ONNX node tests on {device}: {len(passed)} of {len(passed)} applicable")
    text = DOCUMENT.read_text(encoding="utf-8")
    assert f"| `{device}` | {len(passed)} | {len(passed)} |" in text, "python -m tests.onnx_nodes"
    if device.startswith("cpu"):
        count = loaded(passed)
        print(f"ONNX node tests as files: {count} of {len(passed)} loaded")
        assert files(count, len(passed)) in text, "python -m tests.onnx_nodes"


def test_document_is_current() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert f"version {onnx.__version__}," in text
    operators = set(re.findall(r"^\| (\w+) \|", text, re.MULTILINE)) - {"device", "operator"}
    # Those whose cases are all of a dtype that playgrad does not have are in neither table.
    assert operators <= set(TRANSLATIONS)
    assert len(operators) > 0.95 * len(TRANSLATIONS)


def test_a_wrong_result_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TRANSLATIONS, "MatMul", lambda call: call.x)
    case = next(case for case in node_cases(("matmul",)) if str(case) == "matmul_2d")
    with pytest.raises(AssertionError):
        check_case(case, "cpu:0")


def test_versions_agree() -> None:
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    assert f'"onnx=={onnx.__version__}"' in project.read_text(encoding="utf-8")
