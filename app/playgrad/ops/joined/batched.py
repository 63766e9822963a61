"""``batched``: functions whose calls are joined."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import as_tensor
from playgrad.ops.joined.reading import CURRENT, FIXED, FoldInput, FoldValue


class BatchedFunction:
    """A function of rows, whose calls a `Fold` joins; see `batched`.

    Attributes:
        function: the function, without the object that it is a method of.
        label: its name.
        owner: the object that it is a method of, or None.
        identity: equal for the same function of the same object.
    """

    def __init__(self, function: Callable[..., Any], owner: Any = None) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.owner = owner
        self.identity: Hashable = (function, id(owner))
        self.label = function.__name__.strip("<>")
        self._signature: inspect.Signature | None = None

    def __get__(self, instance: Any, owner: type | None = None) -> BatchedFunction:
        if instance is None:
            return self
        bound = BatchedFunction(self.function, instance)
        vars(instance)[self.function.__name__] = bound  # found first from now on
        return bound

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Note the call, if a `Fold` reads a sample; else compute it, with rows of one for numbers.

        Raises:
            GraphError, DTypeError: an argument does not fit.
        """
        if kwargs:
            args = self._positional(args, kwargs)
        reading = CURRENT.reading
        if reading is not None:
            return reading.call(self, args)
        return self.compute(*map(self._row, args))

    def compute(self, *args: Any) -> Any:
        """Call the function itself."""
        return self.function(*args) if self.owner is None else self.function(self.owner, *args)

    def _positional(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if self._signature is None:
            signature = inspect.signature(self.function)
            if self.owner is not None:
                _self, *others = signature.parameters.values()
                signature = signature.replace(parameters=others)
            self._signature = signature
        bound = self._signature.bind(*args, **kwargs)
        if bound.kwargs:
            bound.apply_defaults()
        if bound.kwargs:
            raise GraphError(
                f"{self.label}() must not have arguments that are only passed by their names."
            )
        return bound.args

    def _row(self, value: Any) -> Any:
        """Return a number or an array as a tensor of one row; all else as it is."""
        if isinstance(value, (FoldValue, FoldInput)):
            raise GraphError(
                f"{self.label}() got a value of a Fold that no longer reads samples.",
                hint="Use Fold.read, whose result has the values of all samples.",
            )
        if isinstance(value, (*FIXED, Tensor)) or not isinstance(
            value, (int, float, list, np.ndarray, np.generic)
        ):
            return value
        return as_tensor(np.asarray(value)[None])


def batched(function: Callable[..., Any]) -> BatchedFunction:
    """Make a function of rows one whose calls are joined.

    A tree, an expression or a small program is read by ordinary recursive Python that calls such
    functions. Within a `Fold`, a call is only noted; equal calls of equal depth of all samples are
    later computed by one call of ``function``, whose arguments have a row for each of them. Calls
    are equal if their arguments are of the same kinds and shapes, and their strings, bools and None
    are the same.

    Outside of a `Fold` the function is called as it is. Numbers and arrays become tensors of one
    row then, so that the same Python computes one sample, in eager mode for example.

    Args:
        function: takes tensors (calls, ...) and returns tensors (calls, ...), alone or nested in
            lists, tuples and dictionaries. Each row of the result must depend only on the same row
            of the arguments. Layers, variables and other tensors that it uses are shared by all
            calls. It may be a method.

    Returns:
        A `BatchedFunction`, to be called with values of other calls, numbers, arrays, strings,
        bools and None.
    """
    return BatchedFunction(function)
