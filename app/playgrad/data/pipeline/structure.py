"""The structure of elements: arrays, and tuples and dictionaries of them.

A list is an array, as in ``tf.data``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DataError, DTypeError, ShapeError, shape_text

Array = np.ndarray[Any, Any]


def as_array(value: Any, what: str) -> Array:
    """Return ``value`` as an array; Python's own numbers become float32 and int32.

    Raises:
        DataError: the parts of a list differ in shape.
        DTypeError: it is not made of numbers or text.
    """
    if isinstance(value, np.ndarray):
        return value
    try:
        array = np.asarray(value)
    except ValueError:
        raise DataError(f"{what}: the parts of a list differ in shape.") from None
    if array.dtype == object:
        raise DTypeError(f"{what} holds {type(value).__name__}, which is not an array.")
    if isinstance(value, (np.generic,)) or hasattr(value, "__array__"):
        return array
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64 and (array.size == 0 or np.abs(array).max() < 2**31):
        return array.astype(np.int32)
    return array


def leaves(element: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parts of ``element`` that are not tuples or dictionaries, with their names.

    A name is the index in the element, ``[0]['x']``; that of an element of one part is empty.
    """
    if isinstance(element, tuple):
        for i, part in enumerate(element):
            yield from leaves(part, f"{path}[{i}]")
    elif isinstance(element, dict):
        for key, part in element.items():
            yield from leaves(part, f"{path}[{key!r}]")
    else:
        yield path, element


def rebuilt(element: Any, parts: Iterator[Any]) -> Any:
    """Return the structure of ``element`` with ``parts`` in place of its leaves."""
    if isinstance(element, tuple):
        items = [rebuilt(part, parts) for part in element]
        is_named = hasattr(element, "_fields")
        return type(element)(*items) if is_named else tuple(items)
    if isinstance(element, dict):
        return {key: rebuilt(part, parts) for key, part in element.items()}
    return next(parts)


def mapped(element: Any, function: Callable[[Any], Any]) -> Any:
    """Return the structure of ``element`` with ``function`` of its leaves."""
    return rebuilt(element, iter([function(leaf) for _, leaf in leaves(element)]))


def kept(element: Any) -> Any:
    """Return an element with copies of its arrays: code of the user's that yields them may fill the
    same arrays again for the next element, while this one waits for its batch or its step."""
    if isinstance(element, list):
        has_arrays = any(isinstance(part, np.ndarray) for part in element)
        return [kept(part) for part in element] if has_arrays else element
    if isinstance(element, (tuple, dict)):
        return rebuilt(element, iter([kept(leaf) for _, leaf in leaves(element)]))
    return element.copy() if isinstance(element, np.ndarray) else element


def applied(function: Callable[..., Any], element: Any) -> Any:
    """Call ``function`` with an element; a tuple gives one argument for each of its items."""
    return function(*element) if isinstance(element, tuple) else function(element)


def stacked(elements: Sequence[Any], first: int) -> Any:
    """Return elements as one whose arrays have a new first axis.

    Args:
        first: the number of the first element, for errors.

    Raises:
        DataError: the elements differ in structure.
        ShapeError: an array has another shape than that of the first element.
        DTypeError: an array has another dtype.
    """
    rows = [list(leaves(element)) for element in elements]
    names = [name for name, _ in rows[0]]
    columns: list[list[Array]] = [[] for _ in names]
    for i, row in enumerate(rows):
        if [name for name, _ in row] != names:
            raise DataError(
                f"element {first + i} has the parts {_listed(row)}, but element {first} has "
                f"{_listed(rows[0])}."
            )
        for column, (name, leaf) in zip(columns, row, strict=True):
            what = f"element {first + i}{name}"
            array = as_array(leaf, what)
            if column and array.shape != column[0].shape:
                raise ShapeError(
                    f"{what} has shape {shape_text(array.shape)}, but element {first}{name} has "
                    f"{shape_text(column[0].shape)}: they do not fit into one batch.",
                    hint="Give all elements one shape with map, or batch elements of equal shape.",
                )
            if column and array.dtype.kind != column[0].dtype.kind:
                raise DTypeError(
                    f"{what} is {array.dtype}, but element {first}{name} is {column[0].dtype}."
                )
            column.append(array)
    return rebuilt(elements[0], iter([np.stack(column) for column in columns]))


def _listed(row: Sequence[tuple[str, Any]]) -> str:
    return ", ".join(name or "a single array" for name, _ in row) or "nothing"
