"""Arguments of joined calls as arrays with a row for each call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from playgrad.errors import DataError, ShapeError
from playgrad.graph.opdef import Array
from playgrad.graph.spec import TensorSpec
from playgrad.ops.control.subgraph import evaluator, from_text
from playgrad.ops.joined.layout import JoinedKind, Layout, width_of
from playgrad.ops.joined.table import Calls, Joined, bucket
from playgrad.wasm.page_kernels import has_page_kernels

Values = list[list[Array]]
"""The values of all calls, in the order in which they are computed: for each type, and each tensor
of it, an array (rows, ...). Rows of calls of other types, and those after the last call, are 0."""


def padded(first: int, end: int) -> Array:
    """Return the places from ``first`` to ``end``, and then the first one until there are as many
    as in their bucket."""
    places = np.arange(first, first + bucket(end - first))
    places[end - first :] = first
    return places


def empty_values(layout: Layout, count: int) -> Values:
    """Return arrays of zeros for the values of ``count`` calls."""
    return [[np.zeros((count, *s.shape[1:]), s.dtype) for s in each] for each in layout.types]


def arguments_of(
    layout: Layout,
    kind: JoinedKind,
    calls: Calls,
    places: Array,
    values: Values,
    inputs: Sequence[Array],
) -> list[Array]:
    """Return the arguments of the calls of ``kind`` at ``places``, without the captured tensors."""
    taken: list[Array] = []
    for argument, column in zip(kind.arguments, kind.columns, strict=True):
        if argument[0] == "value":
            source = calls.sources(column, places)
            of_type = values[layout.kinds[argument[1]].type]
            taken += [_rows(array, source) for array in of_type]
        elif argument[0] == "input":
            taken.append(_rows(inputs[argument[1]], calls.samples[places]))
        else:
            numbers = calls.rows[places, column : column + width_of(argument)]
            shape = (len(places), *argument[2])
            taken.append(decoded(numbers, argument[1]).reshape(shape))
    return taken


def encoded(array: Array) -> Array:
    """Return numbers of an array as int32: the bits of a float32, the value of a smaller type."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.int32) if flat.dtype.itemsize == 4 else flat.astype(np.int32)


def decoded(numbers: Array, dtype: str) -> Array:
    """Return the array whose numbers are `encoded`."""
    numbers = np.ascontiguousarray(numbers)
    kind = np.dtype(dtype)
    return numbers.view(kind) if kind.itemsize == 4 else numbers.astype(kind)


def computed(text: str, specs: Sequence[TensorSpec], arrays: Sequence[Array]) -> list[Array]:
    """Return the outputs of a function of inputs of ``specs``, which is prepared once.

    Raises:
        ShapeError: an array has another shape.
    """
    shapes, expected = [a.shape for a in arrays], [spec.static_shape for spec in specs]
    if shapes != expected:
        raise ShapeError(f"a function of joined calls takes arrays {expected}, got {shapes}.")
    here = threading.get_ident(), has_page_kernels()
    return _prepared(text, tuple(specs), *here)(arrays)


@lru_cache(maxsize=512)
def _prepared(
    text: str, specs: tuple[TensorSpec, ...], thread: int, kernels: bool
) -> Callable[[Sequence[Array]], list[Array]]:
    """Return the function for inputs of ``specs``. What is prepared may have scratch memory, which
    threads must not share, and the kernels of a page."""
    return evaluator(from_text(text, specs))


def explain(error: Exception, layout: Layout, joined: Joined) -> None:
    """Add to ``error`` which calls were computed."""
    error.add_note(f"{joined.calls} calls of {layout.kinds[joined.kind].label}() were joined.")


def _rows(array: Array, rows: Array) -> Array:
    """Return ``rows`` of ``array``.

    Raises:
        DataError: it has no such rows.
    """
    try:
        return array.take(rows, axis=0)
    except IndexError:
        raise DataError(
            f"joined calls take row {rows.max()} of an array with {len(array)} rows."
        ) from None
