"""Shared by the constructors of operations: values to tensors, argument checks, new nodes."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import converted, default_dtype, dtype
from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.eager import at_once
from playgrad.graph.graph import Graph, get_default_graph
from playgrad.graph.opdef import Attrs, OpDef, Sample, lookup, register
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Node, Tensor


def graph_of(*values: Any) -> Graph:
    """Return the graph of the first tensor among ``values``, else the default graph."""
    for value in values:
        if isinstance(value, Tensor):
            return value.graph
    return get_default_graph()


def constant(value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Return a tensor with a fixed value.

    Args:
        value: a number, nested lists of numbers, or a NumPy array.
        dtype: the element type. Without it floats become float32, and integers int32 unless they
            are an int8, uint8 or uint32 array.

    Returns:
        A tensor of the shape of ``value``.

    Raises:
        ShapeError: nested lists differ in length.
        DTypeError: a value does not fit ``dtype``, or is not a number.
    """
    return _constant(get_default_graph(), value, dtype, name)


def _constant(graph: Graph, value: Any, kind: Any = None, name: str | None = None) -> Tensor:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"cannot make an array: {error}") from None
    default = default_dtype(array)
    target = default if kind is None else dtype(kind).name
    what = f"the constant {value!r}" if array.ndim == 0 else "this constant"
    array = converted(array, target, what)
    return graph.add(_CONSTANT, attrs={"value": array}, name=name, phase="input").output


def as_tensor(value: Any, graph: Graph | None = None, like: str | None = None) -> Tensor:
    """Return ``value`` as a tensor.

    A tensor is returned as it is. Anything else becomes a constant.

    Args:
        value: a tensor, a number, nested lists or a NumPy array.
        graph: the graph of the constant; None means the default graph.
        like: the dtype that a Python number takes; lists and arrays do, too, if it is a float's.

    Raises:
        DTypeError: a number does not fit ``like`` (0.5 with integers), or ``value`` cannot become a
            tensor.
    """
    if isinstance(value, Tensor):
        return value
    graph = graph or get_default_graph()
    if isinstance(value, (bool, int, float)) and like is not None:
        if isinstance(value, float) and not dtype(like).floating:
            raise DTypeError(
                f"cannot combine {value!r} with {like} values.", hint="Convert them with cast()."
            )
        return _constant(graph, value, like)
    if isinstance(value, (bool, int, float, list, tuple, np.ndarray, np.generic)):
        floats = like is not None and dtype(like).floating
        return _constant(graph, value, like if floats else None)
    raise DTypeError(f"cannot make a tensor of {type(value).__name__} {value!r:.60}.")


def _float_among(values: Iterable[Any]) -> str | None:
    """Return float32 if an array, list or number among ``values`` holds floats."""
    try:
        kinds = [np.asarray(value).dtype.kind for value in values if not isinstance(value, Tensor)]
    except ValueError:  # a ragged list, of which `as_tensor` says what is wrong
        return None
    return "float32" if "f" in kinds else None


def as_tensors(*values: Any, exact: Collection[int] = ()) -> list[Tensor]:
    """Return ``values`` as tensors of one graph. Numbers take the dtype of the first tensor.

    So do lists and arrays if that is a float's. Without a tensor, all are floats if one is.

    Args:
        exact: positions at which they keep their dtype, as for conditions.
    """
    graph = graph_of(*values)
    with at_once(*values):
        return _as_tensors(graph, values, exact)


def _as_tensors(graph: Graph, values: Sequence[Any], exact: Collection[int]) -> list[Tensor]:
    like = next(
        (value.dtype for value in values if isinstance(value, Tensor) and value.dtype != "bool"),
        next(
            (v.dtype for i, v in enumerate(values) if isinstance(v, Tensor) and i not in exact),
            None,
        ),
    )
    if like is None:
        like = _float_among(value for i, value in enumerate(values) if i not in exact)
    likes = [like if i not in exact or np.isscalar(v) else None for i, v in enumerate(values)]
    return [as_tensor(value, graph, kind) for value, kind in zip(values, likes, strict=True)]


def add_node(
    op: str | OpDef,
    inputs: Sequence[Tensor],
    attrs: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> Node:
    """Add a node to the graph of its inputs and return it."""
    definition = lookup(op) if isinstance(op, str) else op
    return graph_of(*inputs).add(definition, inputs, attrs, name=name)


def is_static(shape: Shape) -> bool:
    """Return whether every dimension of ``shape`` is known."""
    return None not in shape


def broadcast_shapes(*shapes: Shape) -> Shape:
    """Return the shape that ``shapes`` broadcast to by NumPy's rules.

    An unknown dimension stays unknown unless another shape determines it: None with 1 is None,
    None with 5 is 5.

    Raises:
        ShapeError: the shapes do not broadcast together.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[int | None] = []
    for position in range(-rank, 0):
        dims = {shape[position] for shape in shapes if len(shape) >= -position} - {1}
        known = {dim for dim in dims if dim is not None}
        if len(known) > 1:
            texts = " and ".join(shape_text(shape) for shape in shapes)
            raise ShapeError(f"shapes {texts} do not broadcast together.")
        result.append(known.pop() if known else None if None in dims else 1)
    return tuple(result)


def expect_rank(spec: TensorSpec, rank: int, what: str) -> None:
    """Raise ShapeError unless ``spec`` has ``rank`` dimensions."""
    if spec.rank != rank:
        raise ShapeError(
            f"{what} must have {rank} dimensions, but its shape is {shape_text(spec.shape)}."
        )


FLOATS = ("float16", "float32", "float64")
NUMBERS = (*FLOATS, "int32", "uint32")
"""The dtypes of sums and comparisons. A uint8 or int8 would overflow soon."""


def expect_dtype(spec: TensorSpec, what: str, *allowed: str) -> None:
    """Raise DTypeError unless ``spec`` has one of the ``allowed`` dtypes."""
    if spec.dtype not in allowed:
        hint = "Convert it with cast(x, 'float32')." if spec.dtype == "float16" else None
        raise DTypeError(f"{what} must be {' or '.join(allowed)}, not {spec.dtype}.", hint=hint)


def expect_floating(spec: TensorSpec, what: str) -> None:
    """Raise DTypeError unless ``spec`` is float32 or float64."""
    expect_dtype(spec, what, "float32", "float64")


def one_or_more(value: Any) -> list[Any]:
    """Return an argument that may be one value or several as a list."""
    return list(value) if isinstance(value, (list, tuple, range, np.ndarray)) else [value]


def whole(value: Any, what: str) -> int:
    """Return ``value`` as a Python int.

    Raises:
        ShapeError: it is not a whole number. The message calls it ``what``.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise ShapeError(f"{what} must be a whole number, not {value!r:.60}.") from None


def normalize_axis(axis: Any, rank: int) -> int:
    """Return ``axis`` counted from the front.

    Raises:
        ShapeError: a tensor of rank ``rank`` has no such axis.
    """
    axis = whole(axis, "an axis")
    if not -rank <= axis < rank:
        raise ShapeError(f"axis {axis} does not exist in a tensor of {rank} dimensions.")
    return axis % rank


def sorted_axes(axis: Any, rank: int) -> list[int]:
    """Return one axis or several as a sorted list, counted from the front."""
    return sorted(normalize_axis(axis, rank) for axis in one_or_more(axis))


def _infer_constant(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    value = attrs["value"]
    return [TensorSpec(value.shape, value.dtype.name)]


_CONSTANT = register(
    OpDef(
        name="constant",
        infer=_infer_constant,
        reference=lambda inputs, attrs: [attrs["value"]],
        blocks_gradient=True,
        samples=tuple(
            Sample((), {"value": np.asarray(value, kind)})
            for value, kind in (
                ([[0.5, -2.0]], "float32"),
                (3, "int32"),
                ([True, False], "bool"),
                ([1, 2, 3, 4, 255], "uint8"),
                ([1, -2, 3, 127, -128], "int8"),
            )
        ),
    )
)
