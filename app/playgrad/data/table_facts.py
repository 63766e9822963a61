"""The names of the features of a table, and how they were normalized, for its arrays.

They are known of the arrays that `load` returns, of some of their rows (``x[:100]``, ``x[::-1]``),
and of a `Dataset` of their slices, until ``map`` makes others of its elements. Of a copy, such as
``x[order]`` or ``2 * x``, nothing is known: its columns could be others.
"""

from __future__ import annotations

import math
import weakref
import zlib
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class TableFacts(NamedTuple):
    """The names of features, and the mean and deviation with which they were normalized, or ()."""

    columns: tuple[str, ...]
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()

    @classmethod
    def checked(
        cls, columns: Any, mean: Any, deviation: Any, shape: tuple[int, ...]
    ) -> TableFacts | None:
        """Return the facts in lists; None for lists that do not fit samples of ``shape``."""
        lists = (columns, mean, deviation)
        if not all(isinstance(each, list) for each in lists) or shape != (len(columns),):
            return None
        if not all(isinstance(name, str) for name in columns):
            return None
        numbers = [*mean, *deviation]
        if not all(isinstance(x, (int, float)) and math.isfinite(x) for x in numbers):
            return None
        sizes = {len(mean), len(deviation)}
        if sizes not in ({0}, {len(columns)}) or 0 in deviation:
            return None
        return cls(tuple(columns), tuple(map(float, mean)), tuple(map(float, deviation)))


_known: dict[int, tuple[weakref.ref[Array], int, TableFacts]] = {}
"""Facts and a checksum by the identity of an array; an entry is forgotten with its array."""


def remember(x: Array, facts: TableFacts) -> None:
    """Note the facts of an array that a program gets."""
    key = id(x)
    _known[key] = (weakref.ref(x, lambda _: _known.pop(key, None)), _checksum(x), facts)


def facts_of(x: Any) -> TableFacts | None:
    """Return the facts of an array, or of the one of which it is a view of some rows.

    None if they are unknown, or if the program has changed the array since it was loaded.
    """
    each = x
    while isinstance(each, np.ndarray):
        known = _known.get(id(each))
        same_columns = each.shape[1:] == x.shape[1:] and each.strides[1:] == x.strides[1:]
        if known is not None and known[0]() is each and same_columns:
            return known[2] if known[1] == _checksum(each) else None
        each = each.base
    return None


def _checksum(x: Array) -> int:
    return zlib.crc32(np.ascontiguousarray(x).data)
