"""A small expression language for elementwise operations.

An elementwise op is written once, as a Python function of ``Expr`` values. NumPy evaluates the
expression as the reference, and WGSL is rendered from it for the GPU, alone or fused with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import DTypeError
from playgrad.ops.expression.functions import FUNCTIONS

Number = float | int | bool


@dataclass(frozen=True)
class Expr:
    """A node of an expression. Operators and the functions below build them."""

    def __add__(self, other: Operand) -> Expr:
        return call("add", self, other)

    def __radd__(self, other: Operand) -> Expr:
        return call("add", other, self)

    def __sub__(self, other: Operand) -> Expr:
        return call("sub", self, other)

    def __rsub__(self, other: Operand) -> Expr:
        return call("sub", other, self)

    def __mul__(self, other: Operand) -> Expr:
        return call("mul", self, other)

    def __rmul__(self, other: Operand) -> Expr:
        return call("mul", other, self)

    def __truediv__(self, other: Operand) -> Expr:
        return call("div", self, other)

    def __rtruediv__(self, other: Operand) -> Expr:
        return call("div", other, self)

    def __neg__(self) -> Expr:
        return call("neg", self)

    def __lt__(self, other: Operand) -> Expr:
        return call("lt", self, other)

    def __le__(self, other: Operand) -> Expr:
        return call("le", self, other)

    def __gt__(self, other: Operand) -> Expr:
        return call("gt", self, other)

    def __ge__(self, other: Operand) -> Expr:
        return call("ge", self, other)


@dataclass(frozen=True)
class Leaf(Expr):
    """Input number ``index`` of the operation."""

    index: int


@dataclass(frozen=True)
class Const(Expr):
    """A number. Without a dtype it takes the dtype of the values it is combined with."""

    value: Number
    dtype: str | None = None


@dataclass(frozen=True)
class Call(Expr):
    """A function of ``FUNCTIONS`` applied to arguments."""

    function: str
    args: tuple[Expr, ...]


@dataclass(frozen=True)
class Cast(Expr):
    """``arg`` converted to another element type."""

    to: str
    arg: Expr


class DistinctExpressions:
    """Expressions as a key. Unlike the expressions, 0, 0.0, -0.0 and False are not equal."""

    def __init__(self, exprs: tuple[Expr, ...]) -> None:
        self.exprs = exprs
        self._text = repr(exprs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DistinctExpressions) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


Operand = Expr | Number


def as_expr(value: Operand) -> Expr:
    """Return ``value`` as an expression; a number becomes a constant."""
    return value if isinstance(value, Expr) else Const(value)


def call(function: str, *args: Operand) -> Expr:
    """Return the function of that name in ``FUNCTIONS`` applied to ``args``."""
    return Call(function, tuple(as_expr(arg) for arg in args))


def infer_dtype(expr: Expr, leaves: Sequence[str], _expected: str | None = None) -> str:
    """Return the dtype of ``expr`` where leaf i has dtype ``leaves[i]``.

    Raises:
        DTypeError: the arguments of a function differ in dtype, or it does not take their dtype.
    """
    if isinstance(expr, Leaf):
        return leaves[expr.index]
    if isinstance(expr, Const):
        return expr.dtype or _expected or ("bool" if isinstance(expr.value, bool) else "float32")
    if isinstance(expr, Cast):
        infer_dtype(expr.arg, leaves)
        return expr.to
    assert isinstance(expr, Call)
    function = FUNCTIONS[expr.function]
    args = expr.args
    if function.result == "select":
        condition = infer_dtype(args[0], leaves, "bool")
        if condition != "bool":
            raise DTypeError(f"the condition must be bool, not {condition}.")
        args = args[1:]
    common = argument_dtype(args, leaves, _expected if function.result != "bool" else None)
    kind = dtype(common).numpy.kind.replace("u", "i")
    if kind not in function.domain:
        raise DTypeError(f"{expr.function} does not take {common} values.")
    return "bool" if function.result == "bool" else common


def expect_constants_fit(expr: Expr, leaves: Sequence[str]) -> None:
    """Raise DTypeError if a constant in ``expr`` is rounded to the integers it is combined with."""
    if isinstance(expr, Cast):
        expect_constants_fit(expr.arg, leaves)
    if not isinstance(expr, Call):
        return
    args = expr.args[1:] if FUNCTIONS[expr.function].result == "select" else expr.args
    common = argument_dtype(args, leaves, None)
    for arg in args:
        if isinstance(arg, Const) and arg.dtype is None and not _fits(arg.value, common):
            raise DTypeError(f"{expr.function} of {common} values and {arg.value!r} is not exact.")
    for arg in expr.args:
        expect_constants_fit(arg, leaves)


def _fits(value: Number, name: str) -> bool:
    kind = dtype(name).numpy
    if kind.kind not in "iu":
        return True
    limits = np.iinfo(kind)
    return bool(limits.min <= value <= limits.max and value == int(value))


def argument_dtype(args: Sequence[Expr], leaves: Sequence[str], expected: str | None) -> str:
    """Return the common dtype of ``args``. Constants without a dtype follow the others."""
    typed = [arg for arg in args if not is_weak(arg)]
    names = {infer_dtype(arg, leaves, expected) for arg in typed}
    if len(names) > 1:
        raise DTypeError(
            f"element types differ: {' and '.join(sorted(names))}.",
            hint="Convert one of them with cast().",
        )
    if names:
        return names.pop()
    return expected or infer_dtype(args[0], leaves, expected)


def is_weak(expr: Expr) -> bool:
    """Return whether ``expr`` consists of constants without a dtype, so that any dtype fits it."""
    if isinstance(expr, Const):
        return expr.dtype is None
    if isinstance(expr, Call):
        result = FUNCTIONS[expr.function].result
        decisive = expr.args[1:] if result == "select" else expr.args
        return result != "bool" and all(is_weak(arg) for arg in decisive)
    return False


def substitute(expr: Expr, replacement: Sequence[Expr]) -> Expr:
    """Return ``expr`` with leaf i replaced by ``replacement[i]``."""
    if isinstance(expr, Leaf):
        return replacement[expr.index]
    if isinstance(expr, Cast):
        return Cast(expr.to, substitute(expr.arg, replacement))
    if isinstance(expr, Call):
        return Call(expr.function, tuple(substitute(arg, replacement) for arg in expr.args))
    return expr


def count(expr: Expr) -> int:
    """Return the number of function applications in ``expr``."""
    if isinstance(expr, Call):
        return 1 + sum(count(arg) for arg in expr.args)
    return count(expr.arg) if isinstance(expr, Cast) else 0


def to_json(expr: Expr) -> list[Any]:
    """Return ``expr`` as nested lists."""
    if isinstance(expr, Leaf):
        return ["leaf", expr.index]
    if isinstance(expr, Const):
        return ["const", expr.value, expr.dtype]
    if isinstance(expr, Cast):
        return ["cast", expr.to, to_json(expr.arg)]
    assert isinstance(expr, Call)
    return [expr.function, *(to_json(arg) for arg in expr.args)]


def from_json(data: Sequence[Any]) -> Expr:
    """Return the expression that ``to_json`` wrote."""
    head, *rest = data
    if head == "leaf":
        return Leaf(rest[0])
    if head == "const":
        return Const(rest[0], rest[1])
    if head == "cast":
        return Cast(rest[0], from_json(rest[1]))
    return Call(head, tuple(from_json(arg) for arg in rest))


def exp(x: Operand) -> Expr:
    """Return the exponential of ``x``."""
    return call("exp", x)


def log(x: Operand) -> Expr:
    """Return the natural logarithm of ``x``."""
    return call("log", x)


def log1p(x: Operand) -> Expr:
    """Return ``log(1 + x)``, accurate near 0."""
    return call("log1p", x)


def expm1(x: Operand) -> Expr:
    """Return ``exp(x) - 1``, accurate near 0."""
    return call("expm1", x)


def sqrt(x: Operand) -> Expr:
    """Return the square root of ``x``."""
    return call("sqrt", x)


def tanh(x: Operand) -> Expr:
    """Return the hyperbolic tangent of ``x``."""
    return call("tanh", x)


def absolute(x: Operand) -> Expr:
    """Return the absolute value of ``x``."""
    return call("abs", x)


def isfinite(x: Operand) -> Expr:
    """Return whether ``x`` is neither infinite nor NaN."""
    return call("isfinite", x)


def where(condition: Operand, a: Operand, b: Operand) -> Expr:
    """Return ``a`` where ``condition`` holds and ``b`` elsewhere."""
    return call("select", condition, a, b)
