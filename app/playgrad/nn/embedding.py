"""Vectors for whole numbers."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

from playgrad.dtypes import dtype
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.masks import set_mask
from playgrad.nn.weighted_layer import WeightedLayer
from playgrad.ops.arrays.gather import gather
from playgrad.ops.elementwise.definitions import cast, not_equal
from playgrad.records import LayerRecord


class EmbeddingOptions(TypedDict, total=False):
    """Options of a layer with a table."""

    embeddings_initializer: Any
    embeddings_regularizer: Any
    embeddings_constraint: Any
    name: str | None


class Embedding(WeightedLayer):
    """A learned vector for each whole number: row i of the table for input i.

    Inputs (batch, ...), whole numbers in [0, input_dim) of an integer dtype, or as floats;
    embeddings (input_dim, output_dim), result (batch, ..., output_dim).

    Args:
        input_dim: the number of different inputs.
        output_dim: the length of a vector.
        embeddings_initializer: name or `Initializer`.
        embeddings_regularizer: name or `Regularizer`; None for none.
        embeddings_constraint: name or `Constraint`; None for none.
        mask_zero: whether input 0 is padding, which layers after this one skip if they use masks.
    """

    kind = "embedding"
    record = LayerRecord(
        about=(
            "Looks up a row of numbers for each word or letter; training arranges similar "
            "ones near each other."
        ),
        menu=("sequences", 1),
        example="1000, 16",
        fields=(cards.count("input_dim", "words"), cards.count("output_dim", "features")),
        rule="embedding",
        keras="Embedding",
        tfjs="input_dim output_dim mask_zero",
        torch="embedding",
        from_torch={
            "Embedding": ("num_embeddings>input_dim embedding_dim>output_dim -padding_idx",)
        },
        is_positionwise=True,
    )
    takes_floats = False

    defaults = {"embeddings_initializer": "uniform"}

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        *,
        mask_zero: bool = False,
        **options: Unpack[EmbeddingOptions],
    ) -> None:
        super().__init__(**options)
        self.input_dim = self.positive("input_dim", input_dim)
        self.output_dim = self.positive("output_dim", output_dim)
        self.mask_zero = bool(mask_zero)

    def build(self, *shapes: Any) -> None:
        self.add_declared("embeddings", (self.input_dim, self.output_dim))

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        indices = cast(x, "int32") if dtype(x.dtype).floating else x
        result = gather(self.variables["embeddings"], indices)
        if self.mask_zero:
            set_mask(result, not_equal(indices, 0))
        return result
