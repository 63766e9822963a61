"""Operations between the layers in files of Keras: arithmetic, and the computation of masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from playgrad import ops
from playgrad.errors import CheckpointError
from playgrad.graph.tensor import Tensor

_OPERATIONS: dict[str, Callable[..., Tensor]] = {
    "Absolute": ops.absolute,
    "Add": ops.add,
    "Any": lambda x, axis, keepdims: ops.reduce_any(ops.cast(x, "bool"), axis, keepdims),
    "Concatenate": lambda parts, axis: ops.concat(_of_one_dtype(parts), axis),
    "Divide": ops.div,
    "Equal": ops.equal,
    "Exp": ops.exp,
    "ExpandDims": ops.expand_dims,
    "LogicalAnd": lambda x, y: ops.logical_and(*_bools(x, y)),
    "LogicalNot": lambda x: ops.logical_not(*_bools(x)),
    "LogicalOr": lambda x, y: ops.logical_or(*_bools(x, y)),
    "Maximum": ops.maximum,
    "Minimum": ops.minimum,
    "Multiply": ops.mul,
    "Negative": ops.neg,
    "NotEqual": ops.not_equal,
    "Relu": ops.relu,
    "Sigmoid": ops.sigmoid,
    "Softmax": ops.softmax,
    "Sqrt": ops.sqrt,
    "Square": ops.square,
    "Subtract": ops.sub,
    "Tanh": ops.tanh,
    "TrueDivide": ops.div,
    "OnesLike": ops.ones_like,
    "ZerosLike": ops.zeros_like,
}
_MOST_PAIRS = 16
"""The most operations of two masks that are compared."""


def _bools(*tensors: Any) -> list[Tensor]:
    return [ops.cast(x, "bool") for x in tensors]


def _of_one_dtype(parts: list[Tensor]) -> list[Tensor]:
    return _bools(*parts) if any(x.dtype == "bool" for x in parts) else parts


class KerasOperation:
    """An operation of a file.

    Args:
        data: its description.

    Raises:
        CheckpointError: playgrad does not read it.
    """

    def __init__(self, data: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        class_name = str(data["class_name"])
        if class_name not in _OPERATIONS:
            raise CheckpointError(
                f"the Keras file has the operation {class_name[:80]} between its layers.",
                hint=f"Read are: {', '.join(sorted(_OPERATIONS))}.",
            )
        self._name = class_name
        self._function = _OPERATIONS[class_name]
        self._options = {key: value for key, value in config.items() if key in ("axis", "keepdims")}

    def __call__(self, arguments: list[Any]) -> Tensor:
        """Return the result for tensors, numbers, and lists of tensors.

        Raises:
            CheckpointError: they do not fit.
        """
        try:
            return self._function(*arguments, **self._options)
        except Exception as error:  # operations can raise anything for damaged data
            raise CheckpointError(
                f"the operation {self._name[:80]} of the Keras file does not fit its inputs: "
                f"{str(error)[:200]}"
            ) from None


def is_operation(data: Any) -> bool:
    """Return whether an object is an operation of Keras, not a layer."""
    parts = str(data.get("module")).split(".") if isinstance(data, Mapping) else []
    return parts[:1] == ["keras"] and "ops" in parts


def are_same(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors are computed alike, up to casts; False if that is not seen."""
    left, seen = [(one, other)], set[tuple[Tensor, Tensor]]()
    while left:
        x, y = (_source(each) for each in left.pop())
        if x is y or (x, y) in seen:
            continue
        seen.add((x, y))
        a, b = x.node, y.node
        if len(seen) > _MOST_PAIRS or a.op is not b.op or len(a.inputs) != len(b.inputs):
            return False
        if a.op.name == "constant":
            if not np.array_equal(a.attrs["value"], b.attrs["value"]):
                return False
        elif not a.inputs or a.attrs != b.attrs:
            return False
        left += zip(a.inputs, b.inputs, strict=True)
    return True


def _source(tensor: Tensor) -> Tensor:
    while tensor.node.op.name in ("cast", "identity"):
        tensor = tensor.node.inputs[0]
    return tensor
