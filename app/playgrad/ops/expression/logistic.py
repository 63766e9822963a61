"""The logistic function as an expression, and expressions that are one."""

from __future__ import annotations

from playgrad.ops.expression import expr as e
from playgrad.ops.expression.expr import Call, Expr


def logistic(x: Expr) -> Expr:
    """Return ``1 / (1 + exp(-x))``, written so that exp never overflows: its argument is never
    positive."""
    power = e.exp(-e.absolute(x))
    return e.where(x < 0.0, power, 1.0) / (1.0 + power)


def logistic_argument(expr: Expr) -> Expr | None:
    """Return ``x`` if ``expr`` is ``logistic(x)``, else None."""
    match expr:
        case Call("div", (_, Call("add", (_, Call("exp", (Call("neg", (Call("abs", (x,)),)),)))))):
            return x if expr == logistic(x) else None
    return None
