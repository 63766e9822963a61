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

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

DIFFERENTIABLE = {case.op.name for case in cases() if case.differentiable}
FAMILIES = {"registers": True, "shared": False}
"""Kernels that keep tiles in registers, for software adapters, or in workgroup memory."""

CHECK = f"""
import json, traceback
from playgrad.devices import registry
from playgrad.devices.target import Limits, Target
from playgrad.graph.graph import reset_default_graph
from playgrad.graph.opdef import lookup
from playgrad.contract import on_device, special_values
from playgrad.contract.cases import cases_of

device = registry.gpu(0)

def check(name, is_software):
    device.target = Target(is_software, Limits())
    before = device.host.stats()
    op = lookup(name)
    on_device.check_values(op, cases_of(op), "gpu:0")
    if special_values.is_plain(op):
        special_values.check_special_values(op, "gpu:0")
    if name in {DIFFERENTIABLE!r}:
        on_device.check_gradients(op, cases_of(op), "gpu:0")
    after = device.host.stats()
    for key in ("buffers", "bytes", "programs"):
        assert after[key] == before[key], (key, before, after)

problems = {{}}
for name in {[op.name for op in operations()]!r}:
    reset_default_graph()
    try:
        check(name, IS_SOFTWARE)
    except Exception:
        problems[name] = traceback.format_exc()
    else:
        problems[name] = ""
print(json.dumps(problems))
"""


@pytest.fixture(scope="module", params=sweep(FAMILIES, ["registers"]))
def problems(engine: Engine, request: pytest.FixtureRequest) -> dict[str, str]:
    """The failures with a family of kernels, by operation. One run checks all operations: each run
    has a new interpreter."""
    result = engine.run(f"IS_SOFTWARE = {FAMILIES[request.param]}\n{CHECK}")
    assert result["state"] == "done", result["error"]
    found: dict[str, str] = json.loads(result["stdout"])
    return found


@pytest.mark.parametrize("op", operations(), ids=lambda op: op.name)
def test_agrees_with_the_reference(problems: dict[str, str], op: OpDef) -> None:
    """Check values and gradients of all samples, and that no buffer is left."""
    assert not problems[op.name], problems[op.name]
