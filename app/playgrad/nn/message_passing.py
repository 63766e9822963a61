"""The base class of graph convolutions: messages along edges, summed up at the nodes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from playgrad.dtypes import dtype
from playgrad.errors import DTypeError, GraphError, ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.nn.weighted_layer import BiasedLayer, WeightedLayer
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.create import arange
from playgrad.ops.arrays.fill import ones_like, zeros_like
from playgrad.ops.arrays.gather import gather
from playgrad.ops.arrays.shape import expand_dims, reshape
from playgrad.ops.elementwise.definitions import cast, equal, greater, maximum
from playgrad.ops.reductions.cumsum import cumsum
from playgrad.ops.reductions.segments import (
    Segments,
    segment_max,
    segment_mean,
    segment_min,
    segment_std,
    segment_sum,
)
from playgrad.ops.reductions.sparse import gather_sum

AGGREGATIONS: dict[str, Callable[..., Tensor]] = {
    "add": segment_sum,
    "sum": segment_sum,
    "mean": segment_mean,
    "max": segment_max,
    "min": segment_min,
    "std": segment_std,
}
FUSED = ("add", "sum", "mean")
"""Those that `MessagePassing.message_and_aggregate` has."""


@dataclass(frozen=True)
class Edges:
    """The edges of all graphs of a batch, as those of one graph.

    Attributes:
        source, target: the node that each edge leaves, and the one it arrives at, (edges,).
        nodes: features of all nodes, (nodes, ...).
        of_sample: the number of nodes of each graph, if there is a dimension for graphs.
    """

    source: Tensor
    target: Tensor
    nodes: Tensor
    of_sample: int | None

    @property
    def dim_size(self) -> Segments:
        """The number of nodes, as the segment operations take it."""
        count = self.nodes.shape[0]
        return self.nodes if count is None else count

    def flat(self, x: Tensor) -> Tensor:
        """Return features (graphs, n, ...) of nodes or edges as (graphs * n, ...)."""
        return x if self.of_sample is None else reshape(x, (-1, *x.shape[2:]))

    def as_samples(self, y: Tensor) -> Tensor:
        """Return results (nodes, ...) with the dimension for graphs, if there is one."""
        return y if self.of_sample is None else reshape(y, (-1, self.of_sample, *y.shape[1:]))

    def is_loop(self) -> Tensor:
        """Return whether each edge leads from a node to itself, (edges,)."""
        return equal(self.source, self.target)

    def with_loops(self) -> tuple[Edges, Tensor]:
        """Return these edges, followed by one from each node to itself, and which are to be left
        out: those that led from a node to itself already, bool (edges,)."""
        loops = _numbers(self.nodes)
        source, target = (concat([ends, loops], 0) for ends in (self.source, self.target))
        before = concat([cast(self.is_loop(), "int32"), zeros_like(loops)], 0)
        return Edges(source, target, self.nodes, self.of_sample), greater(before, 0)


def _numbers(x: Tensor) -> Tensor:
    """Return 0, 1, 2, ... for the first dimension of ``x``, int32."""
    if x.shape[0] is not None:
        return arange(x.shape[0], dtype="int32")
    first = x[(slice(None), *[0] * (x.spec.rank - 1))]
    return cumsum(ones_like(cast(first, "int32")), 0) - 1


class MessagePassing(WeightedLayer):
    """Base class of layers of graph networks, with the vocabulary of PyTorch Geometric.

    A call takes the features of nodes, ``edge_index`` and, if the layer uses them, features of
    edges. ``edge_index`` (2, edges) has the numbers of the nodes that the edges leave in its first
    row, and of those they arrive at in its second; an undirected edge is two edges. All have one
    more dimension in a model, where a sample is a whole graph: x (batch, nodes, features),
    edge_index (batch, 2, edges), features of edges (batch, edges, ...). The graphs of a batch are
    then computed as one graph whose parts are not connected.

    A subclass overrides ``call``, which ends in `propagate`, and some of `message`, `aggregate` and
    `update`.

    Args:
        aggr: what happens to the messages that arrive at a node: "add" (or "sum"), "mean", "max",
            "min" or "std". Without messages it is 0.
        flow: "source_to_target", or "target_to_source" to send messages against the edges.
    """

    kind = "message_passing"
    takes_floats = False
    takes_edge_features: ClassVar[bool] = False
    """Whether a call may have a third input."""

    def __init__(self, aggr: str = "add", flow: str = "source_to_target", **options: Any) -> None:
        super().__init__(**options)
        self.aggr = self.choice("aggr", aggr, *AGGREGATIONS)
        self.flow = self.choice("flow", flow, "source_to_target", "target_to_source")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return self.propagate(inputs[1], x=inputs[0])

    def propagate(self, edge_index: Tensor | Edges, **tensors: Tensor | None) -> Tensor:
        """Send messages along all edges; return what `update` makes of their aggregates.

        Args:
            edge_index: the edges; or those that `as_one_graph` returned, if all tensors are those
                of one graph.
            tensors: features of nodes and of edges, by the names that `message` and `update` use.
        """
        names = list(inspect.signature(self.message).parameters)
        edges = edge_index
        if isinstance(edges, Tensor):
            nodes = {name[:-2] for name in names if name[-2:] in ("_i", "_j")}
            present = (x for name, x in tensors.items() if name in nodes and x is not None)
            first = next(present, None)
            if first is None:
                raise GraphError(
                    f"the message of layer '{self.name}' needs features of nodes, such as x_j.",
                    source=self.source,
                )
            edges = self.edges_of(edges, first)
            flattened = {n: x if x is None else edges.flat(x) for n, x in tensors.items()}
            return edges.as_samples(self.propagate(edges, **flattened))
        ends = {"_i": edges.target, "_j": edges.source}
        arguments = {"index": edges.target, "dim_size": edges.dim_size, **tensors}

        def lifted(name: str) -> Any:
            tensor = arguments.get(name[:-2]) if name[-2:] in ends else None
            if tensor is None:
                return self._argument(name, arguments)
            return gather(tensor, ends[name[-2:]])

        cls, x = type(self), tensors.get("x")
        is_plain = cls.message is MessagePassing.message
        is_plain &= cls.aggregate is MessagePassing.aggregate and self.aggr in FUSED
        if is_plain and x is not None:
            return self._updated(self.message_and_aggregate(edges, x), arguments)
        messages = self.message(**{name: lifted(name) for name in names})
        aggregated = self.aggregate(messages, edges.target, edges.dim_size)
        return self._updated(aggregated, arguments)

    def _updated(self, aggregated: Tensor, arguments: dict[str, Any]) -> Tensor:
        more = list(inspect.signature(self.update).parameters)[1:]
        return self.update(aggregated, **{name: self._argument(name, arguments) for name in more})

    def message(self, x_j: Tensor) -> Tensor:
        """Return the message of each edge, (edges, ...).

        A parameter of an overriding method is named after a tensor that is passed to `propagate`:
        ``x_i`` has its rows at the targets of the edges, ``x_j`` at the sources, and ``edge_attr``
        is the tensor itself. ``index`` has the targets.
        """
        return x_j

    def aggregate(self, inputs: Tensor, index: Tensor, dim_size: Segments) -> Tensor:
        """Return the aggregate of the messages that arrive at each node, (nodes, ...).

        Args:
            inputs: the messages, (edges, ...).
            index: the nodes that they arrive at, (edges,).
            dim_size: the number of nodes, for the segment operations.
        """
        return AGGREGATIONS[self.aggr](inputs, index, dim_size)

    def message_and_aggregate(
        self, edges: Edges, x: Tensor, weights: Tensor | None = None
    ) -> Tensor:
        """Return the sum or mean of the features that arrive at each node, (nodes, ...).

        Messages that are features of their sources, or multiples of them, need not stand side by
        side in memory.

        Args:
            x: features of nodes, (nodes, ...).
            weights: factors of the messages, (edges, ...), of their shape without some of the last
                dimensions; None for 1.
        """
        total = gather_sum(x, edges.source, edges.target, edges.dim_size, weights)
        if self.aggr != "mean":
            return total
        ones = cast(ones_like(edges.target), x.dtype)
        count = maximum(segment_sum(ones, edges.target, edges.dim_size), 1.0)
        return total / expand_dims(count, tuple(range(1, x.spec.rank)))

    def update(self, inputs: Tensor) -> Tensor:
        """Return the result of each node, from its aggregate. Further parameters are named after
        tensors that are passed to `propagate`."""
        return inputs

    def _argument(self, name: str, arguments: dict[str, Any]) -> Any:
        if name not in arguments and name[:-2] not in arguments:
            raise GraphError(
                f"layer '{self.name}' uses {name}, but propagate() got only "
                f"{', '.join(sorted(arguments))}.",
                source=self.source,
            )
        return arguments.get(name)

    # For calls

    def as_one_graph(self, inputs: tuple[Tensor, ...]) -> tuple[Edges, Tensor, Tensor | None]:
        """Return the inputs of a call as those of one graph: edges, features of nodes, of edges.

        Raises:
            ShapeError: they do not fit each other; the error has their shapes.
            DTypeError: the edges are not whole numbers.
        """
        if not 2 <= len(inputs) <= 2 + self.takes_edge_features:
            wanted = "2 or 3 inputs" if self.takes_edge_features else "2 inputs"
            also = " and features of edges" if self.takes_edge_features else ""
            raise ShapeError(
                f"layer '{self.name}' takes {wanted}, features of nodes, edge_index{also}, "
                f"got {len(inputs)}."
            )
        x = as_floats(inputs[0])
        edges = self.edges_of(inputs[1], x)
        if len(inputs) < 3:
            return edges, edges.flat(x), None
        features, rank = inputs[2], inputs[1].spec.rank
        if features.shape[: rank - 1] != (*inputs[1].shape[: rank - 2], inputs[1].shape[-1]):
            raise ShapeError(
                f"layer '{self.name}': features of edges {shape_text(features.shape)} do not fit "
                f"edge_index {shape_text(inputs[1].shape)}."
            )
        return edges, edges.flat(x), edges.flat(as_floats(features))

    def edges_of(self, edge_index: Tensor, x: Tensor) -> Edges:
        """Return the edges of all graphs of a batch as those of one graph; see `as_one_graph`.

        Args:
            x: features of nodes.
        """
        if dtype(edge_index.dtype).floating:
            raise DTypeError(
                f"layer '{self.name}' takes edge_index as int32, got {edge_index.dtype}.",
                hint='Declare it so: pg.Input((2, edges), dtype="int32").',
            )
        rank = edge_index.spec.rank
        if rank not in (2, 3) or edge_index.shape[-2] not in (None, 2) or x.spec.rank < rank:
            raise ShapeError(
                f"layer '{self.name}' takes features (nodes, ...) with edge_index (2, edges), or "
                f"(batch, nodes, ...) with (batch, 2, edges), got {shape_text(x.shape)} and "
                f"{shape_text(edge_index.shape)}."
            )
        ends = cast(edge_index, "int32")
        if rank == 2:
            return Edges(*self._directed(ends[0], ends[1]), x, None)
        count = self.known(x.shape, 1)
        ends = gather(arange(count, dtype="int32"), ends)  # an edge must not leave its graph
        graph = cumsum(ones_like(ends[:, :, :1]), 0) - 1
        ends = ends + graph * count
        both = (reshape(ends[:, row], (-1,)) for row in range(2))
        return Edges(*self._directed(*both), reshape(x, (-1, *x.shape[2:])), count)

    def _directed(self, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        return (first, second) if self.flow == "source_to_target" else (second, first)


class GraphConvolution(MessagePassing, BiasedLayer):
    """A layer of graph networks whose result gets a bias and an activation."""


def as_floats(x: Tensor) -> Tensor:
    """Return ``x``, whole numbers as float32."""
    return x if dtype(x.dtype).floating else cast(x, "float32")
