"""Local SGD: replicas train apart, and now and then go on from the mean of what they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playgrad.dtypes import dtype
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.elementwise.definitions import cast, less, where
from playgrad.ops.state import Variable, group
from playgrad.parallel.collectives import Collectives


def average(
    mirrors: Mapping[Variable, Sequence[Variable]],
    healthy: Sequence[Variable],
    written: frozenset[str],
    rows: Sequence[int],
    devices: Sequence[str],
    collectives: Collectives,
    bucket_bytes: int,
) -> Node:
    """A node that replaces each variable and its mirrors by their mean (Stich 2019), in
    which each counts as many times as it takes samples of a batch.

    Args:
        mirrors: for each variable its copies on the devices after the first.
        healthy: bool scalars, by device; where one of them is false, nothing changes anywhere.
        written: names of the variables that training changes: all others are equal anyhow. The
            state of the optimizer is averaged as the weights are.
        rows: samples of the batch, by device.
    """
    chosen = [
        (variable, *copies)
        for variable, copies in mirrors.items()
        if variable.variable_name in written and dtype(variable.dtype).floating
    ]
    graph = chosen[0][0].graph
    with (
        graph.as_default(),
        graph.reenter_scope(""),
        graph.control_dependencies(None),
        graph.phase("update"),
        graph.name_scope("average"),
    ):
        shares: list[list[Tensor]] = []
        for number, device in enumerate(devices):
            with graph.device(device):
                own = [row[number] * (rows[number] / sum(rows)) for row in chosen]
                shares.append([*own, 1.0 - cast(healthy[number], "float32")])
        means = collectives.all_reduce_many(shares, devices, bucket_bytes)
        writes = []
        for number, device in enumerate(devices):
            with graph.device(device):
                *own, ill = means[number]
                for row, mean in zip(chosen, own, strict=True):
                    writes.append(row[number].assign(where(less(ill, 1.0), mean, row[number])))
        return group(*writes, name="step")
