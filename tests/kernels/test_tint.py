"""Every kernel of every sample, in both families, compiles in Chrome too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from playgrad.contract.cases import cases
from playgrad.devices.target import Target
from playgrad.errors import UnsupportedOpError
from playgrad.ops.core.kernel import KernelRequest
from playgrad.ops.elementwise.unpacked import lower_unpacked
from tests.compiler.test_plan import training_plan
from tests.kernels.harness import BY_BLOCKS, FAMILIES, module

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.rotates]

TARGETS = {**FAMILIES, "blocks": BY_BLOCKS}
_COMPILE = """async (modules) => {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const complaints = [];
  for (const [name, code] of modules) {
    const shader = device.createShaderModule({ code });
    for (const message of (await shader.getCompilationInfo()).messages) {
      const line = code.split("\\n")[message.lineNum - 1];
      if (message.type === "error") complaints.push(`${name}: ${message.message}: ${line}`);
    }
  }
  device.destroy();
  return complaints;
}"""


def rendered(target: Target) -> dict[str, str]:
    """Return every distinct WGSL module of the samples of all operations, with a name."""
    modules_by_code: dict[str, str] = {}
    for case in cases():
        if case.op.lower is None or case.op.writes:
            continue
        outputs = case.op.infer(case.specs, case.sample.attrs)
        request = KernelRequest(tuple(case.specs), tuple(outputs), case.sample.attrs, target)
        try:
            lowering = lower_unpacked(case.op, request)
        except UnsupportedOpError:
            continue
        for call in lowering.calls:
            modules_by_code.setdefault(module(call), f"{case} ({call.family})")
    return modules_by_code


@pytest.mark.parametrize("family", TARGETS)
def test_every_kernel_compiles(chromium: Browser, family: str) -> None:
    modules = [(name, code) for code, name in rendered(TARGETS[family]).items()]
    assert len(modules) > 100
    assert complaints(chromium, modules) == []


@pytest.mark.parametrize("is_software", [True, False])
def test_merged_kernels_compile(chromium: Browser, is_software: bool) -> None:
    """Compile the dispatch groups of a training step, whose chains need barriers."""
    plans = [training_plan(merge=True, is_software=is_software, batch=batch) for batch in (6, 512)]
    kernels = [kernel for plan in plans for kernel in plan["kernels"]]
    assert sum(kernel["family"] == "group" for kernel in kernels) > 2
    modules = [(str(kernel["params"]), kernel["wgsl"]) for kernel in kernels]
    assert complaints(chromium, modules) == []


def complaints(chromium: Browser, modules: list[tuple[str, str]]) -> list[str]:
    """Return the errors that Chrome reports for modules, by name."""
    page = chromium.new_page()
    # An address of localhost is a secure context, without which there is no WebGPU.
    page.route("**/*", lambda route: route.fulfill(body="", content_type="text/html"))
    page.goto("http://localhost/")
    errors: list[str] = page.evaluate(_COMPILE, modules)
    page.close()
    return errors
