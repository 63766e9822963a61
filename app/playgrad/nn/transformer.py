"""Blocks of transformers: attention and a feed-forward network, each with a residual connection."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from playgrad.errors import UnsupportedOpError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import activations, cards
from playgrad.nn.attention import MultiHeadAttention, as_floats
from playgrad.nn.attention_masks import combined_mask, equal_if_blind, with_padding
from playgrad.nn.masks import mask_of, set_mask
from playgrad.ops.products.matmul import matmul
from playgrad.ops.random.dropout import dropout
from playgrad.ops.reductions.layer_normalization import layer_normalization
from playgrad.records import LayerRecord


class TransformerEncoder(MultiHeadAttention):
    """Self-attention and a feed-forward network, as the encoder of Vaswani et al. 2017.

    Inputs (batch, positions, features), result of the same shape. Name and arguments are as in
    KerasHub. A call takes ``padding_mask`` (batch, positions), which is true where there is
    something to see, and ``attention_mask`` (batch, positions, positions). Without a
    ``padding_mask``, the mask of the sequence takes its place; the result has that mask.

    The weights are those of `MultiHeadAttention` with features / num_heads features a head, gamma
    and beta of both normalizations (``attention_gamma``, ``feed_forward_gamma``, ...), and
    ``hidden_kernel`` (features, intermediate_dim) and ``result_kernel`` of the network, with
    biases.

    Args:
        intermediate_dim: units of the hidden layer of the network.
        num_heads: number of heads.
        dropout: the fraction of attention weights, and of the elements of both results before they
            are added to their inputs, set to 0 in a training step.
        activation: the activation of the hidden layer, a name or function.
        layer_norm_epsilon: added to variances.
        kernel_initializer, bias_initializer: name or `Initializer`.
        normalize_first: whether to normalize the inputs of attention and network (as in GPT-2),
            rather than the sums.
    """

    kind = "transformer_encoder"
    record = LayerRecord(
        about="Attention, then a small dense network for each step: a block of a transformer.",
        fields=(cards.count("intermediate_dim", "units"), cards.count("num_heads", "heads")),
        rule="encoder",
        torch="transformer_block",
    )
    is_causal = False
    """True if a position attends only to itself and earlier positions."""

    def __init__(
        self,
        intermediate_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        activation: Any = "relu",
        layer_norm_epsilon: float = 1e-5,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        normalize_first: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_heads,
            dropout=dropout,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            causal=self.is_causal,
            name=name,
        )
        self.intermediate_dim = self.positive("intermediate_dim", intermediate_dim)
        self.activation = activation
        self._activate = activations.get(activation)
        self.layer_norm_epsilon = self.number("layer_norm_epsilon", layer_norm_epsilon, most=1.0)
        self.normalize_first = bool(normalize_first)

    def __call__(
        self,
        *inputs: Tensor | Sequence[Tensor],
        training: bool | None = None,
        padding_mask: Tensor | None = None,
        attention_mask: Tensor | None = None,
        **options: Any,
    ) -> Tensor:
        """Apply the block to a sequence, with masks; see the class."""
        return super().__call__(
            *inputs,
            training=training,
            value_mask=padding_mask,
            attention_mask=attention_mask,
            **options,
        )

    def build(self, *shapes: Shape, masks: Sequence[str] = (), **options: Any) -> None:
        if len(shapes) > 1 + len(masks):
            raise UnsupportedOpError(
                f"layer '{self.name}' attends to its own sequence only.",
                source=self.source,
                hint="Use nn.TransformerDecoder for another one.",
            )
        super().build(*shapes, masks=masks)
        width = self.known(shapes[0], -1)
        for part in ("attention", "feed_forward"):
            self.add_weight(f"{part}_gamma", (width,), "ones")
            self.add_weight(f"{part}_beta", (width,), "zeros")
        self._add_product("hidden", width, self.intermediate_dim)
        self._add_product("result", self.intermediate_dim, width)

    def call(
        self,
        *inputs: Tensor,
        training: bool = False,
        masks: Sequence[str] = (),
        use_causal_mask: bool = False,
        scores: bool = False,
    ) -> Tensor:
        x = as_floats(inputs[0])
        self.roles([x.shape])
        given = dict(zip(masks, inputs[1:], strict=True))
        mask = combined_mask(self, with_padding(given, inputs[:1], ("value_mask",)))
        normal = self._normalized("attention", x) if self.normalize_first else x
        query, key, value = self.projected(normal)
        causal = self.causal or use_causal_mask
        if scores:
            return self.weights_of(query, key, mask, causal, 0, training)
        if mask is not None and not self.dropout:
            (query, mask), causal = equal_if_blind(query, key, mask, causal), False
        context = self.attend(query, key, value, 0, training, mask, causal)
        y = self._after(x, context, training)
        set_mask(y, mask_of(inputs[0]))
        return y

    def next_position(
        self, x: Tensor, keys: Tensor, values: Tensor, position: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Apply the block to one more position; see `MultiHeadAttention.next_position`."""
        x = as_floats(x)
        normal = self._normalized("attention", x) if self.normalize_first else x
        context, key, value = self.context_at(normal, keys, values, position)
        return self._after(x, context, False), key, value

    def _after(self, x: Tensor, context: Tensor, training: bool) -> Tensor:
        """Return the result for inputs ``x`` and the ``context`` of all heads."""
        return self._fed_forward(self._attended(x, context, training), training)

    def _attended(self, x: Tensor, context: Tensor, training: bool) -> Tensor:
        context = self.combined(context, *self.kernel_and_bias("output"))
        return self._added("attention", x, context, training)

    def _fed_forward(self, x: Tensor, training: bool) -> Tensor:
        normal = self._normalized("feed_forward", x) if self.normalize_first else x
        kernel, bias = self.kernel_and_bias("hidden")
        hidden = self._activate(matmul(normal, kernel) + bias)
        result = self.combined(hidden, *self.kernel_and_bias("result"))
        return self._added("feed_forward", x, result, training)

    def _normalized(self, part: str, x: Tensor) -> Tensor:
        gamma, beta = self.variables[f"{part}_gamma"], self.variables[f"{part}_beta"]
        return layer_normalization(x, gamma, beta, self.layer_norm_epsilon)

    def _added(self, part: str, x: Tensor, result: Tensor, training: bool) -> Tensor:
        if training and self.dropout:
            seed = zlib.crc32(f"{self.name}/{part}".encode())
            result = dropout(result, self.dropout, seed=seed)
        total = x + result
        return total if self.normalize_first else self._normalized(part, total)
