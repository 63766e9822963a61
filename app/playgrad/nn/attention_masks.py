"""The masks of attention, combined into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer_checks import LayerChecks
from playgrad.nn.masks import mask_of
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.elementwise.definitions import cast

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


def with_padding(
    masks: Mapping[str, Tensor], sequences: Sequence[Tensor], padded: Sequence[str]
) -> dict[str, Tensor]:
    """Return ``masks`` and those that layers such as `Embedding` attached to ``sequences``.

    Args:
        masks: those that the call was given. They replace attached masks of the same name.
        sequences: the query, and optionally the value and the key.
        padded: names of the masks to look for.
    """
    roles = ("query_mask", "value_mask", "key_mask")
    attached = dict(zip(roles, map(mask_of, sequences), strict=False))
    attached.setdefault("value_mask", attached["query_mask"])  # the value defaults to the query
    found = {name: mask for name in padded if (mask := attached.get(name)) is not None}
    return found | dict(masks)
