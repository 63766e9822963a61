"""WGSL for several expressions that have parts in common, each of which is computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from playgrad.ops.expression.expr import Call, Expr, Leaf, infer_dtype
from playgrad.ops.expression.wgsl import render


def render_shared(
    exprs: Sequence[Expr], leaves: Sequence[str], names: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return WGSL statements that compute the common parts, and a text for each of ``exprs``.

    Args:
        exprs: expressions of function calls, leaves and constants.
        leaves: the text of each leaf.
        names: the dtype of each leaf.
    """
    return _Sharing(exprs, leaves, names).finish()


class _Sharing:
    """Replaces each call that occurs more than once by a leaf with a name."""

    def __init__(self, exprs: Sequence[Expr], leaves: Sequence[str], names: Sequence[str]) -> None:
        self.exprs = exprs
        self.leaves, self.names = list(leaves), list(names)
        self.statements: list[str] = []
        self.uses: Counter[Expr] = Counter()
        self.known: dict[Expr, Leaf] = {}
        for expr in exprs:
            self._count(expr)

    def _count(self, expr: Expr) -> None:
        if isinstance(expr, Call):
            self.uses[expr] += 1
            if self.uses[expr] == 1:
                for arg in expr.args:
                    self._count(arg)

    def finish(self) -> tuple[list[str], list[str]]:
        texts = [render(self._replaced(expr), self.leaves, self.names) for expr in self.exprs]
        return self.statements, texts

    def _replaced(self, expr: Expr) -> Expr:
        if not isinstance(expr, Call):
            return expr
        if expr in self.known:
            return self.known[expr]
        short = Call(expr.function, tuple(self._replaced(arg) for arg in expr.args))
        if self.uses[expr] == 1:
            return short
        name = f"part{len(self.known)}"
        self.statements.append(f"let {name} = {render(short, self.leaves, self.names)};")
        self.names.append(infer_dtype(short, self.names))
        self.leaves.append(name)
        self.known[expr] = Leaf(len(self.leaves) - 1)
        return self.known[expr]
