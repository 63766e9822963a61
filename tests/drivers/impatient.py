"""Kernels as a driver runs them that ends the loops of an invocation after some rounds.

llvmpipe does after 65,535, in total and without a word. Here the text of a kernel is changed so
that it happens earlier, where samples are small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from playgrad.devices import registry
from playgrad.devices._wgpu import WgpuHost
from playgrad.devices._wgpu.adapters import adapters
from playgrad.devices.base import Plan
from playgrad.devices.target import OTHER_ROUNDS
from tests.drivers.wgsl_rewriter import WgslRewriter


class _ImpatientDriver(WgslRewriter):
    """Ends all loops but the loops of functions in expressions, whose rounds targets set apart."""

    def __init__(self, text: str, most: int) -> None:
        super().__init__(text)
        self.prelude = f"""
var<private> impatient_rounds: i32 = {most};
fn impatient_goes_on() -> bool {{ impatient_rounds -= 1; return impatient_rounds >= 0; }}
"""

    def condition(self, text: str) -> str:
        if self.function.startswith("pg_"):
            return text
        return f"impatient_goes_on() && ({text})"


def as_impatient_driver(wgsl: str, most: int) -> str:
    """Return a kernel whose loops end after ``most`` rounds in total."""
    return _ImpatientDriver(wgsl, most).rewritten()


class ImpatientHost(WgpuHost):
    """The first adapter with an impatient driver."""

    def __init__(self, most: int) -> None:
        super().__init__(adapters()[0])
        self.most = most

    def load(self, plan: Plan, external: Mapping[str, int] | None = None) -> int:
        kernels = [
            {**each, "wgsl": as_impatient_driver(each["wgsl"], self.most)}
            for each in plan["kernels"]
        ]
        return super().load({**plan, "kernels": kernels}, external)


@contextmanager
def impatient_gpu(most: int) -> Iterator[str]:
    """Offer a GPU within the block whose driver ends loops after ``most`` rounds, which the target
    knows; yield the name of the device."""
    with registry.attached(ImpatientHost(most)) as name:
        device = registry.gpu(int(name.partition(":")[2]))
        device.target = replace(device.target, most_rounds=most + OTHER_ROUNDS)
        yield name
