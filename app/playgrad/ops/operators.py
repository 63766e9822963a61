"""The operators of tensors, such as ``+`` and ``@``."""

from __future__ import annotations

from playgrad.graph.tensor import OPERATORS
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.elementwise import definitions as elementwise
from playgrad.ops.products.matmul import matmul

OPERATORS.update(
    {
        "add": elementwise.add,
        "sub": elementwise.sub,
        "mul": elementwise.mul,
        "div": elementwise.div,
        "floor_divide": elementwise.floor_divide,
        "mod": elementwise.mod,
        "pow": elementwise.pow,
        "neg": elementwise.neg,
        "abs": elementwise.absolute,
        "less": elementwise.less,
        "less_equal": elementwise.less_equal,
        "greater": elementwise.greater,
        "greater_equal": elementwise.greater_equal,
        "logical_and": elementwise.logical_and,
        "logical_or": elementwise.logical_or,
        "logical_xor": elementwise.logical_xor,
        "logical_not": elementwise.logical_not,
        "matmul": matmul,
        "getitem": getitem,
    }
)
