"""Combines small tensors into buckets, so that one collective serves them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.arrays.shape import reshape
from playgrad.parallel.collectives.algorithm import Begun

ALONE = 1 << 16
"""Bytes from which sending a tensor by itself is faster than copying it to a bucket and back."""
BeginAllReduce = Callable[[Sequence[Tensor], Sequence[str]], Begun]


def tensor_bytes(tensor: Tensor) -> int | None:
    """Return the bytes of a tensor when it is sent; None if its size is unknown."""
    if None in tensor.shape:
        return None
    return tensor.spec.size * np.dtype(tensor.dtype).itemsize


def bucketed(tensors: Sequence[Tensor], bucket_bytes: int) -> list[list[int]]:
    """Return the positions of ``tensors`` in buckets of one type each, ordered by first position.

    A bucket is closed when it holds ``bucket_bytes``. A tensor of that size, of ``ALONE`` bytes or
    of unknown size has a bucket to itself.
    """
    buckets: list[list[int]] = []
    open_: dict[str, tuple[list[int], int]] = {}
    for position, tensor in enumerate(tensors):
        size = tensor_bytes(tensor)
        if size is None or size >= min(bucket_bytes, ALONE):
            buckets.append([position])
            continue
        bucket, filled = open_.get(tensor.dtype, ([], 0))
        if not bucket:
            buckets.append(bucket)
        bucket.append(position)
        open_[tensor.dtype] = (bucket, filled + size) if filled + size < bucket_bytes else ([], 0)
    return buckets


def begin_buckets(
    begin: BeginAllReduce,
    tensors: Sequence[Sequence[Tensor]],
    devices: Sequence[str],
    bucket_bytes: int,
) -> Callable[[], list[list[Tensor]]]:
    """Begin the sums of each bucket; what is returned ends them, and returns each member's list."""
    graph = tensors[0][0].graph
    begun: list[tuple[list[int], str, Begun]] = []
    for bucket in bucketed(tensors[0], bucket_bytes):
        rows = [[member[position] for position in bucket] for member in tensors]
        if len(bucket) == 1:
            begun.append((bucket, "", begin([row[0] for row in rows], devices)))
            continue
        with graph.name_scope("all_reduce") as scope:
            packed = [_pack(row, device) for row, device in zip(rows, devices, strict=True)]
            begun.append((bucket, scope, begin(packed, devices)))

    def end() -> list[list[Tensor]]:
        sums: list[dict[int, Tensor]] = [{} for _ in devices]
        for bucket, scope, ended in begun:
            totals = ended()
            like = [tensors[0][position] for position in bucket]
            for results, total, device in zip(sums, totals, devices, strict=True):
                if len(bucket) == 1:
                    results[bucket[0]] = total
                    continue
                with graph.reenter_scope(scope):
                    results.update(zip(bucket, _unpack(total, like, device), strict=True))
        return [[results[position] for position in range(len(tensors[0]))] for results in sums]

    return end


def _pack(tensors: Sequence[Tensor], device: str) -> Tensor:
    """Return ``tensors`` flattened and concatenated."""
    with tensors[0].graph.device(device):
        return concat([reshape(tensor, [-1]) for tensor in tensors], axis=0, name="bucket")


def _unpack(packed: Tensor, like: Sequence[Tensor], device: str) -> list[Tensor]:
    """Divide ``packed`` into tensors of the shapes of ``like``."""
    parts, first = [], 0
    with packed.graph.device(device):
        for tensor in like:
            part = slice_(packed, [first], [tensor.spec.size])
            parts.append(reshape(part, tensor.shape))
            first += tensor.spec.size
    return parts
