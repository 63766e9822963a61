"""``strided_slice``: Python's slices of each dimension, with steps, and its gradient ``unslice``.

``slice`` takes a start and a size of each dimension. The slices here also have steps, and their
meaning may depend on a size that is unknown until the graph is fed: ``x[-3:]``, ``x[:9]`` of four
rows, ``x[::-1]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node, as_tensor
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.slices import lower_strided_slice, lower_unslice

Slices = Sequence[Sequence[int | None]]
"""Start, stop and step of each dimension, as in Python's ``slice``."""


def strided_slice(x: Any, slices: Slices, name: str | None = None) -> Tensor:
    """Return ``x[slices]``, with (start, stop, step) for each dimension of ``x``.

    Raises:
        ShapeError: the number of slices is not the rank of ``x``, or a step is 0.
    """
    attrs = {"slices": [list(part) for part in slices]}
    return add_node(_STRIDED_SLICE, [as_tensor(x)], attrs, name=name).output


def _sliced(shape: Shape, slices: Slices) -> Shape:
    """Return the shape of ``x[slices]`` for ``x`` of ``shape``."""
    if len(slices) != len(shape) or any(step == 0 for _, _, step in slices):
        raise ShapeError(
            f"expected one slice for each dimension of the shape {shape_text(shape)}, with a step "
            f"other than 0, got {[list(part) for part in slices]}."
        )
    return tuple(
        None if dim is None else len(range(*slice(*part).indices(dim)))
        for dim, part in zip(shape, slices, strict=True)
    )


def _keys(slices: Slices) -> tuple[slice, ...]:
    return tuple(slice(*part) for part in slices)


def _unslice_like(x: Any, like: Tensor, slices: Slices) -> Tensor:
    """Return zeros of the shape of ``like`` with ``x`` at the places that ``slices`` take."""
    return add_node(_UNSLICE_LIKE, [x, like], {"slices": slices}).output


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [_unslice_like(grads[0], node.inputs[0], node.attrs["slices"])]


_STRIDED_SLICE = register(
    OpDef(
        name="strided_slice",
        infer=lambda inputs, attrs: [
            TensorSpec(_sliced(inputs[0].shape, attrs["slices"]), inputs[0].dtype)
        ],
        reference=lambda inputs, attrs: [np.array(inputs[0][_keys(attrs["slices"])], order="C")],
        gradient=_gradient,
        lower=lower_strided_slice,
        samples=(
            Sample((floats(7),), {"slices": [[None, None, -1]]}),
            Sample((floats(5, 6),), {"slices": [[None, None, 2], [4, None, -3]]}),
            Sample((floats(4, 3),), {"slices": [[None, 9, 1], [-2, None, None]]}),
            Sample((integers(5, 4, 3),), {"slices": [[9, 0, -2], [1, 2, 5], [None, None, 1]]}),
            Sample((floats(4, 3),), {"slices": [[3, 1, 1], [None, None, -1]]}),
            Sample((np.arange(11, dtype=np.uint8),), {"slices": [[None, None, -2]]}),
            Sample((np.arange(-5, 6, dtype=np.int8),), {"slices": [[None, None, -2]]}),
            Sample((floats(2, 0),), {"slices": [[None, None, -1], [None, None, -2]]}),
            Sample((floats(0, 3),), {"slices": [[None, None, -1], [None, None, -1]]}),
        ),
        invalid=(
            InvalidSample((floats(3),), {"slices": [[None, None, 0]]}, ShapeError, "other than 0"),
            InvalidSample((floats(3, 4),), {"slices": [[0, 1, 1]]}, ShapeError, "each dimension"),
        ),
    )
)


# unslice, the gradient of strided_slice


def _infer_unslice(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    (x,), shape = inputs, tuple(attrs["shape"])
    taken = _sliced(shape, attrs["slices"])
    if x.rank != len(taken) or any(
        None not in (m, n) and m != n for m, n in zip(x.shape, taken, strict=True)
    ):
        raise ShapeError(
            f"unslice: the slices of a tensor of shape {shape_text(shape)} have the shape "
            f"{shape_text(taken)}, got {shape_text(x.shape)}."
        )
    return [TensorSpec(shape, x.dtype)]


def _unslice(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    result = np.zeros(tuple(attrs["shape"]), inputs[0].dtype)
    result[_keys(attrs["slices"])] = inputs[0]
    return [result]


_UNSLICE = register(
    OpDef(
        name="unslice",
        infer=_infer_unslice,
        reference=_unslice,
        gradient=lambda node, grads: [strided_slice(grads[0], node.attrs["slices"])],
        lower=lower_unslice,
        samples=(
            Sample((floats(4),), {"shape": [7], "slices": [[None, None, -2]]}),
            Sample((floats(3, 2),), {"shape": [5, 6], "slices": [[None, None, 2], [4, None, -3]]}),
            Sample((integers(4, 2),), {"shape": [4, 3], "slices": [[None, 9, 1], [-2, None, 1]]}),
            Sample((floats(0, 3),), {"shape": [4, 3], "slices": [[2, 1, 1], [None, None, -1]]}),
            Sample((np.arange(4, dtype=np.uint8),), {"shape": [7], "slices": [[None, None, 2]]}),
        ),
        invalid=(
            InvalidSample(
                (floats(3),),
                {"shape": [7], "slices": [[None, None, -2]]},
                ShapeError,
                "have the shape (4,), got (3,)",
            ),
        ),
    )
)
_UNSLICE_LIKE = register_like(
    "unslice_like",
    _UNSLICE,
    1,
    lambda inputs, attrs: {"shape": list(inputs[1].shape), "slices": attrs["slices"]},
    samples=(Sample((floats(4), floats(7)), {"slices": [[None, None, -2]]}),),
)
