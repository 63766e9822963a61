"""The functions of expressions, each in NumPy and in WGSL, with NumPy's meaning in both.

WGSL's built-in functions differ from NumPy's for special values and are less accurate; ``helpers``
has functions that do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.ops.expression.error_function import erf


@dataclass(frozen=True)
class Function:
    """A function in NumPy, and as WGSL text of its arguments.

    Attributes:
        result: the dtype of the result: "same" (the common dtype of the arguments), "bool", or
            "select" (the first argument is bool, the result has the dtype of the other two).
        domain: the kinds of arguments it takes: f float, i integer, b bool.
        variants: WGSL for arguments of particular dtypes, instead of ``wgsl``.
    """

    numpy: Callable[..., Any]
    wgsl: Callable[..., str]
    result: str = "same"
    domain: str = "fi"
    variants: Mapping[str, Callable[..., str]] = field(default_factory=dict)


def _infix(symbol: str) -> Callable[[str, str], str]:
    return lambda a, b: f"({a} {symbol} {b})"


def _named(name: str) -> Callable[..., str]:
    return lambda *args: f"{name}({', '.join(args)})"


def _integers(name: str) -> dict[str, Callable[..., str]]:
    """Return variants that call WGSL functions for signed and for unsigned integers."""
    return {**_signed(_named(f"{name}_i32")), **_unsigned(_named(f"{name}_u32"))}


def _signed(wgsl: Callable[..., str]) -> dict[str, Callable[..., str]]:
    return {"int32": wgsl, "int8": wgsl}


def _unsigned(wgsl: Callable[..., str]) -> dict[str, Callable[..., str]]:
    return {"uint32": wgsl, "uint8": wgsl}


def _floats(name: str) -> dict[str, Callable[..., str]]:
    return {"float32": _named(name)}


def _ordered(name: str, against_zero: str = "") -> dict[str, Callable[..., str]]:
    """Return the variant for floats of a comparison that is false for NaN on every adapter.

    Args:
        against_zero: a cheaper function for comparisons with the constant 0.
    """

    def text(a: str, b: str) -> str:
        return f"{against_zero}({a})" if against_zero and b == "f32(0.0)" else f"{name}({a}, {b})"

    return {"float32": text}


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
        if _is_zero(b):
            return (mask & a.view(np.int32)).view(a.dtype)
        if _is_zero(a):
            return (~mask & b.view(np.int32)).view(a.dtype)
        other = b.view(np.int32)
        bits = a.view(np.int32) ^ other
        if np.shape(bits) != np.broadcast_shapes(np.shape(bits), mask.shape):
            return ((bits & mask) ^ other).view(a.dtype)
        bits &= mask
        bits ^= other
        return bits.view(a.dtype)
    return np.where(condition, a, b)


def power(a: Any, b: Any) -> Any:
    """Return ``a`` to the power ``b``, both of one dtype; integers wrap around.

    The power of an integer with a negative exponent is rounded towards 0, where NumPy has an error:
    it is 0 unless ``a`` is 1 or -1.
    """
    if a.dtype.kind != "i" or not np.any(b < 0):
        return np.power(a, b)
    reciprocal = np.where(np.abs(a) == 1, np.power(a, b & 1), 0)
    return np.where(b < 0, reciprocal, np.power(a, np.maximum(b, 0))).astype(a.dtype)


def _is_zero(value: Any) -> bool:
    """Return whether ``value`` is a single number whose bits are all 0."""
    return bool(np.ndim(value) == 0 and value == 0 and not np.signbit(value))


FUNCTIONS: dict[str, Function] = {
    "add": Function(np.add, _infix("+")),
    "sub": Function(np.subtract, _infix("-")),
    "mul": Function(np.multiply, _infix("*")),
    "div": Function(np.divide, _infix("/"), domain="f"),
    "mod": Function(np.remainder, _named("pg_mod"), variants=_integers("pg_mod")),
    "floor_div": Function(
        np.floor_divide, _named("pg_floor_div"), variants=_integers("pg_floor_div")
    ),
    "neg": Function(np.negative, lambda a: f"(-{a})", variants=_unsigned(lambda a: f"(0u - {a})")),
    "abs": Function(np.abs, _named("abs"), variants=_unsigned(lambda a: a)),
    "sign": Function(
        np.sign,
        _named("pg_sign"),
        variants={**_signed(_named("sign")), **_unsigned(lambda a: f"min({a}, 1u)")},
    ),
    "exp": Function(np.exp, _named("pg_exp"), domain="f"),
    "expm1": Function(np.expm1, _named("pg_expm1"), domain="f"),
    "log": Function(np.log, _named("pg_log"), domain="f"),
    "log1p": Function(np.log1p, _named("pg_log1p"), domain="f"),
    "log2": Function(np.log2, _named("pg_log2"), domain="f"),
    "log10": Function(np.log10, lambda a: f"(pg_log({a}) * 0.4342944819032518)", domain="f"),
    "sqrt": Function(np.sqrt, _named("pg_sqrt"), domain="f"),
    "sin": Function(np.sin, _named("pg_sin"), domain="f"),
    "cos": Function(np.cos, _named("pg_cos"), domain="f"),
    "tan": Function(np.tan, lambda a: f"(pg_sin({a}) / pg_cos({a}))", domain="f"),
    "arcsin": Function(np.arcsin, _named("pg_arcsin"), domain="f"),
    "arccos": Function(np.arccos, _named("pg_arccos"), domain="f"),
    "arctan": Function(np.arctan, _named("pg_arctan"), domain="f"),
    "arctan2": Function(np.arctan2, _named("pg_arctan2"), domain="f"),
    "sinh": Function(np.sinh, _named("pg_sinh"), domain="f"),
    "cosh": Function(np.cosh, _named("pg_cosh"), domain="f"),
    "tanh": Function(np.tanh, _named("pg_tanh"), domain="f"),
    "arcsinh": Function(np.arcsinh, _named("pg_arcsinh"), domain="f"),
    "arccosh": Function(np.arccosh, _named("pg_arccosh"), domain="f"),
    "arctanh": Function(np.arctanh, _named("pg_arctanh"), domain="f"),
    "erf": Function(erf, _named("pg_erf"), domain="f"),
    "floor": Function(np.floor, _named("floor"), domain="f"),
    "ceil": Function(np.ceil, _named("ceil"), domain="f"),
    "round": Function(np.round, _named("round"), domain="f"),
    "trunc": Function(np.trunc, _named("trunc"), domain="f"),
    "pow": Function(power, _named("pg_pow"), variants=_integers("pg_pow")),
    "maximum": Function(np.maximum, _named("max"), variants=_floats("pg_max")),
    "minimum": Function(np.minimum, _named("min"), variants=_floats("pg_min")),
    "lt": Function(np.less, _infix("<"), "bool", "fi", _ordered("pg_lt", "pg_negative")),
    "le": Function(np.less_equal, _infix("<="), "bool", "fi", _ordered("pg_le")),
    "gt": Function(np.greater, _infix(">"), "bool", "fi", _ordered("pg_gt", "pg_positive")),
    "ge": Function(np.greater_equal, _infix(">="), "bool", "fi", _ordered("pg_ge")),
    "eq": Function(np.equal, _infix("=="), "bool", "fib", _ordered("pg_eq")),
    "ne": Function(np.not_equal, _infix("!="), "bool", "fib", _floats("pg_ne")),
    "and": Function(np.logical_and, _infix("&&"), "bool", "b"),
    "or": Function(np.logical_or, _infix("||"), "bool", "b"),
    "xor": Function(np.logical_xor, _infix("!="), "bool", "b"),
    "not": Function(np.logical_not, lambda a: f"(!{a})", "bool", "b"),
    "isnan": Function(np.isnan, _named("pg_isnan"), "bool", "f"),
    "isinf": Function(np.isinf, _named("pg_isinf"), "bool", "f"),
    "isfinite": Function(np.isfinite, _named("pg_isfinite"), "bool", "f"),
    "select": Function(select, lambda c, a, b: f"select({b}, {a}, {c})", "select", "fib"),
}
