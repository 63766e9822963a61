"""Operations on float16, which compute in float32 and round their results once or not at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playgrad.graph.opdef import Array, Attrs, Infer, Reference
from playgrad.graph.spec import TensorSpec

WIDE = "keeps_float32"
"""The attribute of a product of float16 operands whose sums stay float32 (compiler/mixed.py)."""


def in_float32(reference: Reference) -> Reference:
    """Return ``reference`` for float16 as well: its results are the rounded float32 results.

    NumPy adds float16 terms in float16: 4,096 ones are 2,048. With the attribute `WIDE` the results
    are not rounded.
    """

    def rounded(inputs: Sequence[Array], attrs: Attrs) -> Sequence[Array]:
        if all(array.dtype != np.float16 for array in inputs):
            return reference(inputs, attrs)
        wide = [x.astype(np.float32) if x.dtype == np.float16 else x for x in inputs]
        results = reference(wide, attrs)
        if attrs.get(WIDE):
            return results
        with np.errstate(over="ignore"):
            return [y.astype(np.float16) if y.dtype == np.float32 else y for y in results]

    return rounded


def or_wide(infer: Infer) -> Infer:
    """Return the rule ``infer`` of an operation on one dtype, which may have the attribute `WIDE`:
    then its results are float32."""

    def inferred(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
        if not attrs.get(WIDE):
            return list(infer(inputs, attrs))
        rest = {name: value for name, value in attrs.items() if name != WIDE}
        return [TensorSpec(spec.shape, "float32") for spec in infer(inputs, rest)]

    return inferred
