"""References of operations on float16, which compute in float32 and round their results once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playgrad.graph.opdef import Array, Attrs, Reference


def in_float32(reference: Reference) -> Reference:
    """Return ``reference`` for float16 as well: its results are the rounded float32 results.

    NumPy adds float16 terms in float16: 4,096 ones are 2,048.
    """

    def rounded(inputs: Sequence[Array], attrs: Attrs) -> Sequence[Array]:
        if all(array.dtype != np.float16 for array in inputs):
            return reference(inputs, attrs)
        wide = [x.astype(np.float32) if x.dtype == np.float16 else x for x in inputs]
        results = reference(wide, attrs)
        with np.errstate(over="ignore"):
            return [y.astype(np.float16) if y.dtype == np.float32 else y for y in results]

    return rounded
