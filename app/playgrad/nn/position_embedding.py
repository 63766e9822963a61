"""A learned vector for each position of a sequence."""

from __future__ import annotations

from typing import Any

from playgrad.errors import ShapeError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards, initializers
from playgrad.nn.layer import Layer
from playgrad.ops.arrays.broadcast import broadcast_like
from playgrad.ops.arrays.gather import gather
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.records import LayerRecord


class PositionEmbedding(Layer):
    """A learned vector for each position, to be added to a sequence.

    Inputs (batch, positions, features), of which only the shape is used; position_embeddings
    (sequence_length, features), result of the shape of the inputs. Name and arguments are as in
    KerasHub.

    Args:
        sequence_length: the most positions of a sequence.
        initializer: name or `Initializer`.
    """

    kind = "position_embedding"
    record = LayerRecord(
        about=("A row of numbers for each position, by which a network can tell first from last."),
        fields=(cards.count("sequence_length", "positions"),),
        rule="positions",
        torch="position_embedding",
    )
    passes_mask = True

    def __init__(
        self, sequence_length: int, initializer: Any = "glorot_uniform", name: str | None = None
    ) -> None:
        super().__init__(name)
        self.sequence_length = self.positive("sequence_length", sequence_length)
        self.initializer = initializers.get(initializer)

    def build(self, *shapes: Shape) -> None:
        self.expect_rank(shapes[0], 3, "(batch, positions, features)")
        shape = (self.sequence_length, self.known(shapes[0], 2))
        self.add_weight("position_embeddings", shape, self.initializer)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, table = inputs[0], self.variables["position_embeddings"]
        self.expect_width(x.shape, table.spec.static_shape[1])
        positions = self.known(x.shape, 1)
        if positions > self.sequence_length:
            raise ShapeError(
                f"layer '{self.name}' has vectors for {self.sequence_length} positions, got "
                f"{positions}."
            )
        if positions < self.sequence_length:
            return broadcast_like(slice_(table, [0, 0], [positions, -1]), x)
        return broadcast_like(table, x)

    def at(self, position: Tensor) -> Tensor:
        """Return the vector of ``position``, an int32 tensor (1, 1), as (1, 1, features)."""
        return gather(self.variables["position_embeddings"], position)
