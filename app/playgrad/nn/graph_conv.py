"""Graph convolutions: GCN and GraphSAGE."""

from __future__ import annotations

from typing import Any, Unpack

from playgrad.errors import GraphError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.message_passing import FUSED, Edges, GraphConvolution
from playgrad.nn.options import KernelOptions
from playgrad.ops.arrays.fill import ones_like
from playgrad.ops.arrays.shape import expand_dims, squeeze
from playgrad.ops.elementwise.definitions import cast, greater, maximum, rsqrt, where
from playgrad.ops.products.matmul import matmul
from playgrad.ops.reductions.segments import segment_sum
from playgrad.ops.reductions.statistics import unit_vectors
from playgrad.records import LayerRecord


class GCNConv(GraphConvolution):
    """Graph convolution (Kipf and Welling 2017): neighbours, weighted by both degrees.

    The result of node i is the sum over its neighbours j and itself of
    ``w[j, i] / sqrt(degree[i] * degree[j]) * x[j] @ kernel``, plus a bias. The degree is the sum of
    the weights of the edges that arrive, with that of the self loop. Inputs, result (nodes, units):
    see `MessagePassing`; the third input, if any, is a weight for each edge, (edges,). An edge from
    a node to itself takes the place of the self loop.

    Args:
        units: the features of the result.
        activation: name or function; None for no activation.
        use_bias: whether to add a bias.
        improved: whether self loops have weight 2, not 1.
        add_self_loops: whether a node is its own neighbour; None for the value of ``normalize``.
        normalize: whether to divide by the degrees.
    """

    kind = "gcn_conv"
    record = LayerRecord()
    takes_edge_features = True

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        *,
        improved: bool = False,
        add_self_loops: bool | None = None,
        normalize: bool = True,
        flow: str = "source_to_target",
        **options: Unpack[KernelOptions],
    ) -> None:
        super().__init__("add", flow, activation=activation, use_bias=use_bias, **options)
        self.units = self.positive("units", units)
        self.improved = bool(improved)
        self.normalize = bool(normalize)
        self.add_self_loops = self.normalize if add_self_loops is None else bool(add_self_loops)
        if self.add_self_loops and not self.normalize:
            raise GraphError(
                "a GCNConv layer adds self loops only where it normalizes.",
                source=self.source,
                hint="Pass normalize=True, or edges with self loops: pg.data.add_self_loops.",
            )

    def build(self, *shapes: Shape) -> None:
        self.add_declared("kernel", (self.known(shapes[0], -1), self.units))
        self.add_bias(self.units)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        edges, x, weights = self.as_one_graph(inputs)
        weights = None if weights is None else _column(weights, self.name)
        y = matmul(x, self.variables["kernel"])
        factors = None if weights is None else squeeze(weights, 1)
        if not self.normalize:
            return edges.as_samples(self.end(self.message_and_aggregate(edges, y, factors)))
        scale, own = self._factors(edges, weights)
        # Factors of nodes are cheaper than factors of edges.
        y = y * scale
        total = self.message_and_aggregate(edges, y, factors)
        total = total if own is None else total + own * y
        return edges.as_samples(self.end(total * scale))

    def _factors(self, edges: Edges, weights: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return 1 / sqrt(degree), and what is missing of the weights of self loops, (nodes, 1)."""
        if weights is None:
            weights = expand_dims(cast(ones_like(edges.target), "float32"), -1)
        degree, own = segment_sum(weights, edges.target, edges.dim_size), None
        if self.add_self_loops:
            loop = expand_dims(cast(edges.is_loop(), "float32"), -1)
            present = segment_sum(weights * loop, edges.target, edges.dim_size)
            count = segment_sum(loop, edges.target, edges.dim_size)
            due = where(greater(count, 0.0), present / maximum(count, 1.0), 1.0 + self.improved)
            own = due - present
            degree = degree + own
        is_positive = greater(degree, 0.0)
        return where(is_positive, rsqrt(where(is_positive, degree, 1.0)), 0.0), own


def _column(weights: Tensor, name: str | None) -> Tensor:
    """Return one weight for each edge as (edges, 1)."""
    if weights.spec.rank == 2 and weights.shape[1] == 1:
        weights = squeeze(weights, 1)
    if weights.spec.rank != 1:
        raise ShapeError(
            f"layer '{name}' takes one weight for each edge, got {shape_text(weights.shape)}."
        )
    return expand_dims(weights, -1)


class SAGEConv(GraphConvolution):
    """GraphSAGE (Hamilton et al. 2017): a node's own features, and an aggregate of its neighbours'.

    ``x[i] @ root_kernel + aggregate(x[j]) @ kernel + bias``. Inputs, result (nodes, units): see
    `MessagePassing`.

    Args:
        units: the features of the result.
        activation: name or function; None for no activation.
        use_bias: whether to add a bias.
        aggr: the aggregate: "mean", "max", "add", "min" or "std".
        root_weight: whether the node's own features count.
        normalize: whether to divide the results by their lengths.
    """

    kind = "sage_conv"
    record = LayerRecord()

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        *,
        aggr: str = "mean",
        root_weight: bool = True,
        normalize: bool = False,
        flow: str = "source_to_target",
        **options: Unpack[KernelOptions],
    ) -> None:
        super().__init__(aggr, flow, activation=activation, use_bias=use_bias, **options)
        self.units = self.positive("units", units)
        self.root_weight = bool(root_weight)
        self.normalize = bool(normalize)

    def build(self, *shapes: Shape) -> None:
        width = self.known(shapes[0], -1)
        self.add_declared("kernel", (width, self.units))
        if self.root_weight:
            self.add_declared("kernel", (width, self.units), "root_kernel")
        self.add_bias(self.units)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        edges, x, _ = self.as_one_graph(inputs)
        kernel = self.variables["kernel"]
        if self.aggr in FUSED and self.units < kernel.spec.static_shape[0]:
            # The result is the same, and messages are shorter.
            y = self.propagate(edges, x=matmul(x, kernel))
        else:
            y = matmul(self.propagate(edges, x=x), kernel)
        if self.root_weight:
            y = y + matmul(x, self.variables["root_kernel"])
        if self.use_bias:
            y = y + self.variables["bias"]
        if self.normalize:
            y = unit_vectors(y, -1, 1e-24)
        return edges.as_samples(self._activate(y))
