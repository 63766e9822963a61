"""All-reduce as one operation of the transport: between processes that of MPI."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.compiler.split import RECEIVE, SEND
from playgrad.devices.kinds import CPU, index_of
from playgrad.graph.tensor import Node, Tensor
from playgrad.parallel.collectives.algorithm import ALL_REDUCE, Begun, Cost, send
from playgrad.parallel.collectives.ring import Ring
from playgrad.parallel.collectives.rooted import Tree

SUMMED = ("float32", "float64", "int32", "uint32")
"""The dtypes that MPI can add up."""


class Native(Tree):
    """Leaves an all-reduce to the transport, which has begun as soon as a member gives its term.

    Each member has two nodes: one gives its term, and one takes the sum. The order in which the
    transport adds up is its own, so the sum may differ from that of the other algorithms in the
    last digits. All other operations are those of a tree.
    """

    name = "native"
    divides = True
    starts_early = True

    def cost(self, kind: str, nbytes: int, members: int) -> Cost:
        if kind == ALL_REDUCE:  # libraries use rings for large tensors
            return Ring().cost(kind, nbytes, members)
        return super().cost(kind, nbytes, members)

    def all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        return self.begin_all_reduce(tensors, devices)()

    def begin_all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> Begun:
        if tensors[0].dtype not in SUMMED or len(devices) < 2:
            sums = super().all_reduce(tensors, devices)
            return lambda: sums
        graph, phase = tensors[0].graph, tensors[0].node.phase
        group, spec = graph.current_scope.rstrip("/"), tensors[0].spec
        gives: list[Node] = []
        for number, (tensor, device) in enumerate(zip(tensors, devices, strict=True)):
            host = f"{CPU.name}:{index_of(device)}"  # has the memory that the transport reads
            attrs = {"channel": f"{group}/{number} {host}->{host}", "sum": group}
            with graph.device(host):
                term = send(tensor, host, "term")
                gives.append(graph.add(SEND, [term], attrs, name="give", phase=phase))

        def end() -> list[Tensor]:
            sums = []
            for give, device in zip(gives, devices, strict=True):
                attrs = {**give.attrs, "shape": list(spec.static_shape), "dtype": spec.dtype}
                with graph.reenter_scope(f"{group}/"), graph.device(give.device):
                    # A task of its own: a device takes what it receives when a task begins.
                    with graph.task(f"sum of {group}"):
                        take = graph.add(
                            RECEIVE, [], attrs, name="take", control_inputs=gives, phase=phase
                        )
                    sums.append(send(take.output, device))
            return sums

        return end
