"""``record``: write numbers of a training step into a history on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, KernelError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import as_tensor, expect_dtype, expect_floating
from playgrad.ops.core.kernel import (
    KernelCall,
    KernelRequest,
    Lowering,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop
from playgrad.ops.core.samples import floats
from playgrad.ops.core.templates import render

MAX_VALUES = 6
"""A kernel may bind 8 buffers: the history, the position and this many values."""


def record(
    history: Tensor, position: Any, values: Sequence[Any], name: str | None = None
) -> Tensor:
    """Write ``values`` into row ``position % capacity`` of a history variable.

    Args:
        history: a floating variable of shape (capacity, k).
        position: a uint32 scalar.
        values: at most 6 tensors of the dtype of ``history``, scalars or of one dimension, with k
            numbers in all.

    Returns:
        The new value of ``history``.

    Raises:
        ShapeError: the history has another shape, there are more than 6 values, or one has more
            than one dimension.
        DTypeError: the dtype of a value differs from that of the history.
    """
    inputs = [history, as_tensor(position, history.graph, "uint32")]
    inputs += [as_tensor(value, history.graph, history.dtype) for value in values]
    return history.graph.add(
        _RECORD,
        inputs,
        {"variables": [history.node.name]},
        name=name,
        phase="update",
        device=history.node.device,
    ).output


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    history, position, *values = inputs
    expect_floating(history, "a history")
    expect_dtype(position, "the position in a history", "uint32")
    if position.shape != () or any(value.rank > 1 for value in values):
        shapes = ", ".join(shape_text(value.shape) for value in (position, *values))
        raise ShapeError(
            f"the position must be a scalar, and values scalars or of one dimension, not {shapes}."
        )
    sizes = [1 if value.rank == 0 else value.shape[0] for value in values]
    known = [size for size in sizes if size is not None]
    fits = history.rank == 2 and history.shape[0] != 0
    if not fits or (len(known) == len(sizes) and history.shape[1] != sum(known)):
        raise ShapeError(
            f"a history of {sum(known)} values must have the shape (capacity, {sum(known)}), "
            f"not {shape_text(history.shape)}."
        )
    if len(values) > MAX_VALUES:
        raise ShapeError(f"record takes at most {MAX_VALUES} values, not {len(values)}.")
    for value in values:
        expect_dtype(value, "the values to record", history.dtype)
    return [history]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    history, position, *values = inputs
    result = history.copy()
    result[int(position) % len(history)] = np.concatenate([np.atleast_1d(v) for v in values])
    return [result]


def _lower(request: KernelRequest) -> Lowering:
    if request.aliases.get(0) != 0:
        raise KernelError(
            "record writes in place: the history must be in the buffer of the output."
        )
    capacity, width = request.outputs[0].static_shape
    stores, first = [], 0
    for i, value in enumerate(request.inputs[2:]):
        if value.size == 1:
            stores.append(f"  history[row + {first}u] = value{i}[0];")
        else:
            loop = f"for (var i = 0u; i < {value.size}u; i++)"
            stores.append(f"  {loop} {{ history[row + {first}u + i] = value{i}[i]; }}")
        first += value.size
    code = render("record.wgsl", CAPACITY=capacity, WIDTH=width, STORES="\n".join(stores))
    bindings = (
        output_binding("history", 0, request.outputs[0]),
        input_binding("position", 1, request.inputs[1]),
        *(input_binding(f"value{i}", 2 + i, value) for i, value in enumerate(request.inputs[2:])),
    )
    params = {"capacity": capacity, "width": width}
    loops = tuple(Loop(value.size) for value in request.inputs[2:] if value.size != 1)
    return Lowering((KernelCall("record", params, code, bindings, (1, 1, 1), loops=loops),))


def _scalar(value: float, kind: str = "float32") -> Array:
    return np.asarray(value, kind)


_ATTRS = {"variables": ["history"]}
_RECORD = register(
    OpDef(
        name="record",
        infer=_infer,
        reference=_reference,
        lower=_lower,
        writes=True,
        blocks_gradient=True,
        samples=(
            Sample((floats(5, 2), _scalar(3, "uint32"), _scalar(0.5), _scalar(-2)), _ATTRS),
            Sample((floats(5, 1), _scalar(12, "uint32"), _scalar(0.5)), _ATTRS),
            Sample((floats(3, 6), _scalar(1, "uint32"), *(_scalar(i) for i in range(6))), _ATTRS),
            Sample((floats(3, 6), _scalar(4, "uint32"), floats(4), _scalar(1), floats(1)), _ATTRS),
        ),
        invalid=(
            InvalidSample(
                (floats(5, 2), _scalar(3, "uint32"), _scalar(1)),
                _ATTRS,
                ShapeError,
                "a history of 1 values must have the shape (capacity, 1), not (5, 2)",
            ),
            InvalidSample(
                (floats(5, 2), _scalar(3, "uint32"), floats(2, 1)), _ATTRS, ShapeError, "(2, 1)"
            ),
            InvalidSample(
                (floats(5, 1), _scalar(3, "int32"), _scalar(1)), _ATTRS, DTypeError, "uint32"
            ),
        ),
    )
)
