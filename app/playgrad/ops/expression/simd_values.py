"""Values of expressions in WebAssembly, four elements at once.

Numbers have 32 bits in a vector. A bool is a mask: all bits, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from playgrad.ops.expression.simd_elements import from_half, to_half, wrapped
from playgrad.ops.expression.simd_lanes import BY_LANE
from playgrad.wasm.lanes import floats, lanes, words
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue

_COMMON = {"add": "i32 add", "sub": "i32 sub", "mul": "i32 mul", "eq": "i32 eq", "ne": "i32 ne"}
_LOGIC = {"and": "and", "or": "or", "xor": "xor", "not": "not", "ne": "xor"}
_SIGNED = {
    **_COMMON, "neg": "i32 neg", "abs": "i32 abs", "maximum": "i32 max_s", "minimum": "i32 min_s",
    "lt": "i32 lt_s", "le": "i32 le_s", "gt": "i32 gt_s", "ge": "i32 ge_s",
}  # fmt: skip
_UNSIGNED = {
    **_COMMON, "neg": "i32 neg", "maximum": "i32 max_u", "minimum": "i32 min_u",
    "lt": "i32 lt_u", "le": "i32 le_u", "gt": "i32 gt_u", "ge": "i32 ge_u",
}  # fmt: skip
_OF_DTYPE = {
    "float32": INSTRUCTIONS, "float16": INSTRUCTIONS, "bool": _LOGIC, "int32": _SIGNED,
    "int8": _SIGNED, "uint32": _UNSIGNED, "uint8": _UNSIGNED,
}  # fmt: skip
"""Functions of each dtype that are one instruction, and its name."""


_FLOATING = ("float32", "float16")


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
    return kind in _OF_DTYPE and _function(expr.function, kind) is not None


def _converts(source: str, to: str) -> bool:
    """Integers of floats beyond their range depend on the processor: these are NumPy's."""
    return source not in _FLOATING or to in (*_FLOATING, "bool")


def _function(name: str, kind: str) -> Callable[..., StackValue] | None:
    """Return a function of a dtype, from the procedure and its arguments to the result."""
    instruction = _OF_DTYPE[kind].get(name)
    if instruction is not None:
        return lambda f, *arguments: lanes(instruction, *arguments)
    if (name, kind) == ("eq", "bool"):
        return lambda f, a, b: lanes("not", lanes("xor", a, b))
    if kind in _FLOATING and name in COMPOSED:
        return COMPOSED[name]
    if (name, _OF_DTYPE[kind]) == ("sign", _SIGNED):
        return lambda f, x: lanes("i32 max_s", lanes("i32 min_s", x, words(1)), words(-1))
    if (name, _OF_DTYPE[kind]) == ("sign", _UNSIGNED):
        return lambda f, x: lanes("i32 min_u", x, words(1))
    if (name, _OF_DTYPE[kind]) == ("abs", _UNSIGNED):
        return lambda f, x: x
    return BY_LANE.get(kind, {}).get(name)


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
        function = _function(expr.function, kind)
        assert function is not None
        result = function(self._f, *arguments)
        is_mask = FUNCTIONS[expr.function].result == "bool"
        return result if is_mask else wrapped(result, kind)

    def _cast(self, expr: Cast) -> StackValue:
        source = infer_dtype(expr.arg, self._names)
        value: StackValue = self.value(expr.arg, source)
        if expr.to == source:
            return value
        if source in _FLOATING:
            if expr.to == "bool":
                return lanes("ne", value, floats(0.0))
            if expr.to == "float16":  # it is rounded even within an expression
                return from_half(self._f, self._f.copy(to_half(self._f, self._f.copy(value))))
            return value
        if expr.to == "bool":
            return lanes("i32 ne", value, words(0))
        if expr.to in _FLOATING:
            if source == "bool":
                return lanes("and", value, floats(1.0))
            number = lanes(f"f32 from {'u32' if source == 'uint32' else 'i32'}", value)
            if expr.to == "float16":
                return from_half(self._f, self._f.copy(to_half(self._f, self._f.copy(number))))
            return number
        return wrapped(lanes("and", value, words(1)) if source == "bool" else value, expr.to)


def _constant(value: Any, kind: str) -> StackValue:
    if kind == "bool":
        return words(-1 if value else 0)
    return floats(value) if kind in _FLOATING else words(int(value))
