"""The layers of a graph and their calls.

A layer call is a piece of the graph with a layer's name on it. Models find the calls between their
inputs and outputs here and replay them on other inputs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playgrad.graph.graph import Graph
from playgrad.graph.source import warn_user
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.state import Variable

if TYPE_CHECKING:
    from playgrad.nn.layer import Layer


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One use of ``layer``: inputs, outputs, the device scope and the options of the call."""

    layer: Layer
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    device: str | None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OnDevices:
    """One tensor on each of ``devices``."""

    tensors: tuple[Tensor, ...]
    devices: tuple[str, ...]


class MaskTable(dict[Tensor, Tensor]):
    """The masks of tensors. One that was computed outside of its graph holds its own."""

    def __setitem__(self, tensor: Tensor, mask: Tensor) -> None:
        if tensor.node.detached:
            vars(tensor)["_mask"] = mask
        else:
            super().__setitem__(tensor, mask)

    def __getitem__(self, tensor: Tensor) -> Tensor:
        own: Tensor | None = vars(tensor).get("_mask")
        return super().__getitem__(tensor) if own is None else own

    def __contains__(self, tensor: object) -> bool:
        return "_mask" in vars(tensor) or super().__contains__(tensor)

    def get(self, tensor: Tensor, default: Any = None) -> Any:
        own = vars(tensor).get("_mask")
        return super().get(tensor, default) if own is None else own


@dataclass
class GraphLayers:
    """The layers of one graph.

    Attributes:
        by_name: the layers by name.
        counts: the highest number given to a layer of each kind.
        calls: the layer calls by their outputs.
        updates: new values of variables that layers update themselves, collected while a training
            step is built; else None.
        penalties: the penalties of activity regularizers for each sample (batch,), collected while
            a step is built; else None.
        shards: tensors whose parts along the last axis are on several devices as well.
        copies: tensors of which several devices have a copy.
        masks: for sequences, bool tensors (batch, steps), false at the steps to skip.
    """

    by_name: dict[str, Layer] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    calls: dict[Tensor, LayerCall] = field(default_factory=dict)
    updates: dict[Variable, Tensor] | None = None
    penalties: list[Tensor] | None = None
    shards: dict[Tensor, OnDevices] = field(default_factory=dict)
    copies: dict[Tensor, OnDevices] = field(default_factory=dict)
    masks: MaskTable = field(default_factory=MaskTable)

    def next_name(self, kind: str) -> str:
        """Return ``dense_1``, ``dense_2``, ...: layers of a kind are numbered from 1."""
        while True:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            name = f"{kind}_{self.counts[kind]}"
            if name not in self.by_name:
                return name


def layers_of(graph: Graph) -> GraphLayers:
    """Return the layers of ``graph``. They live as long as it does; it knows nothing of layers."""
    layers: GraphLayers = vars(graph).setdefault("_layers", GraphLayers())
    return layers


def remove_nodes(graph: Graph, nodes: Collection[Node]) -> None:
    """Remove ``nodes``, which no others use, and the facts about their tensors from ``graph``."""
    graph.remove(nodes)
    layers = layers_of(graph)
    tables: tuple[dict[Tensor, Any], ...] = (
        layers.calls, layers.masks, layers.shards, layers.copies,
    )  # fmt: skip
    for table in tables:
        for tensor in [tensor for tensor in table if tensor.node in nodes]:
            del table[tensor]


def pass_mask(
    layer: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor], passes: bool, uses: bool
) -> None:
    """Give ``outputs`` the mask of the inputs of a layer, or warn that it is lost.

    Args:
        layer: its name, for the warning.
        passes: whether the layer treats each step alone.
        uses: whether the layer cares for masks itself.
    """
    masks = layers_of(inputs[0].graph).masks
    mask = next((mask for x in inputs if (mask := masks.get(x)) is not None), None)
    if mask is None or uses:
        return
    if not passes:
        warn_user(
            f"layer '{layer}' got a sequence with a mask, but treats masked steps like the others, "
            "and so do the layers after it."
        )
        return
    for output in outputs:
        masks[output] = mask


def cast_with_mask(x: Tensor, dtype: str) -> Tensor:
    """Return ``x`` cast to ``dtype``, with its mask."""
    result = cast(x, dtype)
    masks = layers_of(x.graph).masks
    if x in masks:
        masks[result] = masks[x]
    return result
