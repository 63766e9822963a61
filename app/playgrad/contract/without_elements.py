"""Samples with an axis of size 0: for no elements, too, there is a result or a typed error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from playgrad.contract.cases import Case
from playgrad.errors import PlaygradError
from playgrad.graph.opdef import Array


def without_elements(case: Case) -> Iterator[Case]:
    """Yield ``case`` with each axis of each input cut to size 0, as far as that is accepted: in
    this input only, the same axis of the others, or all axes of that size."""
    inputs = case.sample.inputs
    seen = set[tuple[tuple[int, ...], ...]]()
    for number, array in enumerate(inputs):
        for axis, size in enumerate(array.shape):
            alone = [x if i != number else np.take(x, [], axis) for i, x in enumerate(inputs)]
            beside = [_cut(x, size, axis) for x in inputs]
            everywhere = [_cut(x, size) for x in inputs]
            for arrays in (alone, beside, everywhere):
                shapes = tuple(x.shape for x in arrays)
                if shapes in seen:
                    continue
                seen.add(shapes)
                sample = replace(case.sample, inputs=tuple(arrays), differentiable=())
                empty = replace(case, sample=sample)
                try:
                    case.op.infer(empty.specs, sample.attrs)
                except PlaygradError:
                    continue
                yield empty


def _cut(array: Array, size: int, axis: int | None = None) -> Array:
    """Return ``array`` without elements along ``axis``, or any axis, if that has ``size``."""
    for number in range(array.ndim):
        if axis in (None, number) and array.shape[number] == size:
            array = np.take(array, [], number)
    return array
