"""The op contract's third host: every operation in the page's own engine, on Chromium's GPU.

The checks are those of tests/contract; their text is sent along, and Pyodide runs it. It imports
nothing but NumPy and playgrad, as any program of the page could.
"""

from __future__ import annotations

import json
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
    for name in ("cases", "interpreter", "on_device", "special_values")
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

CHECK = f"""
import json, traceback
from playgrad.devices import registry
from playgrad.devices.target import Limits, Target
from playgrad.graph.graph import reset_default_graph
from playgrad.graph.opdef import lookup
from tests.contract import on_device, special_values

device = registry.gpu(0)

def check(name, is_software):
    device.target = Target(is_software, Limits())
    before = device.host.stats()
    on_device.check_values(lookup(name), "gpu:0")
    if special_values.is_plain(lookup(name)):
        special_values.check_special_values(lookup(name), "gpu:0")
    if name in {DIFFERENTIABLE!r}:
        on_device.check_gradients(lookup(name), "gpu:0")
    after = device.host.stats()
    for key in ("buffers", "bytes", "programs"):
        assert after[key] == before[key], (key, before, after)

problems = {{}}
for name in {[op.name for op in operations()]!r}:
    for family, is_software in {FAMILIES!r}.items():
        reset_default_graph()
        try:
            check(name, is_software)
        except Exception:
            problems[f"{{name}} {{family}}"] = traceback.format_exc()
        else:
            problems[f"{{name}} {{family}}"] = ""
print(json.dumps(problems))
"""


@pytest.fixture(scope="module")
def problems(engine: Engine) -> dict[str, str]:
    """The failures, by operation and family. One run checks all: each has a new interpreter."""
    result = engine.run(INSTALL + CHECK)
    assert result["state"] == "done", result["error"]
    found: dict[str, str] = json.loads(result["stdout"])
    return found


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("op", operations(), ids=lambda op: op.name)
def test_agrees_with_the_reference(problems: dict[str, str], op: OpDef, family: str) -> None:
    """Check values and gradients of all samples, and that no buffer is left."""
    assert not problems[f"{op.name} {family}"], problems[f"{op.name} {family}"]
