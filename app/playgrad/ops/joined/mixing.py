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

_ROWS, _FEWER = 5, 3
_NUMBERS = np.random.default_rng(0).uniform(0.1, 1.0, 997)
_BITS = np.random.default_rng(1).integers(2, size=997)
_TOLERANCE = 1e-3
_LARGEST = ((1, 1), (1, 0), (0, 0))
"""The largest integers that are tried as arguments and as captured tensors. They may be indices, of
which only 0 is certain to be valid, but equal rows would hide what mixes them."""


def expect_rows_apart(label: str, text: str, recording: Recording) -> None:
    """Check a function with made-up arguments: five rows must agree with three times each of them.

    So a row depends neither on the other ones, nor on its place, nor on their number.

    Args:
        label: the name of the function.
        text: the function, as ops/control/subgraph.py has it.

    Raises:
        GraphError: a row of its result depends on another row of its arguments.
    """
    for of_arguments, of_captures in _LARGEST:
        try:
            mixed = _mixes(text, recording, of_arguments, of_captures)
        except PlaygradError:
            continue  # it refuses made-up numbers; what samples have is checked when computed
        if not mixed:
            return
        raise GraphError(
            f"the batched function {label}() mixes the rows of several calls, so that its results "
            "would depend on which calls are joined.",
            source=recording.source,
            hint="Each row is a call of its own: reduce along axes from 1 on.",
        )


def _mixes(text: str, recording: Recording, of_arguments: int, of_captures: int) -> bool:
    """Return whether a row of the result depends on more than the same row of the arguments.

    Args:
        of_arguments, of_captures: the largest integers.
    """
    arguments, captures = specs_of(recording.inputs), specs_of(recording.captures)
    captured = [TensorSpec(tuple(n or _ROWS for n in s.shape), s.dtype) for s in captures]
    constant = [_made_up(s, -1 - place, of_captures) for place, s in enumerate(captured)]

    def of_rows(rows: int) -> list[TensorSpec]:
        return [TensorSpec((rows, *spec.shape[1:]), spec.dtype) for spec in arguments]

    arrays = [_made_up(s, place, of_arguments) for place, s in enumerate(of_rows(_ROWS))]
    run = evaluator(from_text(text, (*of_rows(_ROWS), *captured)))
    run_fewer = evaluator(from_text(text, (*of_rows(_FEWER), *captured)))
    with np.errstate(all="ignore"):
        together = [array.copy() for array in run([*arrays, *constant])]
        for row in range(_ROWS):
            alike = [np.repeat(array[row : row + 1], _FEWER, axis=0) for array in arrays]
            for a, b in zip(together, run_fewer([*alike, *constant]), strict=True):
                if not _close(np.broadcast_to(a[row], b.shape), b):
                    return True
    return False


def _made_up(spec: TensorSpec, place: int, largest: int) -> Array:
    """Return numbers that differ from row to row; integers up to ``largest``."""
    if dtype(spec.dtype).floating:
        return np.resize(np.roll(_NUMBERS, 31 * place), spec.static_shape).astype(spec.dtype)
    bits = np.resize(np.roll(_BITS, 31 * place), spec.static_shape)
    if spec.shape and spec.shape[0] == _ROWS:
        bits[0], bits[-1] = 0, 1  # of a single number in a row, too
    return (bits * largest).astype(spec.dtype)


def _close(a: Array, b: Array) -> bool:
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a, b, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True))
