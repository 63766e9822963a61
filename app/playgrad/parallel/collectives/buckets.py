"""Small tensors put together, so that one collective serves them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.arrays.shape import reshape

ALONE = 1 << 16
"""Bytes from which a tensor is better sent by itself than copied into a bucket and out of it."""
AllReduce = Callable[[Sequence[Tensor], Sequence[str]], list[Tensor]]


def tensor_bytes(tensor: Tensor) -> int | None:
    """Bytes of a tensor when it is sent; None where its size is not known."""
    if None in tensor.shape:
        return None
    return tensor.spec.size * np.dtype(tensor.dtype).itemsize


def bucketed(tensors: Sequence[Tensor], bucket_bytes: int) -> list[list[int]]:
    """Positions of ``tensors`` in buckets, each of one type, in the order of their first ones.

    A bucket is closed when it holds ``bucket_bytes``. What has as much by itself, or ``ALONE``, or
    is of unknown size, is a bucket alone.
    """
    buckets: list[list[int]] = []
    open_: dict[str, tuple[list[int], int]] = {}
    for position, tensor in enumerate(tensors):
        size = tensor_bytes(tensor)
        if size is None or size >= min(bucket_bytes, ALONE):
            buckets.append([position])
            continue
        own, filled = open_.get(tensor.dtype, ([], 0))
        if not own:
            buckets.append(own)
        own.append(position)
        open_[tensor.dtype] = (own, filled + size) if filled + size < bucket_bytes else ([], 0)
    return buckets


def all_reduce_buckets(
    all_reduce: AllReduce,
    tensors: Sequence[Sequence[Tensor]],
    devices: Sequence[str],
    bucket_bytes: int,
) -> list[list[Tensor]]:
    """``all_reduce`` of each bucket; for each member the sums in the order given."""
    sums: list[dict[int, Tensor]] = [{} for _ in devices]
    for bucket in bucketed(tensors[0], bucket_bytes):
        if len(bucket) == 1:
            (position,) = bucket
            totals = all_reduce([own[position] for own in tensors], devices)
            for member, total in zip(sums, totals, strict=True):
                member[position] = total
            continue
        like = [tensors[0][position] for position in bucket]
        with like[0].graph.name_scope("all_reduce"):
            packed = [
                _pack([own[position] for position in bucket], device)
                for own, device in zip(tensors, devices, strict=True)
            ]
            totals = all_reduce(packed, devices)
            for member, total, device in zip(sums, totals, devices, strict=True):
                member.update(zip(bucket, _unpack(total, like, device), strict=True))
    return [[member[position] for position in range(len(tensors[0]))] for member in sums]


def _pack(tensors: Sequence[Tensor], device: str) -> Tensor:
    """All elements of ``tensors``, one dimension."""
    with tensors[0].graph.device(device):
        return concat([reshape(tensor, [-1]) for tensor in tensors], axis=0, name="bucket")


def _unpack(packed: Tensor, like: Sequence[Tensor], device: str) -> list[Tensor]:
    parts, first = [], 0
    with packed.graph.device(device):
        for tensor in like:
            part = slice_(packed, [first], [tensor.spec.size])
            parts.append(reshape(part, tensor.shape))
            first += tensor.spec.size
    return parts
