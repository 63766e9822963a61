"""Kernels as a driver may compile them that takes the liberties of WGSL.

WGSL allows an implementation to assume that there is no NaN, to be wrong by 2.5 units in the last
place of a quotient, and to fuse a product with an addition. Vulkan allows any remainder of a
negative integer. Software adapters do little of it, some GPUs all. Here the text of a kernel is
changed so that a software adapter does it, too: a comparison with NaN is what it must not be for
IEEE 754, functions like ``exp`` drop NaN, a quotient is two places off, a product that something is
added to by one, and a remainder is unsigned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from playgrad.devices import registry
from playgrad.devices._wgpu import WgpuHost
from playgrad.devices._wgpu.adapters import adapters
from playgrad.devices.base import Plan
from tests.drivers.wgsl_rewriter import COMPARISONS, Value, WgslRewriter

_COMPARE = dict(zip(COMPARISONS, ("eq", "ne", "lt", "gt", "le", "ge"), strict=True))
_DROPPING = ("exp", "log", "log2", "sqrt", "inverseSqrt")
_PRELUDE = """
fn careless_nan(a: f32, b: f32) -> bool {
  return max(bitcast<u32>(a) & 0x7fffffffu, bitcast<u32>(b) & 0x7fffffffu) > 0x7f800000u;
}
fn careless_eq(a: f32, b: f32) -> bool { return a == b || careless_nan(a, b); }
fn careless_ne(a: f32, b: f32) -> bool { return a != b && !careless_nan(a, b); }
fn careless_lt(a: f32, b: f32) -> bool { return a < b || careless_nan(a, b); }
fn careless_gt(a: f32, b: f32) -> bool { return a > b || careless_nan(a, b); }
fn careless_le(a: f32, b: f32) -> bool { return a <= b || careless_nan(a, b); }
fn careless_ge(a: f32, b: f32) -> bool { return a >= b || careless_nan(a, b); }
fn careless_drop(x: f32, y: f32) -> f32 { return select(y, 0.0, careless_nan(x, x)); }
fn careless_exp(x: f32) -> f32 { return careless_drop(x, exp(x)); }
fn careless_log(x: f32) -> f32 { return careless_drop(x, log(x)); }
fn careless_log2(x: f32) -> f32 { return careless_drop(x, log2(x)); }
fn careless_sqrt(x: f32) -> f32 { return careless_drop(x, sqrt(x)); }
fn careless_inverseSqrt(x: f32) -> f32 { return careless_drop(x, inverseSqrt(x)); }
fn careless_exponent(x: f32) -> u32 { return (bitcast<u32>(x) >> 23u) & 0xffu; }
fn careless_nudged(x: f32, places: u32) -> f32 {
  let exponent = careless_exponent(x);
  return bitcast<f32>(bitcast<u32>(x) - select(0u, places, exponent > 1u && exponent < 255u));
}
fn careless_quotient(a: f32, b: f32) -> f32 {
  let exponent = careless_exponent(b);
  if (exponent < 2u || exponent > 252u) { return a / b; }
  return careless_nudged(a * (1.0 / b), 2u);
}
fn careless_remainder(a: i32, b: i32) -> i32 { return i32(u32(a) % u32(b)); }
fn careless_zeros(x: f32) -> u32 {
  return countTrailingZeros((bitcast<u32>(x) & 0x7fffffu) | 0x800000u);
}
fn careless_product(a: f32, b: f32) -> f32 {
  return careless_nudged(a * b, select(0u, 1u, careless_zeros(a) + careless_zeros(b) < 23u));
}
"""


class _CarelessDriver(WgslRewriter):
    prelude = _PRELUDE

    def binary(self, sign: str, a: Value, b: Value) -> str:
        kinds = {a.kind, b.kind} - {""}
        if kinds == {"i32"} and sign == "%":
            return f"careless_remainder({a.text}, {b.text})"
        if kinds != {"f32"}:
            return super().binary(sign, a, b)
        if sign in _COMPARE:
            return f"careless_{_COMPARE[sign]}({a.text}, {b.text})"
        if sign == "/":
            return f"careless_quotient({a.text}, {b.text})"
        if sign in "+-":
            a, b = _fused(a), _fused(b)
        return super().binary(sign, a, b)

    def call(self, name: str, arguments: str, kinds: Sequence[str]) -> str:
        if name in _DROPPING and kinds == ["f32"]:
            return f"careless_{name}({arguments})"
        return super().call(name, arguments, kinds)


def _fused(term: Value) -> Value:
    """Return a product as a term of a sum."""
    if term.factors is None:
        return term
    a, b = term.factors
    return Value(f"careless_product({a.text}, {b.text})", term.kind)


def as_careless_driver(wgsl: str) -> str:
    """Return a kernel as a careless driver may understand it."""
    return _CarelessDriver(wgsl).rewritten()


class CarelessHost(WgpuHost):
    """The first adapter with a careless driver."""

    def __init__(self) -> None:
        super().__init__(adapters()[0])

    def load(self, plan: Plan, external: Mapping[str, int] | None = None) -> int:
        kernels = [{**each, "wgsl": as_careless_driver(each["wgsl"])} for each in plan["kernels"]]
        return super().load({**plan, "kernels": kernels}, external)


@contextmanager
def careless_gpu() -> Iterator[str]:
    """Offer a GPU with a careless driver within the block; yield the name of the device."""
    with registry.attached(CarelessHost()) as name:
        yield name
