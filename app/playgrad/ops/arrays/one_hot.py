"""``one_hot``: rows with a 1 at an index and 0 elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import dtype as dtype_of
from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.gather import as_indices
from playgrad.ops.core.build import add_node, expect_dtype
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.move_elements import lower_one_hot


def one_hot(indices: Any, depth: int, dtype: Any = "float32", name: str | None = None) -> Tensor:
    """Return one-hot rows: 1 at each index and 0 elsewhere.

    Args:
        indices: indices of any shape; int32, uint32 or uint8. One outside [0, depth) gives a row
            of zeros.
        depth: the length of a row, at least 1.
        dtype: the element type of the result.

    Returns:
        A tensor of shape ``(*indices.shape, depth)``.

    Raises:
        ShapeError: ``depth`` is less than 1.
        DTypeError: ``indices`` are not integers.
    """
    attrs = {"depth": int(depth), "dtype": dtype_of(dtype).name}
    return add_node(_ONE_HOT, [as_indices(indices)], attrs, name=name).output


def _infer_one_hot(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_dtype(inputs[0], "the indices of one_hot", "int32")
    if attrs["depth"] < 1:
        raise ShapeError(f"one_hot: depth must be at least 1, not {attrs['depth']}.")
    return [TensorSpec((*inputs[0].shape, attrs["depth"]), dtype_of(attrs["dtype"]).name)]


def _one_hot(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    return [(inputs[0][..., None] == np.arange(attrs["depth"])).astype(attrs["dtype"])]


_ONE_HOT = register(
    OpDef(
        name="one_hot",
        infer=_infer_one_hot,
        reference=_one_hot,
        lower=lower_one_hot,
        blocks_gradient=True,
        samples=(
            Sample((integers(6),), {"depth": 9, "dtype": "float32"}),
            Sample((integers(2, 3),), {"depth": 5, "dtype": "int32"}),
            Sample((np.array([-1, 0, 9], np.int32),), {"depth": 9, "dtype": "float32"}),
            Sample((np.array([-1, 0, 9, 2, 2], np.int32),), {"depth": 3, "dtype": "uint8"}),
            Sample((np.array([-1, 0, 9, 2, 2], np.int32),), {"depth": 3, "dtype": "int8"}),
        ),
        invalid=(
            InvalidSample(
                (floats(2),), {"depth": 3, "dtype": "float32"}, DTypeError, "not float32"
            ),
            InvalidSample(
                (integers(2),), {"depth": 0, "dtype": "float32"}, ShapeError, "at least 1"
            ),
        ),
    )
)
