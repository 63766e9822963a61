"""Masks of sequences: the steps that layers skip, as padding.

A layer such as `Embedding` or `Masking` attaches a mask to its result. Layers that treat each step
alone pass it on, and recurrent layers use it.
"""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.graph.source import warn_user
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer_calls import layers_of
from playgrad.ops.arrays.shape import expand_dims


def mask_of(x: Tensor) -> Tensor | None:
    """Return the mask of ``x``, bool (batch, steps), false at the steps to skip; None if none."""
    return layers_of(x.graph).masks.get(x)


def set_mask(x: Tensor, mask: Tensor | None) -> None:
    """Attach ``mask`` to ``x``; None leaves ``x`` as it is."""
    if mask is not None:
        layers_of(x.graph).masks[x] = mask


def beside(mask: Tensor, x: Tensor) -> Tensor:
    """Return ``mask`` with dimensions of size 1 for the features of ``x``."""
    while mask.spec.rank < x.spec.rank:
        mask = expand_dims(mask, -1)
    return mask


def warn_of_masked_steps(layer: str | None, x: Tensor, axes: Sequence[int]) -> None:
    """Warn if moments along ``axes`` of ``x`` count steps that its mask skips, as they do in Keras.

    Args:
        layer: the name of the layer that computes them.
    """
    mask = mask_of(x)
    if mask is not None and min(axes) < mask.spec.rank:
        warn_user(
            f"layer '{layer}' got a sequence with a mask, but its moments count masked steps like "
            "the others."
        )
