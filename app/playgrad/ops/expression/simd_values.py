"""Values of expressions in WebAssembly, four elements at once.

Numbers have 32 bits in a vector. A bool is a mask: all bits, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from playgrad.ops.expression.expr import Call, Cast, Const, Expr, Leaf
from playgrad.ops.expression.functions import FUNCTIONS
from playgrad.ops.expression.logistic import logistic_argument
from playgrad.ops.expression.simd import COMPOSED, INSTRUCTIONS, sigmoid
from playgrad.ops.expression.simd_dtypes import (
    ExpressionDtypes,
    decisive_arguments,
    parts_of,
)
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
    kinds = ExpressionDtypes(names)
    if kinds.dtype(expr) not in _OF_DTYPE:
        return False
    return all(_has_code(part, names, kinds) for part in parts_of([expr]))


def _has_code(expr: Expr, names: Sequence[str], kinds: ExpressionDtypes) -> bool:
    if isinstance(expr, Leaf):
        return names[expr.index] in _OF_DTYPE
    if isinstance(expr, Cast):
        source = kinds.dtype(expr.arg)
        return expr.to in _OF_DTYPE and source in _OF_DTYPE
    if isinstance(expr, Const):
        return expr.dtype is None or expr.dtype in _OF_DTYPE
    assert isinstance(expr, Call)
    kind = kinds.decisive(expr)
    if expr.function == "select":
        return kind in _OF_DTYPE
    return kind in _OF_DTYPE and _function(expr.function, kind) is not None


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


class VectorValues:
    """Computes each distinct subexpression once, into a variable.

    Args:
        leaves: the variable of each leaf.
        names: the dtype of each leaf.
    """

    def __init__(self, f: Procedure, leaves: Sequence[Local], names: Sequence[str]) -> None:
        self._f = f
        self._leaves = leaves
        self._kinds = ExpressionDtypes(names)
        self._known: dict[tuple[int, str | None], Local] = {}
        self._computed: dict[tuple[Hashable, ...], Local] = {}
        self._kept: list[Expr] = []  # so that no other object gets the identity of one

    def value(self, expr: Expr, expected: str | None = None) -> Local:
        """Return the variable that has the value of ``expr``.

        Args:
            expected: the dtype that constants without one take.
        """
        if isinstance(expr, Leaf):
            return self._leaves[expr.index]
        key = id(expr), expected
        if key not in self._known:
            self._kept.append(expr)
            self._known[key] = self._new(expr, expected)
        return self._known[key]

    def _new(self, expr: Expr, expected: str | None) -> Local:
        if isinstance(expr, Const):
            kind = self._kinds.dtype(expr, expected)
            return self._once(("constant", repr(expr.value), kind), _constant(expr.value, kind))
        if isinstance(expr, Cast):
            source = self._kinds.dtype(expr.arg)
            value = self.value(expr.arg, source)
            cast = ("cast", source, expr.to, value.number)
            return self._once(cast, lambda: self._cast(value, source, expr.to))
        assert isinstance(expr, Call)
        kind = self._kinds.decisive(expr, expected)
        if kind in _FLOATING and (x := logistic_argument(expr)) is not None:
            value = self.value(x, kind)
            return self._once(("sigmoid", kind, value.number), lambda: sigmoid(self._f, value))
        arguments = [self.value(arg, kind) for arg in decisive_arguments(expr)]
        if expr.function == "pow" and _is_two(expr.args[1]):
            square = ("mul", kind, arguments[0].number, arguments[0].number)
            return self._once(square, lambda: self._call("mul", kind, 2 * arguments[:1]))
        if expr.function == "select":
            arguments.insert(0, self.value(expr.args[0], "bool"))
        key = (expr.function, kind, *(argument.number for argument in arguments))
        return self._once(key, lambda: self._call(expr.function, kind, arguments))

    def _once(
        self, key: tuple[Hashable, ...], value: StackValue | Callable[[], StackValue]
    ) -> Local:
        """Return the variable of a value that equal expressions share."""
        if key not in self._computed:
            code = value if isinstance(value, StackValue) else value()
            self._computed[key] = self._f.copy(code)
        return self._computed[key]

    def _call(self, name: str, kind: str, arguments: Sequence[Local]) -> StackValue:
        if name == "select":
            return COMPOSED["select"](self._f, *arguments)
        function = _function(name, kind)
        assert function is not None
        result = function(self._f, *arguments)
        return result if FUNCTIONS[name].result == "bool" else wrapped(result, kind)

    def _cast(self, value: Local, source: str, to: str) -> StackValue:
        if to == source:
            return value
        if source in _FLOATING:
            if to == "bool":
                return lanes("ne", value, floats(0.0))
            if to == "float16":  # it is rounded even within an expression
                return from_half(self._f, self._f.copy(to_half(self._f, value)))
            if to not in _FLOATING:  # beyond the range, the nearest integer that 32 bits hold
                return wrapped(lanes(f"{'u32' if to == 'uint32' else 'i32'} from f32", value), to)
            return value
        if to == "bool":
            return lanes("i32 ne", value, words(0))
        if to in _FLOATING:
            if source == "bool":
                return lanes("and", value, floats(1.0))
            number = lanes(f"f32 from {'u32' if source == 'uint32' else 'i32'}", value)
            if to == "float16":
                return from_half(self._f, self._f.copy(to_half(self._f, self._f.copy(number))))
            return number
        return wrapped(lanes("and", value, words(1)) if source == "bool" else value, to)


def _is_two(expr: Expr) -> bool:
    return isinstance(expr, Const) and expr.value == 2


def _constant(value: Any, kind: str) -> StackValue:
    if kind == "bool":
        return words(-1 if value else 0)
    return floats(value) if kind in _FLOATING else words(int(value))
