"""Docstrings of elementwise operations, whose dtype rules follow from their expressions."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from playgrad.dtypes import NAMES
from playgrad.errors import DTypeError
from playgrad.ops.expression.expr import Expr, expect_constants_fit, infer_dtype


def docstring(summary: str, expr: Expr, arguments: Sequence[str], has_gradient: bool) -> str:
    """Return ``summary`` followed by the arguments, result and errors of an operation.

    Args:
        expr: the result in terms of the arguments.
        arguments: their names. The name ``condition`` means a bool, and comes first.
    """
    has_condition = arguments[0] == "condition"
    values = arguments[has_condition:]
    results = {
        kind: _result(expr, ["bool"] * has_condition + [kind] * len(values)) for kind in NAMES
    }
    accepted = [kind for kind in NAMES if results[kind] is not None]
    is_any = len(accepted) == len(NAMES)
    dtypes = " or ".join(filter(None, (", ".join(accepted[:-1]), accepted[-1])))
    is_bool = all(results[kind] == "bool" for kind in accepted)
    note = "" if has_gradient else " Gradients stop here."
    parts = [f"{summary}{note}\n\nArgs:\n"]
    raises = []
    if len(arguments) == 1:
        shape, dtype = "the shape of ``x``", "the same dtype"
        parts.append(_entry(f"x: a tensor, array or number of any shape; {dtypes}."))
        if not is_any:
            raises.append("DTypeError: ``x`` has another dtype.")
    else:
        shape, dtype = "the broadcast shape", "the dtype of the arguments"
        if has_condition:
            dtype = f"the dtype of ``{values[0]}``"
            parts.append(_entry("condition: a bool tensor."))
        listed = "." if is_any else f": {dtypes}."
        parts.append(
            _entry(
                f"{', '.join(values)}: tensors, arrays or numbers, all of one dtype{listed} "
                "Numbers take the dtype of the tensors. Shapes broadcast together by NumPy's rules."
            )
        )
        raises.append("ShapeError: the shapes do not broadcast together.")
        raises.append(f"DTypeError: the dtypes differ{'' if is_any else ', or are not supported'}.")
    result = f"A bool tensor of {shape}." if is_bool else f"A tensor of {shape} and {dtype}."
    parts += ["\nReturns:\n", _entry(result)]
    if raises:
        parts += ["\nRaises:\n", *map(_entry, raises)]
    return "".join(parts)


def _result(expr: Expr, dtypes: Sequence[str]) -> str | None:
    """Return the dtype of ``expr`` for arguments of ``dtypes``, or None if it rejects them."""
    try:
        result = infer_dtype(expr, dtypes)
        expect_constants_fit(expr, dtypes)
        return result
    except DTypeError:
        return None


def _entry(text: str) -> str:
    return fill(text, 96, initial_indent="    ", subsequent_indent="        ") + "\n"
