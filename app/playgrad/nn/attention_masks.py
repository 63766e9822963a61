"""The masks of attention, combined into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer_checks import LayerChecks
from playgrad.nn.masks import mask_of
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.arrays.transpose import transpose
from playgrad.ops.core.build import constant
from playgrad.ops.elementwise.definitions import cast, logical_not, logical_or, where
from playgrad.ops.reductions.truth import reduce_any

MASKS: Mapping[str, tuple[str, Mapping[int, tuple[int, ...]]]] = {
    "query_mask": ("(batch, to)", {2: (1, 3)}),
    "value_mask": ("(batch, from)", {2: (1, 2)}),
    "key_mask": ("(batch, from)", {2: (1, 2)}),
    "attention_mask": ("(batch, to, from)", {2: (0, 1), 3: (1,), 4: ()}),
}
"""The shape of each mask, and by its rank the axes to insert for (batch, heads, to, from)."""


def combined_mask(layer: LayerChecks, masks: Mapping[str, Tensor]) -> Tensor | None:
    """Return whether all of ``masks`` are true, with axes (batch, heads, to, from).

    Raises:
        ShapeError: a mask has a rank that it must not have.
    """
    result: Tensor | None = None
    for name, mask in masks.items():
        shape, axes_by_rank = MASKS[name]
        if mask.spec.rank not in axes_by_rank:
            raise ShapeError(
                f"the {name} of layer '{layer.name}' must have the shape {shape}, got "
                f"{shape_text(mask.shape)}."
            )
        seen = mask if mask.dtype == "bool" else cast(mask, "bool")
        axes = axes_by_rank[mask.spec.rank]
        seen = expand_dims(seen, axes) if axes else seen
        result = seen if result is None else result & seen
    return result


def equal_if_blind(query: Tensor, key: Tensor, mask: Tensor, causal: bool) -> tuple[Tensor, Tensor]:
    """Return the query and a mask with which queries that see nothing see every key equally.

    Keras without dropout gives them the mean of all values, causal or not: their scores are the
    same number.

    Args:
        query, key: (batch, positions, heads, features).
        mask: where queries see keys, with axes (batch, heads, to, from).
        causal: whether they do not see later ones.
    """
    if causal:
        to, origin = query.shape[1], key.shape[1]
        mask = mask & constant(np.tri(to or 0, origin or 0, dtype=np.bool_))
    blind = logical_not(reduce_any(mask, axis=-1, keepdims=True))
    return where(transpose(blind, (0, 2, 1, 3)), 0.0, query), logical_or(mask, blind)


def with_padding(
    masks: Mapping[str, Tensor], sequences: Sequence[Tensor], padded: Sequence[str]
) -> dict[str, Tensor]:
    """Return ``masks`` and the masks that layers such as `Embedding` attached to ``sequences``.

    Args:
        masks: the masks passed to the call. They replace attached masks of the same name.
        sequences: the query, and optionally the value and the key.
        padded: names of the masks to look for.
    """
    roles = ("query_mask", "value_mask", "key_mask")
    attached = dict(zip(roles, map(mask_of, sequences), strict=False))
    attached.setdefault("value_mask", attached["query_mask"])  # the value defaults to the query
    found = {name: mask for name in padded if (mask := attached.get(name)) is not None}
    return found | dict(masks)
