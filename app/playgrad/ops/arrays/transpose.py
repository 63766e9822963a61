"""``transpose``: a tensor with its axes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node, as_tensor, normalize_axis, one_or_more
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.move_elements import lower_transpose


def transpose(x: Any, perm: Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """Return ``x`` with its axes in the order ``perm``.

    Args:
        x: a tensor of any shape and dtype.
        perm: the axes of ``x``, each once, counted from the front or (negative) from the end.
            Axis i of the result is axis ``perm[i]`` of ``x``. None reverses the axes.

    Returns:
        A tensor of shape ``[x.shape[i] for i in perm]`` and the dtype of ``x``.

    Raises:
        ShapeError: ``perm`` does not name each axis once.
    """
    tensor = as_tensor(x)
    rank = tensor.spec.rank
    order = list(reversed(range(rank))) if perm is None else one_or_more(perm)
    attrs = {"perm": [normalize_axis(axis, rank) for axis in order]}
    return add_node(_TRANSPOSE, [tensor], attrs, name=name).output


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, perm = inputs[0], attrs["perm"]
    if sorted(perm) != list(range(x.rank)):
        raise ShapeError(
            f"transpose: perm must name each axis of the shape {shape_text(x.shape)} once, "
            f"got {list(perm)}."
        )
    return [TensorSpec(tuple(x.shape[axis] for axis in perm), x.dtype)]


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    perm = node.attrs["perm"]
    return [transpose(grads[0], [perm.index(axis) for axis in range(len(perm))])]


_TRANSPOSE = register(
    OpDef(
        name="transpose",
        infer=_infer,
        reference=lambda inputs, attrs: [np.asarray(inputs[0].transpose(attrs["perm"]), order="C")],
        gradient=_gradient,
        lower=lower_transpose,
        samples=(
            Sample((floats(),), {"perm": []}),
            Sample((floats(2, 0, 3),), {"perm": [2, 0, 1]}),
            Sample((floats(3, 4),), {"perm": [1, 0]}),
            Sample((floats(2, 3, 4),), {"perm": [2, 0, 1]}),
            Sample((integers(2, 3, 4, 5),), {"perm": [0, 3, 1, 2]}),
            Sample((floats(3, 5).astype(np.float16),), {"perm": [1, 0]}, differentiable=()),
            Sample((np.arange(15, dtype=np.uint8).reshape(3, 5),), {"perm": [1, 0]}),
            Sample((np.arange(-7, 8, dtype=np.int8).reshape(3, 5),), {"perm": [1, 0]}),
        ),
        invalid=(
            InvalidSample((floats(3, 4),), {"perm": [0, 0]}, ShapeError, "(3, 4) once"),
            InvalidSample((floats(3, 4),), {"perm": [0]}, ShapeError, "each axis"),
        ),
    )
)
