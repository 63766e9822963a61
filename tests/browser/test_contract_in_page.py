"""The op contract's third host: every operation in the page's own engine, on Chromium's GPU.

The checks come from ``playgrad.contract``, as any program of the page could import them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from playgrad.compiler.dispatch_groups import MAX_MEMBERS
from playgrad.contract.cases import operations
from playgrad.graph.opdef import OpDef
from tests.sweeps import sweep

if TYPE_CHECKING:
    from tests.browser.conftest import Engine

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu, pytest.mark.rotates]

CHECKS = {
    "registers": (True, 4, "values", None),
    "registers-of-many": (True, MAX_MEMBERS, "values", None),
    "registers-gradients": (True, MAX_MEMBERS, "gradients", None),
    "shared": (False, MAX_MEMBERS, "values", None),
    "shared-gradients": (False, MAX_MEMBERS, "gradients", None),
    "vectors": (False, MAX_MEMBERS, "values", ("blocks_8x8", "blocks_8x4", "trees", "vectors")),
}
"""Kernels that keep tiles in registers, for software adapters, or in workgroup memory, how many of
them may be merged, and the tuning where it is not the default. Gradients consist of operations of
which each is checked."""

CHECK = """
import json, traceback
from playgrad.compiler import dispatch_groups
from playgrad.devices import registry
from playgrad.devices.target import Limits, Target
from playgrad.devices.tuning import Tuning
from playgrad.ops.elementwise import vector_kernel
from playgrad.ops.lowering import block_tiling, layer_normalization, strided_copy
from playgrad.graph.graph import reset_default_graph
from playgrad.graph.opdef import lookup
from playgrad.contract import on_device, special_values
from playgrad.contract.cases import cases_of

device = registry.gpu(0)
dispatch_groups.MAX_MEMBERS = MEMBERS
# Where the page has products of packed int8, one of the two kinds uses them.
packed_dot = device.target.has_packed_dot and IS_SOFTWARE
tuning = Tuning(*TUNING) if TUNING else None
if tuning:  # also for the small tensors of the samples
    vector_kernel.LEAST_ITEMS = strided_copy.LEAST_ITEMS = 1
    vector_kernel.MANY_ITEMS = strided_copy.MANY_ITEMS = 1
    layer_normalization.LEAST_SIZE = block_tiling.WIDE_FROM = 1

def check(name):
    device.target = Target(IS_SOFTWARE, Limits(), tuning, has_packed_dot=packed_dot)
    before = device.host.stats()
    op = lookup(name)
    if WHAT == "values":
        on_device.check_values(op, cases_of(op), "gpu:0")
        if special_values.is_plain(op):
            special_values.check_special_values(op, "gpu:0")
    elif any(case.differentiable for case in cases_of(op)):
        on_device.check_gradients(op, cases_of(op), "gpu:0")
    after = device.host.stats()
    for key in ("buffers", "bytes", "programs"):
        assert after[key] == before[key], (key, before, after)

problems = {}
for name in NAMES:
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
    """The failures of a check, by operation. One run checks all operations that are selected: each
    run has a new interpreter."""
    tests = [item.callspec.params for item in request.session.items if item.path == request.path]
    names = [params["op"].name for params in tests if params["problems"] == request.param]
    values = (*CHECKS[request.param], names)
    result = engine.run(f"IS_SOFTWARE, MEMBERS, WHAT, TUNING, NAMES = {values!r}\n{CHECK}")
    assert result["state"] == "done", result["error"]
    found: dict[str, str] = json.loads(result["stdout"])
    return found


@pytest.mark.parametrize("op", operations(), ids=lambda op: op.name)
def test_operations_in_the_page_agree_with_the_reference(
    problems: dict[str, str], op: OpDef
) -> None:
    """Check values or gradients of all samples, and that no buffer is left."""
    assert not problems[op.name], problems[op.name]
