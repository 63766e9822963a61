"""The calls of one sample, noted while a `Fold` reads it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import default_dtype
from playgrad.errors import DTypeError, GraphError
from playgrad.graph.tensor import Tensor
from playgrad.ops.joined.call_kinds import CallKind, CallKinds, JoinedFunction
from playgrad.ops.joined.rows import encoded

FIXED = (bool, str, type(None))
"""The types of arguments that are passed on as they are."""
_INT = ("number", "int32", ())
_FLOAT = ("number", "float32", ())
_LIMIT = 1 << 31
_LARGEST = float(np.finfo(np.float32).max)


class FoldValue:
    """The value of a call that a `Fold` has noted. It is passed to other batched functions.

    Attributes:
        reading: the reading of the sample that it belongs to.
        row: the number of the call in its sample.
        depth: how many calls must have been computed before, at least.
        kind: the kind of the call.
    """

    __slots__ = ("depth", "kind", "reading", "row")

    def __init__(self, reading: SampleReading, row: int, depth: int, kind: CallKind) -> None:
        self.reading = reading
        self.row = row
        self.depth = depth
        self.kind = kind

    def __repr__(self) -> str:
        return f"<value of {self.kind.label}(), call {self.row}>"

    def __bool__(self) -> bool:
        raise GraphError(
            f"the value of {self.kind.label}() is computed later, so Python cannot branch on it.",
            hint="Use pg.where(condition, a, b) in a batched function.",
        )


class FoldInput:
    """Stands for an input of a `Fold` while samples are read: a row for each sample."""

    __slots__ = ("form", "reading")

    def __init__(self, reading: SampleReading, number: int) -> None:
        self.reading = reading
        self.form = ("input", number)


class SampleReading:
    """Notes the calls of one sample.

    Args:
        kinds: the kinds of calls, to which new ones are added.
        inputs: the number of inputs of a sample.
        max_depth, max_calls: bounds, beyond which a call is an error.

    Attributes:
        kinds_of, depths: the number of the kind, and the depth, of each call.
        numbers: the arguments of all calls: rows of values, and bits of numbers. As many belong to
            a call as its kind is wide.
    """

    def __init__(self, kinds: CallKinds, inputs: int, max_depth: int, max_calls: int) -> None:
        self.kinds = kinds
        self.inputs = [FoldInput(self, number) for number in range(inputs)]
        self.max_depth, self.max_calls = max_depth, max_calls
        self.kinds_of: list[int] = []
        self.depths: list[int] = []
        self.numbers: list[int] = []

    def call(self, function: JoinedFunction, args: Sequence[Any]) -> FoldValue:
        """Note a call and return its value.

        Raises:
            GraphError: there are too many calls, they are too deep, a value belongs to another
                reading, or no argument has rows.
            DTypeError: an argument cannot become a number.
        """
        numbers, known = self.numbers, self.kinds.known
        signature: list[Any] = [function.identity]
        depth = -1
        try:
            for arg in args:
                kind = type(arg)
                if kind is FoldValue:
                    if arg.reading is not self:
                        self._refuse(function)
                    if arg.depth > depth:
                        depth = arg.depth
                    numbers.append(arg.row)
                    signature.append(arg.kind)
                elif kind is int and -_LIMIT <= arg < _LIMIT:
                    numbers.append(arg)
                    signature.append(_INT)
                elif kind is FoldInput:
                    if arg.reading is not self:
                        self._refuse(function)
                    signature.append(arg.form)
                elif kind in FIXED:
                    signature.append(("fixed", arg))
                else:
                    signature.append(self._noted(function, arg))
            key = tuple(signature)
            of_call = known.get(key) or self.kinds.met(function, key)
            row, depth = len(self.kinds_of), depth + 1
            if depth > self.max_depth or row >= self.max_calls:
                raise _too_large(function, self)
        except BaseException:  # the function that reads may go on without the call
            widths = [kind.width for kind in self.kinds]
            del numbers[sum(widths[number] for number in self.kinds_of) :]
            raise
        self.kinds_of.append(of_call.number)
        self.depths.append(depth)
        return FoldValue(self, row, depth, of_call)

    def _noted(self, function: JoinedFunction, value: Any) -> tuple[Any, ...]:
        """Note a number or an array, and return its form."""
        if isinstance(value, Tensor):
            raise GraphError(
                f"{function.label}() got the tensor '{value.name}' while samples are read.",
                hint="Pass it as an input of the Fold, with a row for each sample, or use it in "
                "the function itself, where it is the same for all calls.",
            )
        if isinstance(value, float) and not _LARGEST < abs(value) < np.inf:
            self.numbers.append(int(encoded(np.asarray(value, np.float32))[0]))
            return _FLOAT
        try:
            array = np.asarray(value)
            dtype = default_dtype(array)
            with np.errstate(over="ignore"):
                converted = array.astype(dtype)
        except (DTypeError, ValueError, TypeError):
            raise DTypeError(
                f"{function.label}() got {type(value).__name__} {value!r:.60}, which is neither a "
                "number or an array nor the value of a batched function.",
                hint="Strings, bools and None are passed as they are.",
            ) from None
        if dtype in ("int32", "uint32"):
            fits = np.array_equal(converted, array)
        else:
            fits = np.array_equal(np.isinf(converted), np.isinf(array))
        if not fits:
            raise DTypeError(f"{function.label}() got {value!r:.60}, which does not fit {dtype}.")
        self.numbers.extend(encoded(converted).tolist())
        return ("number", dtype, array.shape)

    def _refuse(self, function: JoinedFunction) -> None:
        raise GraphError(
            f"{function.label}() got a value of another sample, or of another Fold.",
            hint="A value can only be used while the sample that it belongs to is read.",
        )


def _too_large(function: JoinedFunction, reading: SampleReading) -> GraphError:
    depth = len(reading.kinds_of) < reading.max_calls
    what = f"{reading.max_depth} calls deep" if depth else f"of {reading.max_calls:,} calls"
    return GraphError(
        f"{function.label}() is called in a sample that would be more than {what}.",
        hint="Does the structure contain itself? If it is only large, pass "
        f"pg.Fold(..., {'max_depth' if depth else 'max_calls'}=...).",
    )


class _Current(threading.local):
    def __init__(self) -> None:
        self.reading: SampleReading | None = None


CURRENT = _Current()
"""The reading of this thread's `Fold`, if there is one."""
