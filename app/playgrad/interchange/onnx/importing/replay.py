"""`applied`: a node of an ONNX graph as operations of playgrad."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from playgrad import ops
from playgrad.errors import CheckpointError, PlaygradError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.interchange.onnx.importing import arrays, pointwise, recurrent, resizing, windows
from playgrad.interchange.onnx.importing.call import (
    TRANSLATIONS,
    Budget,
    NotApplicableError,
    OperatorCall,
)
from playgrad.interchange.onnx.importing.file import OnnxNode, dtype_name

assert arrays and pointwise and recurrent and resizing and windows  # imported to fill the table

Array = np.ndarray[Any, Any]
Sizes = Callable[[int], Tensor]
Value = Tensor | Array
"""A tensor, or the value of a constant: with dtype object if it depends on the batch size."""


class _Operands(Sequence["Tensor | None"]):
    """The inputs of a node as tensors; constants become tensors once they are read."""

    def __init__(self, values: Sequence[Value | None], budget: Budget, sizes: Sizes | None) -> None:
        self._values = values
        self._budget = budget
        self._sizes = sizes

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Tensor | None]:
        return (self[number] for number in range(len(self)))

    @overload
    def __getitem__(self, number: int) -> Tensor | None: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Tensor | None]: ...

    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return [self[i] for i in range(len(self))[number]]
        value = self._values[number]
        if value is None or isinstance(value, Tensor):
            return value
        if value.dtype == object:
            if self._sizes is None:
                raise NotApplicableError(f"input {number} depends on the size of the batch")
            return self._sizes(number)
        self._budget.spend(value.size)
        return ops.constant(value, value.dtype.name)


def applied(
    node: OnnxNode,
    values: Sequence[Value | None],
    opset: int,
    shapes: Sequence[Shape] = (),
    like: Tensor | None = None,
    budget: Budget | None = None,
    sizes: Sizes | None = None,
) -> list[Tensor]:
    """Add the operations of ``node`` to the default graph.

    Args:
        values: the values of its inputs; None for one that is left out.
        shapes: the shapes of its outputs with None for free sizes, if they are known.
        like: a tensor whose first dimension is that of the batch.
        budget: the elements of constants that the node may add.
        sizes: returns an input whose numbers depend on the size of the batch.

    Raises:
        CheckpointError: playgrad lacks the operator or an option of it, or the inputs do not fit;
            the error names the operator, the node and the opset.
    """
    translation = TRANSLATIONS.get(node.operator)
    if translation is None:
        raise refusal(node, opset, "playgrad has no such operator.")
    constants = [None if isinstance(value, Tensor) else value for value in values]
    try:
        budget = budget or Budget()
        operands, attributes = _Operands(values, budget, sizes), attributes_of(node)
        call = OperatorCall(operands, constants, attributes, node.outputs, shapes, like, budget)
        result = translation(call)
    except NotApplicableError as error:
        raise refusal(node, opset, f"playgrad does not support {error}.", error.hint) from None
    except PlaygradError as error:
        raise refusal(node, opset, f"its inputs do not fit: {error.message}") from None
    # Attributes and constants of a damaged file can break a translation in any way.
    except (
        ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError,
    ) as error:  # fmt: skip
        raise refusal(
            node, opset, f"it is damaged: {type(error).__name__} {str(error)[:200]}."
        ) from None
    results = [result] if isinstance(result, Tensor) else list(result)
    if len(results) < len(node.outputs) and any(node.outputs[len(results) :]):
        raise refusal(node, opset, f"playgrad computes only {len(results)} of its outputs.")
    return results


def refusal(node: OnnxNode, opset: int, why: str, hint: str | None = None) -> CheckpointError:
    """Return the error of a node that cannot be imported."""
    return CheckpointError(
        f"{node.operator}, node '{node.name}' of opset {opset}: {why}", hint=hint
    )


def attributes_of(node: OnnxNode) -> dict[str, Any]:
    """Return the attributes of ``node``, with dtypes of playgrad, and its operator."""
    attributes = dict(node.attributes)
    kind = attributes.get("to", attributes.get("dtype"))
    if isinstance(kind, int):
        attributes["playgrad_dtype"] = dtype_name(kind)
    if isinstance(value := attributes.get("value"), np.ndarray):
        attributes["playgrad_value"] = value
    attributes["operator"] = node.operator
    return attributes
