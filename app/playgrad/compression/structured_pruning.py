"""Structured pruning: networks with fewer units and channels.

The weights of a unit that is removed are removed from its own layer and from all layers that take
its output, so the network needs less arithmetic as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.compression.channels import OUTPUT, Channels
from playgrad.compression.compressed_model import CompressedModel
from playgrad.compression.reduction import kernels_of, origin_of, values_of
from playgrad.compression.report import Note
from playgrad.compression.rewriting import Draft, Rewrite, draft_of
from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.models.model import Model
from playgrad.nn.layer_calls import LayerCall

Array = np.ndarray[Any, Any]


def prune_units(model: Model, sparsity: float) -> CompressedModel:
    """Return a copy of ``model`` without the units of the smallest L2 norm (Li et al. 2017).

    Args:
        sparsity: the share of units or channels of each layer that are removed; one stays at least.

    Raises:
        GraphError: the model is not built or is quantized, its weights are clustered, or no layer
            of it can become narrower.
        DataError: weights are NaN or infinite.
    """
    values_of(model, kernels_of(model))
    draft = draft_of(model)
    channels = Channels(draft)
    removed = _removed_units(channels, sparsity)
    if sparsity and not channels.prunable_groups():
        reasons = "; ".join(f"'{name}' {why}" for name, why in channels.reasons.items())
        raise GraphError(
            f"no layer of '{model.name}' can become narrower: {reasons or 'it has no units'}.",
            source=model.source,
            hint="Prune single weights instead: pg.prune(model, sparsity).",
        )
    rewrite = _Narrowing(draft, channels, removed)
    narrow = rewrite.draft()
    kept_widths = {
        name: Note("float32", f"{why}, so it keeps its width")
        for name, why in channels.reasons.items()
        if why != OUTPUT
    }
    origin = origin_of(model, kept_widths)
    small = CompressedModel.from_structure(narrow.structure, origin)
    small.take_callbacks(model)
    small.session.assign(dict(narrow.values))
    return small


def _removed_units(channels: Channels, sparsity: float) -> set[int]:
    """Return the units to remove: of each group of layers of one width, the smallest ones."""
    removed: set[int] = set()
    for units in channels.prunable_groups():
        norms = np.array([channels.squares[unit] for unit in units])
        count = min(round(sparsity * len(units)), len(units) - 1)
        removed |= {units[i] for i in np.argsort(norms, kind="stable")[:count]}
    return removed


class _Narrowing(Rewrite):
    """A copy without ``removed`` units."""

    def __init__(self, draft: Draft, channels: Channels, removed: set[int]) -> None:
        super().__init__(draft)
        self.channels = channels
        self.removed = removed

    def call(self, call: LayerCall) -> Sequence[Tensor]:
        cuts = self.channels.cuts.get(call.layer)
        if cuts is None or call.layer in self.layers:
            return super().call(call)
        kept = {
            (name, axis): self.channels.kept(units, self.removed)
            for name, axes in cuts.items()
            for axis, units in axes.items()
        }
        layer: Any = self._layer(call.layer)
        width = self.channels.widths.get(call.layer)
        if width is not None:
            units = self.channels.units[call.outputs[0]]
            setattr(layer, width, int(self.channels.kept(units, self.removed).sum()))
        arrays = self.weights(call.layer)
        for (name, axis), mask in kept.items():
            arrays[name] = np.compress(mask, arrays[name], axis=axis)
        result = self.put(layer, [self[tensor] for tensor in call.inputs], arrays)
        for name, variable in call.layer.variables.items():
            self.variables[variable] = self[variable] = layer.variables[name]
        return [result]
