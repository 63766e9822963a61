"""Calls of functions that the user's program passes to ``register_op``."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, GraphError, PlaygradError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Tensor


class Bound:
    """A function of the program with its attributes; its code can be found for error messages."""

    def __init__(self, func: Callable[..., Any], attrs: Attrs) -> None:
        self.func = func
        self.attrs = dict(attrs)

    def __call__(self, *args: Any) -> Any:
        return self.func(*args, **self.attrs)


def call(what: str, error: type[PlaygradError], hint: str, function: Any, *args: Any) -> Any:
    """Call a function of the user's program.

    Raises:
        error: in place of what the function raises, unless that is playgrad's own, and with the
            line of the function that raised it. The message calls the function ``what``.
    """
    try:
        return function(*args)
    except PlaygradError:
        raise
    except Exception as problem:
        raise error(
            f"{what} failed: {type(problem).__name__}: {problem}",
            source=_line_within(problem, function),
            hint=hint,
        ) from problem


def _line_within(problem: Exception, function: Any) -> tuple[str, int] | None:
    """Return the last line of the function's own file in the traceback of ``problem``."""
    code = code_of(function)
    frames = traceback.extract_tb(problem.__traceback__)
    if code is None:
        return None
    lines = [f.lineno for f in frames if f.filename == code.co_filename and f.lineno is not None]
    return (code.co_filename, lines[-1]) if lines else source_of(function)


def code_of(function: Any) -> CodeType | None:
    """Return the code of ``function``, which may be `Bound`."""
    return getattr(getattr(function, "func", function), "__code__", None)


def source_of(function: Any) -> tuple[str, int] | None:
    """Return file and line where ``function`` is defined; None if it is not Python code."""
    code = code_of(function)
    return None if code is None else (code.co_filename, code.co_firstlineno)


def line_of_text(text: str, source: tuple[str, int] | None) -> tuple[str, int] | None:
    """Return file and line where ``text`` begins in the file of ``source``, if it is there."""
    if source is None:
        return None
    lines = linecache.getlines(source[0])
    before, found, _ = "".join(lines).partition(text)
    return (source[0], before.count("\n") + 1) if found and text.strip() else None


def checked_shape(what: str, value: Any) -> Shape:
    """Return the result of a shape function.

    Raises:
        ShapeError: it is not a tuple of whole numbers of at least 0, and None.
    """
    dims = value if isinstance(value, (tuple, list)) else None
    if dims is None or not all(dim is None or _is_size(dim) for dim in dims):
        raise ShapeError(
            f"{what} returned {value!r:.80}.",
            hint="Return a tuple of whole numbers, with None for an unknown dimension.",
        )
    return tuple(None if dim is None else int(dim) for dim in dims)


def _is_size(dim: Any) -> bool:
    return isinstance(dim, (int, np.integer)) and not isinstance(dim, bool) and int(dim) >= 0


def checked_arrays(
    what: str, values: Any, specs: Sequence[TensorSpec], function: Callable[..., Any]
) -> list[Array]:
    """Return the results of a reference as arrays of the declared shapes and dtypes.

    Floats are rounded to the declared type; other kinds of numbers must have it.

    Raises:
        ShapeError, DTypeError: the results differ from the declaration.
    """
    results = list(values) if isinstance(values, (tuple, list)) else [values]
    if len(results) != len(specs):
        raise ShapeError(
            f"{what} returned {len(results)} arrays, declared are {len(specs)}.",
            source=source_of(function),
            hint="Return one array, or a tuple with one for each shape of the shape function.",
        )
    return [_checked(what, *pair, function) for pair in zip(results, specs, strict=True)]


def _checked(what: str, value: Any, spec: TensorSpec, function: Callable[..., Any]) -> Array:
    array = np.asarray(value)
    if array.shape != spec.shape:
        raise ShapeError(
            f"{what} returned an array of shape {shape_text(array.shape)}, but the declared shape "
            f"is {shape_text(spec.shape)}.",
            source=source_of(function),
            hint="Correct the reference, or the function `shape`.",
        )
    if array.dtype.kind != np.dtype(spec.dtype).kind:
        raise DTypeError(
            f"{what} returned {array.dtype} values, declared are {spec.dtype}.",
            source=source_of(function),
            hint="Convert them with astype(), or declare the type with `result_dtype`.",
        )
    return np.asarray(array, dtype=spec.dtype, order="C")


def checked_gradients(
    what: str, values: Any, inputs: Sequence[Tensor], function: Callable[..., Any]
) -> list[Tensor | None]:
    """Return the results of a gradient function, one tensor or None for each input.

    Raises:
        GraphError: the number does not fit, or something else than tensors was returned.
    """
    parts = list(values) if isinstance(values, (tuple, list)) else [values]
    if len(parts) != len(inputs):
        raise GraphError(
            f"{what} returned {len(parts)} gradients for {len(inputs)} inputs.",
            source=source_of(function),
            hint="Return a tuple with a tensor for each input, or None where there is no gradient.",
        )
    for part in parts:
        if part is not None and not isinstance(part, Tensor):
            raise GraphError(
                f"{what} returned {type(part).__name__} {part!r:.60}.",
                source=source_of(function),
                hint="Build the gradient from tensors with pg's operations, not with NumPy.",
            )
    return parts
