"""Functions of integers by tables, and vectors for whole numbers."""

from __future__ import annotations

from playgrad.compression.quantized_layers.quantized_layer import QuantizedLayer
from playgrad.dtypes import dtype
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.gather import gather
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.quantized.lookup import lookup
from playgrad.ops.quantized.quantized_softmax import quantized_softmax


class Lookup(QuantizedLayer):
    """Any function of one int8, by its table (256,): inputs (batch, ...), results alike."""

    kind = "lookup"

    def build(self, *shapes: Shape) -> None:
        self.add_constant("table", (256,), "int8")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return lookup(inputs[0], self.variables["table"])


class QuantizedSoftmax(QuantizedLayer):
    """Softmax of int8 along the last axis, by a table (256,) of int32 powers."""

    kind = "quantized_softmax"

    def build(self, *shapes: Shape) -> None:
        self.add_constant("table", (256,), "int32")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return quantized_softmax(inputs[0], self.variables["table"])


class QuantizedEmbedding(QuantizedLayer):
    """`Embedding` with a table (input_dim, output_dim) of int8.

    Inputs (batch, ...), whole numbers in [0, input_dim); results (batch, ..., output_dim).
    """

    kind = "quantized_embedding"

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        scale: float,
        zero_point: int,
        name: str | None = None,
    ) -> None:
        super().__init__(scale, zero_point, name)
        self.input_dim = self.positive("input_dim", input_dim)
        self.output_dim = self.positive("output_dim", output_dim)

    def build(self, *shapes: Shape) -> None:
        self.add_constant("embeddings", (self.input_dim, self.output_dim), "int8")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        indices = cast(x, "int32") if dtype(x.dtype).floating else x
        return gather(self.variables["embeddings"], indices)
