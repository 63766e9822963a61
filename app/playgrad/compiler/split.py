"""Replaces data edges between devices by pairs of ``send`` and ``receive``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from playgrad.compiler.program import Program, Rewriter
from playgrad.errors import GraphError
from playgrad.graph.opdef import Array, Attrs, OpDef, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor


def _transport(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    raise GraphError("send and receive are performed by the executor.")


SEND = register(OpDef("send", lambda inputs, attrs: [], _transport, state=True))
RECEIVE = register(
    OpDef(
        "receive",
        lambda inputs, attrs: [TensorSpec(tuple(attrs["shape"]), attrs["dtype"])],
        _transport,
        state=True,
    )
)


class TensorChannel(NamedTuple):
    """What a pair of ``send`` and ``receive`` carries in each run: an array of this spec.

    Attributes:
        sum: channels with the same text, unless it is empty, are parts of an all-reduce: what is
            received is the sum of what is sent on all of them.
    """

    name: str
    spec: TensorSpec
    sum: str = ""


def channels_of(nodes: Iterable[Node]) -> list[TensorChannel]:
    """Return the channels among ``nodes``, in order of their receivers."""
    receivers = (node for node in nodes if node.op is RECEIVE)
    return [
        TensorChannel(node.attrs["channel"], node.output.spec, node.attrs.get("sum", ""))
        for node in receivers
    ]


def channel_name(tensor: Tensor, device: str) -> str:
    """Return the name of the channel for ``tensor`` to ``device``: ``loss:0 gpu:0->cpu:1``."""
    return f"{tensor.name} {tensor.device}->{device}"


def sender_of(channel: str) -> str:
    """Return the device that sends on ``channel``."""
    return channel.rpartition(" ")[2].partition("->")[0]


def receiver_of(channel: str) -> str:
    """Return the device that receives on ``channel``."""
    return channel.rpartition("->")[2]


def split(program: Program) -> Program:
    """Send each tensor once to every other device that reads it; constants are copied instead.

    The two ends share a ``channel`` attribute, and a control edge orders them.
    """
    if len({node.device for node in program.graph.nodes}) <= 1:
        return program
    rewriter = Rewriter(program)
    arrived: dict[tuple[Tensor, str], Tensor] = {}
    for node in program.order():
        assert node.device is not None
        inputs = [_bring(rewriter, tensor, node, arrived) for tensor in node.inputs]
        rewriter.copy(node, inputs=inputs)
    return rewriter.finish()


def _bring(
    rewriter: Rewriter, tensor: Tensor, reader: Node, arrived: dict[tuple[Tensor, str], Tensor]
) -> Tensor:
    """Return ``tensor`` of the old graph as a tensor of the new one on the device of ``reader``."""
    source, device = tensor.node, reader.device
    assert device is not None
    local = rewriter[tensor]
    if source.device == device:
        return local
    if (tensor, device) not in arrived:
        arrived[tensor, device] = _carry(rewriter, tensor, local, reader)
    return arrived[tensor, device]


def _carry(rewriter: Rewriter, tensor: Tensor, local: Tensor, reader: Node) -> Tensor:
    """Add a copy on the device of ``reader``, the first to read it there, in the reader's task."""
    graph, source, device = rewriter.graph, tensor.node, reader.device
    assert device is not None
    name = f"{source.name}/to_{device.replace(':', '_')}"
    if source.op.name == "constant":
        return graph.copy(source, [], name=name, device=device).output
    channel = channel_name(tensor, device)
    send = graph.copy(source, [local], op=SEND, attrs={"channel": channel}, name=f"{name}/send")
    spec = tensor.spec
    return graph.copy(
        reader,
        [],
        op=RECEIVE,
        attrs={"channel": channel, "shape": list(spec.static_shape), "dtype": spec.dtype},
        name=f"{name}/receive",
        control_inputs=[send],
    ).output
