"""What a graph remembers of the layers that built it.

A layer call is a piece of the graph with a layer's name on it. Models find the calls between
their inputs and outputs here and replay them on other inputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor

if TYPE_CHECKING:
    from playgrad.nn.layer import Layer
    from playgrad.ops.state import Variable


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One use of ``layer``: what went in, what came out, and the device scope it was made in."""

    layer: Layer
    inputs: tuple[Tensor, ...]
    output: Tensor
    device: str | None


@dataclass(frozen=True)
class Spread:
    """Several tensors that lie on ``devices``."""

    tensors: tuple[Tensor, ...]
    devices: tuple[str, ...]


@dataclass
class Notes:
    """The layer calls of one graph by their outputs, and how many layers of a kind it has.

    Attributes:
        updates: the new values that layers give to variables of theirs, while a training step
            collects them; else None.
        parts: tensors of which the parts along the last axis are on several devices, too.
        copies: tensors of which there are copies on several devices.
    """

    by_output: dict[Tensor, LayerCall] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    names: dict[str, Layer] = field(default_factory=dict)
    session: Any = None
    updates: dict[Variable, Tensor] | None = None
    mirrors: set[Variable] = field(default_factory=set)
    parts: dict[Tensor, Spread] = field(default_factory=dict)
    copies: dict[Tensor, Spread] = field(default_factory=dict)

    def next_name(self, kind: str) -> str:
        """``dense_1``, ``dense_2``, ...: layers of a kind are numbered from 1."""
        while True:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            name = f"{kind}_{self.counts[kind]}"
            if name not in self.names:
                return name


def notes_of(graph: Graph) -> Notes:
    """The notes of ``graph``. They live and die with it, and the graph knows nothing of layers."""
    notes: Notes = vars(graph).setdefault("_layer_notes", Notes())
    return notes
