"""The dtypes of all parts of expressions, each found once.

`playgrad.ops.expression.expr.infer_dtype` checks an expression and looks through all of it each
time. Here it has been checked, and parts may occur very often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from playgrad.ops.expression.expr import Call, Cast, Const, Expr, Leaf
from playgrad.ops.expression.functions import FUNCTIONS


class ExpressionDtypes:
    """Finds dtypes of expressions.

    Args:
        leaves: the dtype of each leaf.
    """

    def __init__(self, leaves: Sequence[str]) -> None:
        self._leaves = leaves
        self._known: dict[tuple[int, str | None], str] = {}
        self._weak: dict[int, bool] = {}
        self._kept: list[Expr] = []  # so that no other object gets the identity of one

    def dtype(self, expr: Expr, expected: str | None = None) -> str:
        """Return the dtype of ``expr``.

        Args:
            expected: that of constants without one, where nothing else decides.
        """
        if isinstance(expr, Leaf):
            return self._leaves[expr.index]
        if isinstance(expr, Cast):
            return expr.to
        if isinstance(expr, Const):
            default = "bool" if isinstance(expr.value, bool) else "float32"
            return expr.dtype or expected or default
        assert isinstance(expr, Call)
        return (
            "bool" if FUNCTIONS[expr.function].result == "bool" else self.decisive(expr, expected)
        )

    def decisive(self, expr: Call, expected: str | None = None) -> str:
        """Return the dtype of the arguments that decide that of the result."""
        key = id(expr), expected
        if key not in self._known:
            self._kept.append(expr)
            self._known[key] = self._decisive(expr, expected)
        return self._known[key]

    def _decisive(self, expr: Call, expected: str | None) -> str:
        args = decisive_arguments(expr)
        if FUNCTIONS[expr.function].result == "bool":
            expected = None
        typed = next((arg for arg in args if not self._is_weak(arg)), None)
        if typed is not None:
            return self.dtype(typed, expected)
        return expected or self.dtype(args[0], expected)

    def _is_weak(self, expr: Expr) -> bool:
        """Return whether ``expr`` consists of constants without a dtype."""
        if isinstance(expr, Const):
            return expr.dtype is None
        if not isinstance(expr, Call):
            return False
        if id(expr) not in self._weak:
            self._kept.append(expr)
            is_number = FUNCTIONS[expr.function].result != "bool"
            self._weak[id(expr)] = is_number and all(map(self._is_weak, decisive_arguments(expr)))
        return self._weak[id(expr)]


def decisive_arguments(expr: Call) -> tuple[Expr, ...]:
    """Return the arguments whose dtype decides that of the result."""
    return expr.args[1:] if FUNCTIONS[expr.function].result == "select" else expr.args


def parts_of(exprs: Sequence[Expr]) -> Iterator[Expr]:
    """Yield each object that ``exprs`` consist of once."""
    seen: set[int] = set()
    waiting = list(exprs)
    while waiting:
        expr = waiting.pop()
        if id(expr) in seen:
            continue
        seen.add(id(expr))
        yield expr
        if isinstance(expr, Call):
            waiting.extend(expr.args)
        elif isinstance(expr, Cast):
            waiting.append(expr.arg)
