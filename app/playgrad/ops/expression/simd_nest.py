"""Procedures for expressions of leaves that broadcast in any way, in nested loops."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np

from playgrad.ops.expression.expr import Expr
from playgrad.ops.expression.simd_dtypes import ExpressionDtypes
from playgrad.ops.expression.simd_elements import SIZES, loaded, stored
from playgrad.ops.expression.simd_values import VectorValues
from playgrad.wasm.encoding import I32, V128
from playgrad.wasm.module import Module
from playgrad.wasm.nest import dense, merged, nest
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.values import StackValue, integer

Shape = tuple[int, ...]
_WIDTH = 4


def write_nest(
    module: Module, exprs: Sequence[Expr], names: Sequence[str], shapes: Sequence[Shape]
) -> Procedure:
    """Add a procedure that computes ``exprs`` of leaves of these dtypes and shapes.

    Its parameters: the addresses of the leaves, and of the results. A result may overwrite a leaf
    of its size.
    """
    kinds = list(map(ExpressionDtypes(names).dtype, exprs))
    f = module.procedure([I32] * (len(names) + len(exprs)))
    shape = np.broadcast_shapes(*shapes)
    sizes = [SIZES[name] for name in (*names, *kinds)]
    strides = [
        *(_strides(leaf, shape, size) for leaf, size in zip(shapes, sizes, strict=False)),
        *(dense(shape, size) for size in sizes[len(names) :]),
    ]
    dims, steps = merged(shape, strides)
    columns, along = (dims[-1], [each[-1] for each in steps]) if dims else (1, [0] * len(sizes))
    outer = [tuple(each[:-1]) for each in steps]
    vectors = [f.local(V128) for _ in names]
    with ExitStack() as stack:
        pairs = list(zip(f.arguments, outer, strict=True))
        pointers = stack.enter_context(nest(f, dims[:-1], pairs))

        def load(number: int, column: StackValue, whole: bool) -> None:
            place = pointers[number] + column * sizes[number]
            f.set(vectors[number], loaded(f, place, names[number], whole))

        def compute(column: StackValue, whole: bool) -> None:
            for number in range(len(names)):
                if along[number]:
                    load(number, column, whole)
            values = VectorValues(f, vectors, names)
            computed = [values.value(expr, kind) for expr, kind in zip(exprs, kinds, strict=True)]
            for number, (value, kind) in enumerate(zip(computed, kinds, strict=True), len(names)):
                stored(f, pointers[number] + column * sizes[number], value, kind, whole)

        for number in range(len(names)):
            if not along[number]:
                load(number, integer(0), whole=False)
        whole = columns - columns % _WIDTH
        if whole:
            with f.count(integer(whole), _WIDTH) as column:
                compute(column, whole=True)
        if columns > whole:
            with f.count(integer(columns - whole)) as rest:
                compute(f.copy(rest + whole), whole=False)
    return f


def _strides(leaf: Shape, shape: Shape, size: int) -> Shape:
    """Return the strides with which a leaf has the whole ``shape``."""
    missing = (0,) * (len(shape) - len(leaf))
    steps = zip(leaf, dense(leaf, size), strict=True)
    return missing + tuple(0 if dim == 1 else step for dim, step in steps)
