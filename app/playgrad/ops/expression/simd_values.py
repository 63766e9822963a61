"""Values of expressions in WebAssembly, four elements at once.

Numbers have 32 bits in a vector. A bool is a mask: all bits, or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from playgrad.ops.expression.expr import (
    Call,
    Cast,
    Const,
    Expr,
    Leaf,
    argument_dtype,
    infer_dtype,
)
from playgrad.ops.expression.functions import FUNCTIONS
from playgrad.ops.expression.simd import COMPOSED, INSTRUCTIONS
from playgrad.wasm.lanes import floats, lanes, words
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue

_COMMON = {"add": "i32 add", "sub": "i32 sub", "mul": "i32 mul", "eq": "i32 eq", "ne": "i32 ne"}
_LOGIC = {"and": "and", "or": "or", "xor": "xor", "not": "not", "ne": "xor"}
_OF_DTYPE = {
    "float32": INSTRUCTIONS,
    "bool": _LOGIC,
    "int32": {
        **_COMMON, "neg": "i32 neg", "abs": "i32 abs", "maximum": "i32 max_s",
        "minimum": "i32 min_s", "lt": "i32 lt_s", "le": "i32 le_s", "gt": "i32 gt_s",
        "ge": "i32 ge_s",
    },
    "uint32": {
        **_COMMON, "neg": "i32 neg", "maximum": "i32 max_u", "minimum": "i32 min_u",
        "lt": "i32 lt_u", "le": "i32 le_u", "gt": "i32 gt_u", "ge": "i32 ge_u",
    },
}  # fmt: skip
"""Functions of each dtype that are one instruction, and its name."""


def can_compute(expr: Expr, names: Sequence[str]) -> bool:
    """Return whether `VectorValues` can compute ``expr`` of leaves of the dtypes ``names``."""
    if infer_dtype(expr, names) not in _OF_DTYPE:
        return False
    return all(_has_code(part, names) for part in _parts(expr))


def _parts(expr: Expr) -> Iterator[Expr]:
    yield expr
    children = expr.args if isinstance(expr, Call) else ()
    for child in (expr.arg,) if isinstance(expr, Cast) else children:
        yield from _parts(child)


def _has_code(expr: Expr, names: Sequence[str]) -> bool:
    if isinstance(expr, Leaf):
        return names[expr.index] in _OF_DTYPE
    if isinstance(expr, Cast):
        source = infer_dtype(expr.arg, names)
        return expr.to in _OF_DTYPE and source in _OF_DTYPE and _converts(source, expr.to)
    if isinstance(expr, Const):
        return expr.dtype is None or expr.dtype in _OF_DTYPE
    assert isinstance(expr, Call)
    kind = _decisive_dtype(expr, names, None)
    if expr.function == "select":
        return kind in _OF_DTYPE
    if expr.function in _OF_DTYPE.get(kind, {}) or (expr.function, kind) == ("eq", "bool"):
        return True
    return kind == "float32" and expr.function in COMPOSED


def _converts(source: str, to: str) -> bool:
    """Integers of floats beyond their range depend on the processor: these are NumPy's."""
    return source != "float32" or to in ("float32", "bool")


def _decisive_dtype(expr: Call, names: Sequence[str], expected: str | None) -> str:
    """Return the dtype of the arguments that decide that of the result."""
    function = FUNCTIONS[expr.function]
    decisive = expr.args[1:] if function.result == "select" else expr.args
    return argument_dtype(decisive, names, None if function.result == "bool" else expected)


class VectorValues:
    """Computes each distinct subexpression once, into a variable.

    Args:
        leaves: the variable of each leaf.
        names: the dtype of each leaf.
    """

    def __init__(self, f: Procedure, leaves: Sequence[Local], names: Sequence[str]) -> None:
        self._f = f
        self._leaves = leaves
        self._names = names
        self._known: dict[tuple[str, str | None], Local] = {}

    def value(self, expr: Expr, expected: str | None = None) -> Local:
        """Return the variable that has the value of ``expr``.

        Args:
            expected: the dtype that constants without one take.
        """
        if isinstance(expr, Leaf):
            return self._leaves[expr.index]
        key = repr(expr), expected
        if key not in self._known:
            self._known[key] = self._f.copy(self._computed(expr, expected))
        return self._known[key]

    def _computed(self, expr: Expr, expected: str | None) -> StackValue:
        if isinstance(expr, Const):
            return _constant(expr.value, infer_dtype(expr, self._names, expected))
        if isinstance(expr, Cast):
            return self._cast(expr)
        assert isinstance(expr, Call)
        kind = _decisive_dtype(expr, self._names, expected)
        if expr.function == "select":
            condition = self.value(expr.args[0], "bool")
            a, b = (self.value(arg, kind) for arg in expr.args[1:])
            return COMPOSED["select"](self._f, condition, a, b)
        arguments = [self.value(arg, kind) for arg in expr.args]
        if (expr.function, kind) == ("eq", "bool"):
            return lanes("not", lanes("xor", *arguments))
        instruction = _OF_DTYPE[kind].get(expr.function)
        if instruction is not None:
            return lanes(instruction, *arguments)
        return COMPOSED[expr.function](self._f, *arguments)

    def _cast(self, expr: Cast) -> StackValue:
        source = infer_dtype(expr.arg, self._names)
        value: StackValue = self.value(expr.arg, source)
        if expr.to == source:
            return value
        if expr.to == "bool":
            return lanes("ne" if source == "float32" else "i32 ne", value, floats(0.0))
        if source == "bool":
            return lanes("and", value, floats(1.0) if expr.to == "float32" else words(1))
        if expr.to == "float32":
            return lanes(f"f32 from {'u32' if source == 'uint32' else 'i32'}", value)
        return value  # the bits of int32 and uint32 are the same


def _constant(value: Any, kind: str) -> StackValue:
    if kind == "bool":
        return words(-1 if value else 0)
    return floats(value) if kind == "float32" else words(int(value))
