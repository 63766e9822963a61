"""The block of a transformer that writes a sequence, with or without attention to another one."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any

from playgrad.errors import GraphError, UnsupportedOpError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.attention import MultiHeadAttention, as_floats
from playgrad.nn.attention_masks import MASKS, combined_mask, equal_if_blind, with_padding
from playgrad.nn.masks import mask_of, set_mask
from playgrad.nn.transformer import TransformerEncoder
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.attention import attention_weights, dot_product_attention, weighted_values
from playgrad.ops.random.dropout import dropout
from playgrad.records import LayerRecord

_CROSS_MASKS = {"encoder_padding_mask": "value_mask", "encoder_attention_mask": "attention_mask"}
"""The names in `MASKS` of the masks of the other sequence."""


class TransformerDecoder(TransformerEncoder):
    """A `TransformerEncoder` in which a position attends only to itself and earlier positions.

    The block of GPT. Called on a second sequence as well, the result of an encoder (batch, from,
    ...), it is the decoder of Vaswani et al. 2017: each position then attends to all of that
    sequence, between its attention to its own and the network. Name and arguments are as in
    KerasHub.

    A call takes ``decoder_padding_mask`` (batch, positions) and ``decoder_attention_mask`` (batch,
    positions, positions), and for the second sequence ``encoder_padding_mask`` (batch, from) and
    ``encoder_attention_mask`` (batch, positions, from): true where there is something to see.
    Without padding masks, the masks of the sequences take their place; the result has the mask of
    the first.

    The weights of the attention to the second sequence are named like the others, with ``cross_``
    before: ``cross_query_kernel``, ``cross_gamma``. The first call decides whether there are any.
    """

    kind = "transformer_decoder"
    record = LayerRecord(
        torch="transformer_block",
    )
    is_causal = True

    def __call__(
        self,
        *inputs: Tensor | Sequence[Tensor],
        training: bool | None = None,
        encoder_sequence: Tensor | None = None,
        decoder_padding_mask: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        encoder_padding_mask: Tensor | None = None,
        encoder_attention_mask: Tensor | None = None,
        use_causal_mask: bool = True,
        masks: Sequence[str] = (),
        **options: Any,
    ) -> Tensor:
        """Apply the block to a sequence, and to that of an encoder; see the class."""
        if not use_causal_mask:
            raise UnsupportedOpError(
                f"layer '{self.name}' is causal.",
                source=self.source,
                hint="Use nn.TransformerEncoder where positions see later ones.",
            )
        listed: list[Any] = list(inputs)
        names = list(masks)
        for name, tensor in (
            ("", encoder_sequence),
            ("value_mask", decoder_padding_mask),
            ("attention_mask", decoder_attention_mask),
            ("encoder_padding_mask", encoder_padding_mask),
            ("encoder_attention_mask", encoder_attention_mask),
        ):
            if tensor is not None:
                listed.append(tensor)
                names += [name] if name else []
        return MultiHeadAttention.__call__(self, *listed, training=training, masks=names, **options)

    def build(self, *shapes: Shape, masks: Sequence[str] = (), **options: Any) -> None:
        sequences = shapes[: len(shapes) - len(masks)]
        super().build(sequences[0])
        if len(sequences) == 1:
            return
        if len(sequences) > 2:
            raise UnsupportedOpError(
                f"layer '{self.name}' takes its own sequence and that of an encoder, got "
                f"{len(sequences)} sequences.",
                source=self.source,
            )
        self.expect_rank(sequences[1], 3, "(batch, positions, features)")
        width, other = (self.known(shape, -1) for shape in sequences)
        for role, size in (("query", width), ("key", other), ("value", other)):
            self._add_product(f"cross_{role}", size, self.size_of(role, width))
        self._add_product("cross_output", self.size_of("value", width), width)
        self.add_weight("cross_gamma", (width,), "ones")
        self.add_weight("cross_beta", (width,), "zeros")

    def call(
        self,
        *inputs: Tensor,
        training: bool = False,
        masks: Sequence[str] = (),
        use_causal_mask: bool = False,
        scores: bool = False,
    ) -> Tensor:
        count = len(inputs) - len(masks)
        named = dict(zip(masks, inputs[count:], strict=True))
        own = {name: mask for name, mask in named.items() if name in MASKS}
        cross = {_CROSS_MASKS[name]: named[name] for name in masks if name not in MASKS}
        crosses = "cross_query_kernel" in self.variables
        if crosses != (count == 2) or (cross and not crosses):
            raise GraphError(
                f"layer '{self.name}' {'needs' if crosses else 'was built without'} the sequence "
                "of an encoder.",
                hint="Call a layer always with one sequence, or always with two.",
            )
        if not crosses or scores:
            return super().call(
                inputs[0], *own.values(), training=training, masks=list(own), scores=scores
            )
        x = as_floats(inputs[0])
        self.roles([x.shape])
        normal = self._normalized("attention", x) if self.normalize_first else x
        query, key, value = self.projected(normal)
        seen, seen_there = (
            combined_mask(self, with_padding(given, inputs[:number], ("value_mask",)))
            for number, given in ((1, own), (2, cross))
        )
        causal = True
        if seen is not None and not self.dropout:
            (query, seen), causal = equal_if_blind(query, key, seen, causal), False
        x = self._attended(x, self.attend(query, key, value, 0, training, seen, causal), training)
        x = self._crossed(x, as_floats(inputs[1]), seen_there, training)
        y = self._fed_forward(x, training)
        set_mask(y, mask_of(inputs[0]))
        return y

    def _crossed(self, x: Tensor, other: Tensor, mask: Tensor | None, training: bool) -> Tensor:
        """Return ``x`` plus its attention to the other sequence."""
        self.expect_rank(other.shape, 3, "(batch, positions, features)")
        self.expect_width(other.shape, self.variables["cross_key_kernel"].spec.static_shape[0])
        normal = self._normalized("cross", x) if self.normalize_first else x
        query, key, value = (
            self.project(y, *self.kernel_and_bias(f"cross_{role}"), self.num_heads)
            for role, y in (("query", normal), ("key", other), ("value", other))
        )
        if mask is not None and not self.dropout:
            query, mask = equal_if_blind(query, key, mask, False)
        if training and self.dropout:
            size = self.known(key.shape, -1)
            weights = attention_weights(
                query, key, mask, scale=1 / math.sqrt(size), is_causal=False
            )
            seed = zlib.crc32(f"{self.name}/cross_weights".encode())
            context = weighted_values(dropout(weights, self.dropout, seed=seed), value)
        else:
            context = dot_product_attention(query, key, value, mask)
        joined = reshape(
            context, (-1, self.known(x.shape, 1), self.size_of("value", self.known(x.shape, -1)))
        )
        result = self.combined(joined, *self.kernel_and_bias("cross_output"))
        return self._added("cross", x, result, training)
