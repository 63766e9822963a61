"""Expressions as nested lists for other languages, with the dtypes that they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.ops.expression.expr import Call, Cast, Const, Expr, Leaf, argument_dtype
from playgrad.ops.expression.functions import FUNCTIONS


def typed(expr: Expr, leaves: Sequence[str], expected: str | None = None) -> list[Any]:
    """Return ``["leaf", input]``, ``["const", value]``, ``["cast", dtype, x]`` or
    ``[function, dtype, x, ...]``, with the dtype of the arguments.

    Args:
        leaves: the dtype of each input.
        expected: that of the result, where only constants decide; None for any.
    """
    if isinstance(expr, Leaf):
        return ["leaf", expr.index]
    if isinstance(expr, Const):
        return ["const", expr.value]
    if isinstance(expr, Cast):
        return ["cast", expr.to, typed(expr.arg, leaves)]
    assert isinstance(expr, Call)
    function = FUNCTIONS[expr.function]
    decisive = expr.args[1:] if function.result == "select" else expr.args
    common = argument_dtype(decisive, leaves, None if function.result == "bool" else expected)
    return [expr.function, common, *(typed(arg, leaves, common) for arg in expr.args)]
