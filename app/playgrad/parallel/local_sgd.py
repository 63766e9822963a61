"""Local SGD: replicas train independently and average their variables from time to time."""

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
    """Return a node that replaces each variable and its mirrors by their mean (Stich 2019).

    The mean is weighted by the samples that each device processes. The state of the optimizer is
    averaged like the weights.

    Args:
        mirrors: for each variable its copies on the devices after the first.
        healthy: bool scalars, by device; if one of them is false, nothing changes on any device.
        written: names of the variables that training changes; all others are equal anyway.
        rows: samples of the batch, by device.
    """
    averaged = [
        (variable, *copies)
        for variable, copies in mirrors.items()
        if variable.variable_name in written and dtype(variable.dtype).floating
    ]
    graph = averaged[0][0].graph
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
                weighted = [row[number] * (rows[number] / sum(rows)) for row in averaged]
                shares.append([*weighted, 1.0 - cast(healthy[number], "float32")])
        means = collectives.all_reduce_many(shares, devices, bucket_bytes)
        writes = []
        for number, device in enumerate(devices):
            with graph.device(device):
                *values, unhealthy = means[number]
                healthy_everywhere = less(unhealthy, 1.0)
                for row, mean in zip(averaged, values, strict=True):
                    constraint = row[0].constraint  # means of norms 1 are shorter
                    value = mean if constraint is None else constraint(mean)
                    if row[0].keep is not None:  # sums of equal numbers may round otherwise
                        value = row[0].keep.value(row[number], value)
                    new = where(healthy_everywhere, value, row[number])
                    writes.append(row[number].assign(new))
        return group(*writes, name="step")
