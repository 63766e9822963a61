"""Attention: each position of a sequence attends to the others."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from playgrad.errors import ShapeError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import initializers
from playgrad.nn.layer import Layer
from playgrad.ops.arrays.pad import pad
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.arrays.transpose import transpose
from playgrad.ops.core.build import constant
from playgrad.ops.products.matmul import matmul
from playgrad.ops.random.dropout import dropout
from playgrad.ops.reductions.softmax import softmax
from playgrad.ops.state import Variable

HIDDEN = -1e9
"""Added to the score of a masked position, so that its weight is 0 after softmax."""


T = TypeVar("T")


class MultiHeadAttention(Layer):
    """Multi-head attention: ``softmax(query @ key^T / sqrt(key_dim)) @ value`` for each head.

    Vaswani et al. 2017. The layer is called on a query (batch, to, features), and optionally a
    value (batch, from, ...) and a key (batch, from, ...), in the order of Keras. The value defaults
    to the query, the key to the value. The result is (batch, to, features).

    ``query_kernel``, ``key_kernel`` and ``value_kernel`` are (inputs, num_heads * key_dim): the
    columns of a head are adjacent. ``output_kernel`` is (num_heads * key_dim, features).

    Args:
        num_heads: number of heads.
        key_dim: number of features of one head; None divides those of the query among the heads.
        dropout: the fraction of attention weights set to 0 in a training step.
        causal: whether a position attends only to itself and the positions before it.
        use_bias: whether to add a bias to each of the four products.
        kernel_initializer, bias_initializer: name or `Initializer`.
    """

    kind = "multi_head_attention"

    def __init__(
        self,
        num_heads: int,
        key_dim: int | None = None,
        dropout: float = 0.0,
        causal: bool = False,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.num_heads = self.positive("num_heads", num_heads)
        self.key_dim = None if key_dim is None else self.positive("key_dim", key_dim)
        if not 0.0 <= dropout < 1.0:
            raise ShapeError(f"dropout must be at least 0 and below 1, got {dropout}.")
        self.dropout = float(dropout)
        self.causal = bool(causal)
        self.use_bias = bool(use_bias)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)

    def build(self, *shapes: Shape) -> None:
        width = self.known(shapes[0], -1)
        size = self.num_heads * self.head_size(width)
        for role, shape in self.roles(shapes).items():
            self.add_weight(
                f"{role}_kernel", (self.known(shape, -1), size), self.kernel_initializer
            )
            if self.use_bias:
                self.add_weight(f"{role}_bias", (size,), self.bias_initializer)
        self.add_weight("output_kernel", (size, width), self.kernel_initializer)
        if self.use_bias:
            self.add_weight("output_bias", (width,), self.bias_initializer)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        self.roles([x.shape for x in inputs])
        query, key, value = (
            self.project(x, *self.kernel_and_bias(role), self.num_heads)
            for role, x in in_roles(inputs).items()
        )
        context = self.attend(query, key, value, 0, training)
        return self.combined(context, *self.kernel_and_bias("output"))

    def kernel_and_bias(self, role: str, part: str = "") -> tuple[Variable, Variable | None]:
        """Return the weights of one of the four products; ``part`` is the suffix of their names."""
        return self.variables[f"{role}_kernel{part}"], self.variables.get(f"{role}_bias{part}")

    def roles(self, shapes: Sequence[Shape], part: str = "") -> dict[str, Shape]:
        """Return the shapes of the inputs of query, key and value.

        Raises:
            ShapeError: they are not sequences that fit together and fit the weights.
        """
        if len(shapes) > 3:
            raise ShapeError(
                f"layer '{self.name}' takes a query, a value and a key, got {len(shapes)} tensors."
            )
        for shape in shapes:
            self.expect_rank(shape, 3, "(batch, positions, features)")
            self.known(shape, 1)
        roles = in_roles(shapes)
        keys, values = roles["key"][1], roles["value"][1]
        if keys != values:
            raise ShapeError(
                f"layer '{self.name}' needs as many keys as values, got {keys} and {values}."
            )
        for role, shape in roles.items():
            if f"{role}_kernel{part}" in self.variables:
                kernel = self.variables[f"{role}_kernel{part}"]
                self.expect_width(shape, kernel.spec.static_shape[0])
        return roles

    def head_size(self, width: int) -> int:
        """Return the features of one head, for a query with ``width`` features."""
        if self.key_dim is not None:
            return self.key_dim
        if width % self.num_heads:
            raise ShapeError(
                f"layer '{self.name}' cannot divide {width} features among {self.num_heads} heads.",
                hint="Pass key_dim, the number of features of one head.",
            )
        return width // self.num_heads

    def project(self, x: Tensor, kernel: Tensor, bias: Tensor | None, heads: int) -> Tensor:
        """Return ``x`` (batch, positions, in) as (batch, heads, positions, key_dim)."""
        width, size = kernel.spec.static_shape
        y = matmul(reshape(x, (-1, width)), kernel)
        if bias is not None:
            y = y + bias
        return transpose(
            reshape(y, (-1, self.known(x.shape, 1), heads, size // heads)), (0, 2, 1, 3)
        )

    def attend(
        self, query: Tensor, key: Tensor, value: Tensor, first: int, training: bool
    ) -> Tensor:
        """Return the result of the heads from ``first`` on: (batch, to, heads * key_dim)."""
        _, heads, positions, size = query.shape
        assert heads is not None and positions is not None and size is not None
        scores = matmul(query * (1.0 / float(np.sqrt(size))), key, transpose_b=True)
        if self.causal:
            seen = np.tri(positions, key.shape[2], dtype=np.float32)
            scores = scores + constant((1 - seen) * np.float32(HIDDEN))
        weights = softmax(scores)
        if training and self.dropout:
            weights = self._dropped(weights, heads, first)
        context = transpose(matmul(weights, value), (0, 2, 1, 3))
        return reshape(context, (-1, positions, heads * size))

    def combined(self, context: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
        """Return ``context`` (batch, to, in) times the kernel: (batch, to, features)."""
        size, width = kernel.spec.static_shape
        y = matmul(reshape(context, (-1, size)), kernel)
        if bias is not None:
            y = y + bias
        return reshape(y, (-1, self.known(context.shape, 1), width))

    def _dropped(self, weights: Tensor, heads: int, first: int) -> Tensor:
        seed = zlib.crc32(str(self.name).encode())
        if heads == self.num_heads:
            return dropout(weights, self.dropout, seed=seed)
        # The mask is drawn for all heads, so that sharding them does not change it.
        around = [[0, 0], [first, self.num_heads - first - heads], [0, 0], [0, 0]]
        whole = dropout(pad(weights, around), self.dropout, seed=seed)
        return slice_(whole, [0, first, 0, 0], [-1, heads, -1, -1])


def in_roles(items: Sequence[T]) -> dict[str, T]:
    """Return query, key and value from the arguments of a call: query[, value[, key]]."""
    value = items[min(1, len(items) - 1)]
    return {"query": items[0], "key": items[-1] if len(items) > 2 else value, "value": value}
