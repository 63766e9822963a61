"""Graph attention networks, in both versions."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from typing import Any, Unpack

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.message_passing import Edges, GraphConvolution
from playgrad.nn.options import KernelOptions
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.gather import gather
from playgrad.ops.arrays.shape import expand_dims, reshape
from playgrad.ops.elementwise.activations import leaky_relu
from playgrad.ops.elementwise.definitions import cast, maximum, where
from playgrad.ops.products.matmul import matmul
from playgrad.ops.random.dropout import dropout
from playgrad.ops.reductions.reduce import reduce_mean, reduce_sum
from playgrad.ops.reductions.segments import segment_softmax, segment_sum
from playgrad.records import LayerRecord

_NEVER = -1e30
"""The score of an edge that does not count: exp of it is 0."""


class _Attention(GraphConvolution):
    """Attention over neighbours; subclasses have the formula of the scores."""

    takes_edge_features = True

    def __init__(
        self,
        units: int,
        heads: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        *,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        flow: str = "source_to_target",
        **options: Unpack[KernelOptions],
    ) -> None:
        super().__init__("add", flow, activation=activation, use_bias=use_bias, **options)
        self.units = self.positive("units", units)
        self.heads = self.positive("heads", heads)
        self.concat = bool(concat)
        self.negative_slope = self.number("negative_slope", negative_slope, most=1.0)
        self.dropout = self.number("dropout", dropout, most=0.99)
        self.add_self_loops = bool(add_self_loops)

    def build(self, *shapes: Shape) -> None:
        width = self.known(shapes[0], -1)
        self.add_declared("kernel", (width, self.heads * self.units))
        self.add_attention(width)
        if len(shapes) > 2:
            features = self.known(shapes[2], -1)
            self.add_declared("kernel", (features, self.heads * self.units), "edge_kernel")
        self.add_bias(self.units * self.heads if self.concat else self.units)

    @abstractmethod
    def add_attention(self, width: int) -> None:
        """Add the variables of the scores, for ``width`` features of nodes."""

    @abstractmethod
    def scored(self, x: Tensor, edges: Edges, features: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return what nodes send, (nodes, heads, units), and the scores of edges, (edges, heads).

        Args:
            features: features of edges, (edges, heads, units); None for none.
        """

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        edges, x, features = self.as_one_graph(inputs)
        left_out = None
        if self.add_self_loops:
            if features is not None:
                features = _with_loops(edges, features)
            edges, left_out = edges.with_loops()
        if features is not None:
            features = self._divided(matmul(features, self.variables["edge_kernel"]))
        values, scores = self.scored(x, edges, features)
        if left_out is not None:
            scores = where(expand_dims(left_out, -1), _NEVER, scores)
        weights = segment_softmax(scores, edges.target, edges.dim_size)
        if training and self.dropout:
            weights = dropout(weights, self.dropout, seed=zlib.crc32(f"{self.name}".encode()))
        y = self.message_and_aggregate(edges, values, weights)
        y = reshape(y, (-1, self.heads * self.units)) if self.concat else reduce_mean(y, 1)
        return edges.as_samples(self.end(y))

    def _divided(self, x: Tensor) -> Tensor:
        """Return ``x`` (n, heads * units) as (n, heads, units)."""
        return reshape(x, (-1, self.heads, self.units))


class GATConv(_Attention):
    """Graph attention (Velickovic et al. 2018): neighbours, weighted by learned scores.

    The score of an edge is ``leaky_relu(a @ h[j] + b @ h[i])`` with ``h = x @ kernel``, for each
    head; the softmax over all edges that arrive at node i weighs their ``h[j]``. Inputs, result
    (nodes, heads * units): see `MessagePassing`; the third input, if any, is features of edges,
    (edges, n), which have a score, too. Variables: ``kernel``, ``source_attention`` and
    ``target_attention`` (heads, units), ``bias``; ``edge_kernel`` and ``edge_attention``.

    Args:
        units: the features of the result for each head.
        heads: the number of heads.
        activation: name or function; None for no activation.
        use_bias: whether to add a bias.
        concat: whether the results of the heads stand side by side, or their mean is taken.
        negative_slope: of the leaky ReLU.
        dropout: the fraction of weights of edges set to 0 in a training step.
        add_self_loops: whether a node is its own neighbour. The features of that edge are the mean
            of those of the edges that arrive.
    """

    kind = "gat_conv"
    record = LayerRecord()

    def add_attention(self, width: int) -> None:
        for end in ("source", "target"):
            self.add_declared("kernel", (self.heads, self.units), f"{end}_attention")

    def build(self, *shapes: Shape) -> None:
        super().build(*shapes)
        if len(shapes) > 2:
            self.add_declared("kernel", (self.heads, self.units), "edge_attention")

    def scored(self, x: Tensor, edges: Edges, features: Tensor | None) -> tuple[Tensor, Tensor]:
        h = self._divided(matmul(x, self.variables["kernel"]))

        def part(of: Tensor, name: str) -> Tensor:
            return reduce_sum(of * self.variables[f"{name}_attention"], -1)

        scores = gather(part(h, "source"), edges.source) + gather(part(h, "target"), edges.target)
        if features is not None:
            scores = scores + part(features, "edge")
        return h, leaky_relu(scores, self.negative_slope)


class GATv2Conv(_Attention):
    """Graph attention whose ranking of neighbours depends on the node (Brody et al. 2022).

    The score of an edge is ``a @ leaky_relu(h[j] + g[i])`` with ``h = x @ kernel + kernel_bias``
    and ``g = x @ target_kernel + target_bias``; ``a`` is ``attention`` (heads, units). Arguments,
    inputs and result as in `GATConv`; features of edges are added to the sum.
    """

    kind = "gatv2_conv"
    record = LayerRecord()

    def add_attention(self, width: int) -> None:
        self.add_declared("kernel", (width, self.heads * self.units), "target_kernel")
        self.add_declared("kernel", (self.heads, self.units), "attention")
        if self.use_bias:
            for name in ("kernel_bias", "target_bias"):
                self.add_declared("bias", (self.heads * self.units,), name)

    def scored(self, x: Tensor, edges: Edges, features: Tensor | None) -> tuple[Tensor, Tensor]:
        h, g = (
            self._divided(matmul(x, self.variables[kernel]) + self.variables.get(bias, 0.0))
            for kernel, bias in (("kernel", "kernel_bias"), ("target_kernel", "target_bias"))
        )
        total = gather(h, edges.source) + gather(g, edges.target)
        total = total if features is None else total + features
        activated = leaky_relu(total, self.negative_slope)
        return h, reduce_sum(activated * self.variables["attention"], -1)


def _with_loops(edges: Edges, features: Tensor) -> Tensor:
    """Return features of edges, followed by those of self loops: means of what arrives."""
    others = expand_dims(1.0 - cast(edges.is_loop(), "float32"), -1)
    total = segment_sum(features * others, edges.target, edges.dim_size)
    count = segment_sum(others, edges.target, edges.dim_size)
    return concat([features, total / maximum(count, 1.0)], 0)
