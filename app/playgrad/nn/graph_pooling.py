"""Pooling of the nodes of graphs, for predictions about whole graphs."""

from __future__ import annotations

from playgrad.dtypes import dtype
from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.message_passing import AGGREGATIONS, as_floats
from playgrad.ops.arrays.create import arange
from playgrad.ops.arrays.fill import ones_like
from playgrad.ops.arrays.gather import gather
from playgrad.ops.arrays.repeat import repeat
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.reductions.cumsum import cumsum
from playgrad.records import LayerRecord


class GlobalGraphPooling(Layer):
    """The sum, mean or maximum of the features of the nodes of each graph.

    Inputs are features of nodes and ``batch``, the graph that each node belongs to, from 0 on:
    (nodes, features) and (nodes,), result (graphs, features); in a model (batch, nodes, features)
    and (batch, nodes), result (batch, graphs, features). Nodes of graph number ``graphs`` are
    padding, and left out. For one graph in each sample, without padding, use
    `GlobalAveragePooling1D`.

    Args:
        graphs: the number of graphs.
        aggr: "add" (or "sum"), "mean", "max", "min" or "std". A graph without nodes is 0.
    """

    kind = "global_graph_pooling"
    record = LayerRecord()
    takes_floats = False

    def __init__(self, graphs: int, aggr: str = "mean", name: str | None = None) -> None:
        super().__init__(name)
        self.graphs = self.positive("graphs", graphs)
        self.aggr = self.choice("aggr", aggr, *AGGREGATIONS)

    def build(self, *shapes: Shape) -> None:
        if len(shapes) != 2 or len(shapes[1]) not in (1, 2) or len(shapes[0]) <= len(shapes[1]):
            raise ShapeError(
                f"layer '{self.name}' takes features of nodes (nodes, features) and the graphs of "
                f"the nodes (nodes,), got {' and '.join(map(shape_text, shapes))}."
            )

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, graph = as_floats(inputs[0]), inputs[1]
        if dtype(graph.dtype).floating:
            raise DTypeError(f"layer '{self.name}' takes the graphs of nodes as int32.")
        graph, count = cast(graph, "int32"), self.graphs + 1  # the last one is padding
        reduce = AGGREGATIONS[self.aggr]
        if graph.spec.rank == 1:
            return reduce(x, graph, count)[: self.graphs]
        features = [self.known(x.shape, axis) for axis in range(2, x.spec.rank)]
        graph = gather(arange(count, dtype="int32"), graph)  # a node must not leave its sample
        sample = cumsum(ones_like(graph[:, :1]), 0) - 1
        rows = repeat(reshape(sample, (-1,)), count)
        ids = reshape(graph + sample * count, (-1,))
        pooled = reduce(reshape(x, (-1, *features)), ids, rows)
        return reshape(pooled, (-1, count, *features))[:, : self.graphs]
