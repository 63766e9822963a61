"""The op contract's third host: every operation in the page's own engine, on Chromium's GPU.

The checks are those of ``playgrad.contract``, as any program of the page could import them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from playgrad.contract.cases import cases, operations
from playgrad.graph.opdef import OpDef
from tests.sweeps import sweep

if TYPE_CHECKING:
    from tests.browser.conftest import Engine

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

DIFFERENTIABLE = {case.op.name for case in cases() if case.differentiable}
CHECKS = {
    "registers": (True, "values"),
    "registers-gradients": (True, "gradients"),
    "shared": (False, "values"),
    "shared-gradients": (False, "gradients"),
}
"""Kernels that keep tiles in registers, for software adapters, or in workgroup memory. Gradients
consist of operations of which each is checked."""

CHECK = f"""
import json, traceback
from playgrad.devices import registry
from playgrad.devices.target import Limits, Target
from playgrad.graph.graph import reset_default_graph
from playgrad.graph.opdef import lookup
from playgrad.contract import on_device, special_values
from playgrad.contract.cases import cases_of

device = registry.gpu(0)

def check(name):
    device.target = Target(IS_SOFTWARE, Limits())
    before = device.host.stats()
    op = lookup(name)
    if WHAT == "values":
        on_device.check_values(op, cases_of(op), "gpu:0")
        if special_values.is_plain(op):
            special_values.check_special_values(op, "gpu:0")
    elif name in {DIFFERENTIABLE!r}:
        on_device.check_gradients(op, cases_of(op), "gpu:0")
    after = device.host.stats()
    for key in ("buffers", "bytes", "programs"):
        assert after[key] == before[key], (key, before, after)

problems = {{}}
for name in {[op.name for op in operations()]!r}:
    reset_default_graph()
    try:
        check(name)
    except Exception:
        problems[name] = traceback.format_exc()
    else:
        problems[name] = ""
print(json.dumps(problems))
"""


@pytest.fixture(scope="module", params=sweep(CHECKS, ["registers"]))
def problems(engine: Engine, request: pytest.FixtureRequest) -> dict[str, str]:
    """The failures of a check, by operation. One run checks all operations: each run has a new
    interpreter."""
    is_software, what = CHECKS[request.param]
    result = engine.run(f"IS_SOFTWARE, WHAT = {is_software}, {what!r}\n{CHECK}")
    assert result["state"] == "done", result["error"]
    found: dict[str, str] = json.loads(result["stdout"])
    return found


@pytest.mark.parametrize("op", operations(), ids=lambda op: op.name)
def test_agrees_with_the_reference(problems: dict[str, str], op: OpDef) -> None:
    """Check values or gradients of all samples, and that no buffer is left."""
    assert not problems[op.name], problems[op.name]
