"""How two numbers become one: sums, products, maxima and minima."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playgrad.wasm.elements import ELEMENTS, Element
from playgrad.wasm.encoding import F32, F64
from playgrad.wasm.scalars import choose, number, scalar
from playgrad.wasm.values import StackValue


@dataclass(frozen=True)
class Reduction:
    """How two values become one.

    Attributes:
        first: the value of no elements.
        vector: the instruction for four float32; None without one.
    """

    first: float
    combine: Callable[[Element, StackValue, StackValue], StackValue]
    vector: str | None


def _instruction(name: str) -> Callable[[Element, StackValue, StackValue], StackValue]:
    return lambda element, a, b: scalar(f"{element.prefix}.{name}", a, b)


def _extreme(
    float_name: str, comparison: str
) -> Callable[[Element, StackValue, StackValue], StackValue]:
    def combine(element: Element, a: StackValue, b: StackValue) -> StackValue:
        if element.kind in (F32, F64):
            return scalar(f"{element.prefix}.{float_name}", a, b)
        return choose(scalar(f"i32.{comparison}{element.sign}", a, b), a, b)

    return combine


SUM = Reduction(0.0, _instruction("add"), "add")
PRODUCT = Reduction(1.0, _instruction("mul"), "mul")
MAXIMUM = Reduction(-float("inf"), _extreme("max", "gt"), "max")
MINIMUM = Reduction(float("inf"), _extreme("min", "lt"), "min")
_LIMITS = {
    "int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1),
    "int8": (-128, 127), "uint8": (0, 255),
}  # fmt: skip


def first_value(reduction: Reduction, dtype: str) -> StackValue:
    """Return the value of no elements."""
    value = reduction.first
    if dtype in _LIMITS and value in (-float("inf"), float("inf")):
        value = _LIMITS[dtype][value > 0]
    return number(ELEMENTS[dtype].kind, value)
