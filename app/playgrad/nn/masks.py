"""Masks of sequences: the steps that layers skip, as padding.

A layer such as `Embedding` or `Masking` attaches a mask to its result. Layers that treat each step
alone pass it on, and recurrent layers use it.
"""

from __future__ import annotations

from playgrad.graph.tensor import Tensor
from playgrad.nn.layer_calls import layers_of


def mask_of(x: Tensor) -> Tensor | None:
    """Return the mask of ``x``, bool (batch, steps), false at the steps to skip; None if none."""
    return layers_of(x.graph).masks.get(x)


def set_mask(x: Tensor, mask: Tensor | None) -> None:
    """Attach ``mask`` to ``x``; None leaves ``x`` as it is."""
    if mask is not None:
        layers_of(x.graph).masks[x] = mask
