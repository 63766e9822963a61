"""A check that a batched function treats each call alone.

If a result depended on other rows, for example by a mean over the first axis, it would change with
the calls that happen to be joined, without an error.
"""

from __future__ import annotations

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import GraphError, PlaygradError
from playgrad.graph.opdef import Array
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import specs_of
from playgrad.ops.control.recording import Recording
from playgrad.ops.control.subgraph import evaluator, from_text

_ROWS = 5
_NUMBERS = np.random.default_rng(0).uniform(0.1, 1.0, 997)
_TOLERANCE = 1e-3


def expect_rows_apart(label: str, text: str, recording: Recording) -> None:
    """Check a function with made-up arguments: all rows, and each row five times, must agree.

    Args:
        label: the name of the function.
        text: the function, as ops/control/subgraph.py has it.

    Raises:
        GraphError: a row of its result depends on another row of its arguments.
    """
    arguments = specs_of(recording.inputs)
    specs = [TensorSpec((_ROWS, *spec.shape[1:]), spec.dtype) for spec in arguments]
    specs += [
        TensorSpec(tuple(_ROWS if n is None else n for n in spec.shape), spec.dtype)
        for spec in specs_of(recording.captures)
    ]
    arrays = [_made_up(spec, number) for number, spec in enumerate(specs)]
    count = len(arguments)
    try:
        run = evaluator(from_text(text, tuple(specs)))
        with np.errstate(all="ignore"):
            together = run(arrays)
            for row in range(_ROWS):
                alike = [np.repeat(array[row : row + 1], _ROWS, axis=0) for array in arrays[:count]]
                for a, b in zip(together, run([*alike, *arrays[count:]]), strict=True):
                    if not _close(a[row], b[row]):
                        raise _MixedError
    except _MixedError:
        raise GraphError(
            f"the batched function {label}() mixes the rows of several calls, so that its results "
            "would depend on which calls are joined.",
            source=recording.source,
            hint="Each row is a call of its own: reduce along axes from 1 on.",
        ) from None
    except PlaygradError:
        return  # it refuses made-up numbers; what samples have is checked when they are computed


class _MixedError(Exception):
    """A row depends on another."""


def _made_up(spec: TensorSpec, place: int) -> Array:
    """Return numbers that differ from row to row, or 0 for integers, which may be indices."""
    if not dtype(spec.dtype).floating:
        return np.zeros(spec.static_shape, spec.dtype)
    return np.resize(np.roll(_NUMBERS, 31 * place), spec.static_shape).astype(spec.dtype)


def _close(a: Array, b: Array) -> bool:
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a, b, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True))
