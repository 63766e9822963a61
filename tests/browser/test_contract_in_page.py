"""The op contract's third host: every operation in the page's own engine, on Chromium's GPU.

The checks are those of tests/contract; their text is sent along, and Pyodide runs it. It imports
nothing but NumPy and playgrad, as any program of the page could.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from playgrad.graph.opdef import OpDef
from tests.contract.cases import cases, operations

if TYPE_CHECKING:
    from tests.browser.conftest import Engine

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

_FOLDER = Path(__file__).parents[1] / "contract"
_MODULES = {
    f"tests.contract.{name}": (_FOLDER / f"{name}.py").read_text(encoding="utf-8")
    for name in ("cases", "interpreter", "on_device")
}
DIFFERENTIABLE = {case.op.name for case in cases() if case.differentiable}
FAMILIES = {"registers": True, "shared": False}

INSTALL = f"""
import sys, types

modules = {_MODULES!r}
for name in ("tests", "tests.contract", *modules):
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(modules.get(name, ""), name, "exec"), module.__dict__)
"""

CHECK = """
from playgrad.devices import registry
from playgrad.devices.target import Limits, Target
from playgrad.graph.opdef import lookup
from tests.contract import on_device

device = registry.gpu(0)
own, device.target = device.target, Target({is_software}, Limits())
before = device.host.stats()
try:
    on_device.check_values(lookup("{op}"), "gpu:0")
    if {differentiable}:
        on_device.check_gradients(lookup("{op}"), "gpu:0")
finally:
    device.target = own
after = device.host.stats()
for key in ("buffers", "bytes", "programs"):
    assert after[key] == before[key], (key, before, after)
"""


@pytest.fixture(scope="module")
def contract(engine: Engine) -> Engine:
    installed = engine.run(INSTALL)
    assert installed["state"] == "done", installed
    return engine


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("op", operations(), ids=lambda op: op.name)
def test_agrees_with_the_reference(contract: Engine, op: OpDef, family: str) -> None:
    """Check values and gradients of all samples, and that no buffer is left."""
    result = contract.run(
        CHECK.format(
            op=op.name, differentiable=op.name in DIFFERENTIABLE, is_software=FAMILIES[family]
        )
    )
    assert result["state"] == "done", result["error"]
