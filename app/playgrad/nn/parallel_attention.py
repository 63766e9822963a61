"""Attention whose heads are sharded."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Unpack

from playgrad.errors import UnsupportedOpError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.attention import MultiHeadAttention, as_floats, in_roles
from playgrad.nn.layer_calls import OnDevices, layers_of
from playgrad.nn.sharded_layer import DividedOptions, ShardedLayer


class ParallelMultiHeadAttention(ShardedLayer, MultiHeadAttention):
    """`MultiHeadAttention` whose heads are divided among devices.

    Shoeybi et al. 2019, *Megatron-LM*. The kernels of query, key and value are split by columns,
    that of the output by rows, so the devices communicate twice: when the inputs are copied, and in
    one all-reduce. Apart from rounding, the result is that of a `MultiHeadAttention` of the same
    name, dropout included. All devices get it.

    Args:
        num_heads: at least one for each device; they are divided as evenly as possible.
        devices: names of the devices, one for each shard of the weights.
        key_dim, dropout, causal, use_bias, kernel_initializer, bias_initializer: as in
            `MultiHeadAttention`.
        kernel_constraint, bias_constraint: as in `MultiHeadAttention`, but not along the axis of
            the heads.
        collective: as in `ColumnParallelDense`.
    """

    kind = "parallel_multi_head_attention"
    uses_mask = False

    def __init__(
        self,
        num_heads: int,
        devices: Sequence[str],
        key_dim: int | None = None,
        dropout: float = 0.0,
        causal: bool = False,
        use_bias: bool = True,
        *,
        collective: str = "auto",
        **options: Unpack[DividedOptions],
    ) -> None:
        super().__init__(
            num_heads, key_dim, dropout=dropout, use_bias=use_bias, causal=causal, **options
        )
        self.divide_among(devices, collective)

    def build(self, *shapes: Shape, masks: Sequence[str] = (), **options: Any) -> None:
        assert self.graph is not None
        shapes = shapes[: len(shapes) - len(masks)]
        width = self.known(shapes[0], -1)
        size = self.head_size(width)
        bounds = [head * size for head in self.bounds(self.num_heads, "heads")]
        for role, shape in self.roles(shapes).items():
            whole = (self.known(shape, -1), bounds[-1])
            self.add_shards(
                f"{role}_kernel",
                whole,
                self.kernel_initializer,
                1,
                bounds,
                self.kernel_constraint_of(role, *whole),
            )
            if self.use_bias:
                self.add_shards(
                    f"{role}_bias",
                    bounds[-1:],
                    self.bias_initializer,
                    0,
                    bounds,
                    self.bias_constraint_of(role, bounds[-1]),
                )
        self.add_shards(
            "output_kernel",
            (bounds[-1], width),
            self.kernel_initializer,
            0,
            bounds,
            self.kernel_constraint_of("output", bounds[-1], width),
        )
        if self.use_bias:
            with self.graph.device(self.devices[0]):
                self.add_weight(
                    "output_bias", (width,), self.bias_initializer, constraint=self.bias_constraint
                )

    def call(
        self,
        *inputs: Tensor,
        training: bool = False,
        masks: Sequence[str] = (),
        use_causal_mask: bool = False,
        scores: bool = False,
    ) -> Tensor:
        graph = inputs[0].graph
        if masks or scores:
            raise UnsupportedOpError(
                f"the sharded layer '{self.name}' takes no masks and returns no scores.",
                source=self.source,
                hint="Use MultiHeadAttention, or use_causal_mask.",
            )
        inputs = tuple(as_floats(x) for x in inputs)
        self.roles([x.shape for x in inputs], "_0")
        copies = {x: self.copies(x) for x in dict.fromkeys(inputs)}
        products = []
        for number, (first, last) in enumerate(pairwise(self.bounds(self.num_heads, "heads"))):
            part = f"_{number}"
            with graph.device(self.devices[number]):
                query, key, value = (
                    self.project(copies[x][number], *self.kernel_and_bias(role, part), last - first)
                    for role, x in in_roles(inputs).items()
                )
                causal = self.causal or use_causal_mask
                context = self.attend(query, key, value, first, training, None, causal)
                kernel = self.variables[f"output_kernel{part}"]
                bias = self.variables.get("output_bias") if number == 0 else None  # added once
                products.append(self.combined(context, kernel, bias))
        sums = self._collectives.all_reduce(products, self.devices)
        layers_of(graph).copies[sums[0]] = OnDevices(tuple(sums), self.devices)
        return sums[0]
