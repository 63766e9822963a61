"""``merge_axes``: two axes as one, without knowing their sizes."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.shape import reshape_like
from playgrad.ops.core.build import add_node
from playgrad.ops.core.samples import floats


def merge_axes(x: Tensor, axis: int, name: str | None = None) -> Tensor:
    """Return ``x`` with ``axis`` and the one after it as one, however many sizes are unknown."""
    return add_node(_MERGE_AXES, [x], {"axis": axis}, name=name).output


def _infer_merge(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    (x,), axis = inputs, attrs["axis"]
    if not 0 <= axis < x.rank - 1:
        raise ShapeError(
            f"axis {axis} of the shape {shape_text(x.shape)} has none after it to merge with."
        )
    first, second = x.shape[axis : axis + 2]
    size = None if first is None or second is None else first * second
    return [TensorSpec((*x.shape[:axis], size, *x.shape[axis + 2 :]), x.dtype)]


def _merge(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (x,), axis = inputs, attrs["axis"]
    size = x.shape[axis] * x.shape[axis + 1]
    return [x.reshape(*x.shape[:axis], size, *x.shape[axis + 2 :])]


def _merge_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [reshape_like(grads[0], node.inputs[0])]


_MERGE_AXES = register(
    OpDef(
        name="merge_axes",
        infer=_infer_merge,
        reference=_merge,
        gradient=_merge_gradient,
        alias=True,
        samples=(
            Sample((floats(2, 3, 4),), {"axis": 1}),
            Sample((floats(2, 0, 3),), {"axis": 0}),
        ),
        invalid=(InvalidSample((floats(2, 3),), {"axis": 1}, ShapeError, "none after it"),),
    )
)
