"""Markers for replicated training: where the batch is divided, and where replicas are averaged.

The graph of a step is built once. A rewrite copies its nodes so that it runs on several devices or
in several parts, and these markers tell it where. In a graph that is not rewritten there is one
replica; both operations are then identities and cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node, as_tensor, expect_floating
from playgrad.ops.core.like import Specialised
from playgrad.ops.core.samples import floats, integers


def split_batch(x: Any, name: str | None = None) -> Tensor:
    """Mark ``x`` as a batch to be divided among replicas, along axis 0.

    Args:
        x: a tensor of at least one dimension and any dtype.

    Returns:
        ``x`` as a tensor of shape ``(None, *x.shape[1:])``, so that the operations on it allow a
        part of any size.

    Raises:
        ShapeError: ``x`` is a scalar.
    """
    return add_node(_SPLIT_BATCH, [as_tensor(x)], name=name).output


def cross_replica_mean(x: Any, name: str | None = None) -> Tensor:
    """Return the mean of ``x`` over all replicas, weighted by the size of their part of the batch.

    It turns a mean over the samples of a replica into the mean over the whole batch.

    Args:
        x: a tensor of any shape; float32 or float64.

    Returns:
        A tensor of the shape and dtype of ``x``, the same in all replicas.

    Raises:
        DTypeError: ``x`` is not floating.
    """
    return add_node(_CROSS_REPLICA_MEAN, [as_tensor(x)], name=name).output


def _infer_split(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x = inputs[0]
    if x.rank == 0:
        raise ShapeError("split_batch: a scalar has no batch dimension to split.")
    return [TensorSpec((None, *x.shape[1:]), x.dtype)]


def _one_replica(inputs: Sequence[TensorSpec], attrs: Attrs) -> Specialised:
    return "identity", {}, (0,)


def _split_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    # Always by the shape of x, even if that is known: with one replica it changes nothing, and if
    # the gradient of a part takes the place of the whole one, it is an error instead of wrong.
    assert grads[0] is not None
    return [add_node("reshape_like", [grads[0], node.inputs[0]]).output]


_SPLIT_BATCH = register(
    OpDef(
        name="split_batch",
        infer=_infer_split,
        reference=lambda inputs, attrs: [inputs[0]],
        gradient=_split_gradient,
        alias=True,
        specialise=_one_replica,
        samples=(
            Sample((floats(3, 4),)),
            Sample((integers(5),)),
            Sample((np.arange(12, dtype=np.uint8).reshape(2, 3, 2),)),
        ),
        invalid=(InvalidSample((floats(),), {}, ShapeError, "a scalar has no batch dimension"),),
    )
)


def _infer_mean(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_floating(inputs[0], "the input of cross_replica_mean")
    return [inputs[0]]


def _mean_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    # With weights w_r the loss is L = sum_r w_r L_r, and the gradient that replica s needs is
    # d_s, where dL = sum_s w_s d_s . dx_s: gradients of variables are averaged with the weights.
    # Each replica gets m = sum_s w_s x_s. With g_r = dL_r / dm, dL = sum_r w_r g_r . dm =
    # sum_s w_s (sum_r w_r g_r) . dx_s: d_s is the mean of the incoming gradients, for all s alike.
    return [cross_replica_mean(grads[0])]


_CROSS_REPLICA_MEAN = register(
    OpDef(
        name="cross_replica_mean",
        infer=_infer_mean,
        reference=lambda inputs, attrs: [inputs[0]],
        gradient=_mean_gradient,
        alias=True,
        specialise=_one_replica,
        samples=(Sample((floats(3, 4),)), Sample((floats(),))),
        invalid=(InvalidSample((integers(3),), {}, DTypeError, "not int32"),),
    )
)
