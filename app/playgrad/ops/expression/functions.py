"""The functions of expressions, each in NumPy and in WGSL.

``WGSL_HELPERS`` works around the weak spots of WGSL's built-in functions; no other file does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Function:
    """A function in NumPy, and as WGSL text of its arguments.

    Attributes:
        result: the dtype of the result: "same" (the common dtype of the arguments), "bool", or
            "select" (the first argument is bool, the result has the dtype of the other two).
        domain: the kinds of arguments it takes: f float, i integer, b bool.
    """

    numpy: Callable[..., Any]
    wgsl: Callable[..., str]
    result: str = "same"
    domain: str = "fi"


def _infix(symbol: str) -> Callable[[str, str], str]:
    return lambda a, b: f"({a} {symbol} {b})"


def _named(name: str) -> Callable[..., str]:
    return lambda *args: f"{name}({', '.join(args)})"


def _divide(a: Any, b: Any) -> Any:
    """Divide. Quotients of integers are rounded towards zero, as in WGSL."""
    kind = np.result_type(a, b)
    if kind.kind in "iu":
        quotient = np.floor_divide(np.abs(a), np.abs(b))
        return (quotient * np.sign(a) * np.sign(b)).astype(kind)
    return np.divide(a, b)


def select(condition: Any, a: Any, b: Any) -> Any:
    """Return ``a`` where ``condition`` holds and ``b`` elsewhere, both of one dtype.

    4-byte elements are selected by bit masks, which is ten times as fast as ``np.where`` if the
    condition varies. For a scalar condition the result may be ``a`` or ``b`` itself.
    """
    if np.ndim(condition) == 0:
        chosen, other = (a, b) if condition else (b, a)
        if np.ndim(other) == 0 or np.shape(chosen) == np.shape(other):
            return chosen
    elif a.dtype.itemsize == 4:
        mask = np.negative(condition.view(np.int8), dtype=np.int32)  # all bits where it holds
        words = [
            bits & value.view(np.int32)
            for bits, value in ((mask, a), (~mask, b))
            if not _is_zero(value)
        ]
        if words:
            return (words[0] if len(words) == 1 else words[0] | words[1]).view(a.dtype)
    return np.where(condition, a, b)


def _is_zero(value: Any) -> bool:
    """Return whether ``value`` is a single number whose bits are all 0."""
    return bool(np.ndim(value) == 0 and value == 0 and not np.signbit(value))


FUNCTIONS: dict[str, Function] = {
    "add": Function(np.add, _infix("+")),
    "sub": Function(np.subtract, _infix("-")),
    "mul": Function(np.multiply, _infix("*")),
    "div": Function(_divide, _infix("/")),
    "mod": Function(np.fmod, _infix("%")),
    "neg": Function(np.negative, lambda a: f"(-{a})"),
    "abs": Function(np.abs, _named("abs")),
    "sign": Function(np.sign, _named("sign")),
    "exp": Function(np.exp, _named("exp"), domain="f"),
    "log": Function(np.log, _named("pg_log"), domain="f"),
    "sqrt": Function(np.sqrt, _named("sqrt"), domain="f"),
    "tanh": Function(np.tanh, _named("pg_tanh"), domain="f"),
    "sin": Function(np.sin, _named("sin"), domain="f"),
    "cos": Function(np.cos, _named("cos"), domain="f"),
    "floor": Function(np.floor, _named("floor"), domain="f"),
    "ceil": Function(np.ceil, _named("ceil"), domain="f"),
    "round": Function(np.round, _named("round"), domain="f"),
    "pow": Function(np.power, _named("pg_pow"), domain="f"),
    "maximum": Function(np.maximum, lambda a, b: f"pg_max({a}, {b})", domain="f"),
    "minimum": Function(np.minimum, lambda a, b: f"pg_min({a}, {b})", domain="f"),
    "imaximum": Function(np.maximum, _named("max"), domain="i"),
    "iminimum": Function(np.minimum, _named("min"), domain="i"),
    "lt": Function(np.less, _infix("<"), "bool"),
    "le": Function(np.less_equal, _infix("<="), "bool"),
    "gt": Function(np.greater, _infix(">"), "bool"),
    "ge": Function(np.greater_equal, _infix(">="), "bool"),
    "eq": Function(np.equal, _infix("=="), "bool", "fib"),
    "ne": Function(np.not_equal, _infix("!="), "bool", "fib"),
    "and": Function(np.logical_and, _infix("&&"), "bool", "b"),
    "or": Function(np.logical_or, _infix("||"), "bool", "b"),
    "not": Function(np.logical_not, lambda a: f"(!{a})", "bool", "b"),
    "isnan": Function(np.isnan, _named("pg_isnan"), "bool", "f"),
    "isfinite": Function(np.isfinite, _named("pg_isfinite"), "bool", "f"),
    "select": Function(select, lambda c, a, b: f"select({b}, {a}, {c})", "select", "fib"),
}

# NaN is detected by its bits, as x != x does not hold on every adapter, and WGSL's min and max drop
# it. On some adapters tanh overflows beyond |x| of about 88, and log(0) is finite. WGSL does not
# define pow of a negative base, but NumPy does for whole exponents.
WGSL_HELPERS: dict[str, str] = {
    "pg_isnan": "fn pg_isnan(x: f32) -> bool "
    "{ return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }",
    "pg_isfinite": "fn pg_isfinite(x: f32) -> bool "
    "{ return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }",
    "pg_max": "fn pg_max(a: f32, b: f32) -> f32 "
    "{ return select(select(b, a, a > b), a + b, pg_isnan(a) || pg_isnan(b)); }",
    "pg_min": "fn pg_min(a: f32, b: f32) -> f32 "
    "{ return select(select(b, a, a < b), a + b, pg_isnan(a) || pg_isnan(b)); }",
    "pg_tanh": "fn pg_tanh(x: f32) -> f32 "
    "{ return select(tanh(clamp(x, -15.0, 15.0)), x, pg_isnan(x)); }",
    "pg_log": "fn pg_log(x: f32) -> f32 { if (x == 0.0) { return bitcast<f32>(pg_minus_inf); } "
    "return log(x); }",
    "pg_pow": """fn pg_pow(x: f32, y: f32) -> f32 {
  if (y == 0.0) { return 1.0; }
  if (x == 0.0) { return select(0.0, bitcast<f32>(pg_inf), y < 0.0); }
  let p = pow(abs(x), y);
  if (x > 0.0) { return p; }
  if (y != floor(y)) { return bitcast<f32>(pg_nan); }
  return select(-p, p, floor(y * 0.5) * 2.0 == y);
}""",
    "pg_minus_inf": "var<private> pg_minus_inf: u32 = 0xff800000u;",
    "pg_inf": "var<private> pg_inf: u32 = 0x7f800000u;",
    "pg_nan": "var<private> pg_nan: u32 = 0x7fc00000u;",
}
