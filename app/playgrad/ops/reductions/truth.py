"""``reduce_any`` and ``reduce_all``: logic along axes."""

from __future__ import annotations

from typing import Any

from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import as_tensor
from playgrad.ops.elementwise.definitions import cast, equal, greater, logical_not
from playgrad.ops.reductions.reduce import Axis, reduce_sum


def reduce_any(
    x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return whether any element of ``x`` is true along one or more axes. Gradients stop here.

    Args:
        x: a tensor of any shape and dtype; numbers other than 0 are true.
        axis: one axis or several, negative ones counted from the end; None means all axes.
        keepdims: keep reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns:
        A bool tensor without the reduced axes. Of no elements none is true.

    Raises:
        ShapeError: an axis does not exist, or is named twice.
    """
    count = reduce_sum(cast(cast(as_tensor(x), "bool"), "int32"), axis, keepdims)
    return greater(count, 0, name=name)


def reduce_all(
    x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return whether all elements of ``x`` are true along one or more axes. Gradients stop here.

    Arguments, result and errors as in ``reduce_any``. Of no elements all are true.
    """
    false = logical_not(cast(as_tensor(x), "bool"))
    return equal(reduce_sum(cast(false, "int32"), axis, keepdims), 0, name=name)
