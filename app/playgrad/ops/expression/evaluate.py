"""Evaluation of expressions with NumPy: directly, or compiled to Python for known shapes.

Values of float16 are computed in float32. The results are rounded, and so are values that an
expression casts to float16.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from playgrad.dtypes import dtype
from playgrad.graph.spec import TensorSpec
from playgrad.ops.expression.expr import (
    Call,
    Cast,
    Const,
    DistinctExpressions,
    Expr,
    Leaf,
    argument_dtype,
    infer_dtype,
)
from playgrad.ops.expression.functions import FUNCTIONS, select
from playgrad.ops.expression.simd_function import simd_function

Array = np.ndarray[Any, Any]


def evaluate(expr: Expr, leaves: Sequence[Array], expected: str | None = None) -> Array:
    """Return the value of ``expr`` where leaf i is ``leaves[i]``; leaves are broadcast together."""
    names = [leaf.dtype.name for leaf in leaves]
    computed = [leaf.astype(dtype(leaf.dtype).computed, copy=False) for leaf in leaves]
    with np.errstate(all="ignore"):
        value = np.asarray(_evaluate(expr, computed, names, expected))
        return value.astype(infer_dtype(expr, names, expected), copy=False)


def _evaluate(expr: Expr, leaves: Sequence[Array], names: list[str], expected: str | None) -> Any:
    if isinstance(expr, Leaf):
        return leaves[expr.index]
    if isinstance(expr, Const):
        return _constant(expr, names, expected)
    if isinstance(expr, Cast):
        return _caster(expr.to)(_evaluate(expr.arg, leaves, names, None))
    assert isinstance(expr, Call)
    dtypes = _argument_dtypes(expr, names, expected)
    values = [
        _evaluate(arg, leaves, names, name) for arg, name in zip(expr.args, dtypes, strict=True)
    ]
    return FUNCTIONS[expr.function].numpy(*values)


def _constant(expr: Const, names: Sequence[str], expected: str | None) -> Any:
    kind = dtype(infer_dtype(expr, names, expected))
    return dtype(kind.computed).numpy.type(expr.value)


def _argument_dtypes(expr: Call, names: Sequence[str], expected: str | None) -> list[str]:
    """Return the dtype that constants without one take, for each argument."""
    function = FUNCTIONS[expr.function]
    if function.result == "select":
        common = argument_dtype(expr.args[1:], names, expected)
        return ["bool", common, common]
    common = argument_dtype(expr.args, names, expected if function.result != "bool" else None)
    return [common] * len(expr.args)


def full(array: Any, shape: tuple[int, ...], name: str) -> Array:
    """Return ``array`` broadcast to ``shape``, contiguous and of dtype ``name``."""
    if np.shape(array) == shape:
        return np.asarray(array, dtype=name, order="C")
    return np.asarray(np.broadcast_to(array, shape), dtype=name, order="C")


@dataclass(frozen=True)
class _Instruction:
    """Call ``function`` with the registers ``args`` and put the result into register ``result``.

    The result overwrites the array in register ``over``, one of ``args``, unless that is None. The
    registers ``dying`` are not needed afterwards.
    """

    function: Callable[..., Any]
    args: tuple[int, ...]
    result: int
    over: int | None
    dying: tuple[int, ...]


def prepare(
    exprs: Sequence[Expr], specs: Sequence[TensorSpec]
) -> Callable[[Sequence[Array]], list[Array]]:
    """Return a function from leaves of ``specs``, with known shapes, to the values of ``exprs``.

    The values equal the results of ``evaluate``, but for the last digits that other exponentials
    have in a page. Common subexpressions are computed once, and temporaries that are no longer
    needed are overwritten.
    """
    key = DistinctExpressions(tuple(exprs))
    return simd_function(key, specs) or _prepared(key, tuple(specs))


@lru_cache(maxsize=1024)  # the layers of a deep network have a few shapes among them
def _prepared(
    key: DistinctExpressions, specs: tuple[TensorSpec, ...]
) -> Callable[[Sequence[Array]], list[Array]]:
    return _Preparation(key.exprs, specs).finish()


class _Preparation:
    """Assigns a register to each distinct subexpression, in the order of evaluation."""

    def __init__(self, exprs: Sequence[Expr], specs: Sequence[TensorSpec]) -> None:
        self.names = [spec.dtype for spec in specs]
        self.shapes: list[tuple[int, ...]] = [spec.static_shape for spec in specs]
        self.kinds = list(self.names)
        self.initial: list[Any] = [None] * len(specs)  # constants at their registers
        self.calls: list[tuple[Callable[..., Any], tuple[int, ...], int]] = []
        self.known: dict[tuple[Expr, str | None], int] = {}
        self.leaves = len(specs)
        self.shape = np.broadcast_shapes(*self.shapes)
        self.results = [self._result(expr) for expr in exprs]

    def _result(self, expr: Expr) -> int:
        register, kind = self._register(expr, None), infer_dtype(expr, self.names)
        return register if self.kinds[register] == kind else self._converted(register, kind)

    def _converted(self, register: int, kind: str) -> int:
        return self._call(lambda value: np.asarray(value).astype(kind), (register,), kind)

    def _register(self, expr: Expr, expected: str | None) -> int:
        if isinstance(expr, Leaf) and dtype(name := self.names[expr.index]).computed == name:
            return expr.index
        key = expr, expected
        if key not in self.known:
            self.known[key] = self._new(expr, expected)
        return self.known[key]

    def _new(self, expr: Expr, expected: str | None) -> int:
        if isinstance(expr, Leaf):
            return self._converted(expr.index, dtype(self.names[expr.index]).computed)
        if isinstance(expr, Const):
            value = _constant(expr, self.names, expected)
            return self._add((), value.dtype.name, value)
        if isinstance(expr, Cast):
            arg = self._register(expr.arg, None)
            return self._call(_caster(expr.to), (arg,), dtype(expr.to).computed)
        assert isinstance(expr, Call)
        dtypes = _argument_dtypes(expr, self.names, expected)
        args = tuple(self._register(arg, name) for arg, name in zip(expr.args, dtypes, strict=True))
        kind = dtype(infer_dtype(expr, self.names, expected)).computed
        return self._call(FUNCTIONS[expr.function].numpy, args, kind)

    def _call(self, function: Callable[..., Any], args: tuple[int, ...], kind: str) -> int:
        result = self._add(np.broadcast_shapes(*(self.shapes[arg] for arg in args)), kind)
        self.calls.append((function, args, result))
        return result

    def _add(self, shape: tuple[int, ...], kind: str, value: Any = None) -> int:
        self.shapes.append(shape)
        self.kinds.append(kind)
        self.initial.append(value)
        return len(self.shapes) - 1

    def finish(self) -> Callable[[Sequence[Array]], list[Array]]:
        last = {arg: now for now, (_, args, _) in enumerate(self.calls) for arg in args}
        fresh, shared = set[int](), set[int]()  # registers
        for function, args, result in self.calls:
            if isinstance(function, np.ufunc):
                fresh.add(result)
            else:
                shared.update(args)  # the result may be one of them
        instructions = []
        for now, (function, args, result) in enumerate(self.calls):
            dying = tuple(
                arg
                for arg in dict.fromkeys(args)
                if last[arg] == now and arg >= self.leaves and arg not in self.results
            )
            fitting = (
                arg
                for arg in dying
                if isinstance(function, np.ufunc)
                and self.shapes[result] != ()  # a NumPy scalar cannot be overwritten
                and arg in fresh - shared
                and (self.shapes[arg], self.kinds[arg]) == (self.shapes[result], self.kinds[result])
            )
            over = next(fitting, None)
            instructions.append(_Instruction(function, args, result, over, dying))
        return self._function(instructions)

    def _function(
        self, instructions: Sequence[_Instruction]
    ) -> Callable[[Sequence[Array]], list[Array]]:
        """Compile a line of Python for each instruction, which is faster than interpreting them."""
        known: dict[str, Any] = {"full": full, "asarray": np.asarray, "shape": self.shape}
        known |= {f"r{number}": value for number, value in enumerate(self.initial)}
        text = ["def run(leaves):"]
        if self.leaves:
            text.append(f" {''.join(f'r{leaf}, ' for leaf in range(self.leaves))} = leaves")
        for number, instruction in enumerate(instructions):
            known[f"f{number}"] = instruction.function
            text.append(f" r{instruction.result} = {self._call_text(number, instruction)}")
            free = [f"r{arg}" for arg in instruction.dying if self.initial[arg] is None]
            if free:
                text.append(f" del {', '.join(free)}")
        text.append(f" return [{', '.join(map(self._result_text, self.results))}]")
        exec("\n".join(text), known)
        run: Callable[[Sequence[Array]], list[Array]] = known["run"]
        return run

    def _call_text(self, number: int, instruction: _Instruction) -> str:
        args = [f"r{arg}" for arg in instruction.args]
        if instruction.function is select:
            registers = (*instruction.args, instruction.result)
            shapes = [self.shapes[register] for register in registers]
            if shapes[0] == () and shapes[1] == shapes[2] == shapes[3]:
                return f"{args[1]} if {args[0]} else {args[2]}"
        if instruction.over is not None:
            args.append(f"out=r{instruction.over}")
        return f"f{number}({', '.join(args)})"

    def _result_text(self, result: int) -> str:
        """Return Python for a result as an array of the declared shape and dtype."""
        if result < self.leaves or self.shapes[result] != self.shape:
            return f"full(r{result}, shape, '{self.kinds[result]}')"
        return f"r{result}" if self.shape else f"asarray(r{result}, '{self.kinds[result]}')"


def _caster(to: str) -> Callable[[Any], Any]:
    computed = dtype(to).computed
    if computed == to:
        return lambda value: np.asarray(value).astype(to)
    return lambda value: np.asarray(value).astype(to).astype(computed)
