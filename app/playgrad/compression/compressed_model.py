"""Models that were made smaller, with the report of what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.compression.report import (
    BytesOf,
    CompressionReport,
    Note,
    compare,
    first_calls,
    make_report,
    signal_to_noise,
    stored_bytes,
)
from playgrad.graph.tensor import Tensor
from playgrad.models.model import Model
from playgrad.networks.structure import Structure
from playgrad.nn.layer import Layer

Array = np.ndarray[Any, Any]
BATCH = 64
"""Samples that a network computes at once for the outputs of its layers."""


@dataclass
class Origin:
    """The model from which a compressed model was made.

    Attributes:
        model: the original. Training it further changes what reports call "before".
        notes: the forms of layers, by name.
        samples: the arrays of inputs with which outputs of layers are compared; empty for none.
        pairs: for layers by name, a tensor of ``reference`` and the one of the compressed model
            that stands for it; None for the outputs of layers of the same name and shape.
        reference: the network with the first of these tensors; None for ``model``.
        bytes_of: the bytes of layers in files.
    """

    model: Model
    notes: Mapping[str, Note] = field(default_factory=dict)
    samples: Sequence[Array] = ()
    pairs: Mapping[str, tuple[Tensor, Tensor]] | None = None
    reference: Any = None
    bytes_of: BytesOf = stored_bytes


class CompressedModel(Model):
    """A model that was made from another one, and needs fewer bytes.

    It is trained, evaluated, saved and exported like any other. A model loaded from its files is a
    plain `Model`, which no longer knows its original.
    """

    origin: Origin

    @classmethod
    def from_structure(cls, structure: Structure, origin: Origin) -> CompressedModel:
        """Return a model with the name and the arguments of ``compile`` of the original."""
        model = cls.__new__(cls)
        model._set_up(structure.graph, structure, origin.model.name)
        model.take_configuration(origin.model)
        model.origin = origin
        return model

    def report(self, test_data: Any = None, training_data: Any = None) -> CompressionReport:
        """Return what the model costs and has lost; ``print`` it for a table.

        Args:
            test_data: ``(x, y)``, samples with which neither model was trained. Losses and metrics
                of both are compared on them.
            training_data: ``(x, y)`` to compare on as well; the report says that it is training
                data.

        Raises:
            GraphError: there is data, but the original is not compiled.
            DataError, ShapeError, DTypeError: the data does not fit.
        """
        origin = self.origin
        comparisons = [
            comparison
            for data, is_training in ((test_data, False), (training_data, True))
            if data is not None
            for comparison in compare(origin.model, self, *_pair(data), is_training)
        ]
        ratios = self._ratios() if len(origin.samples) else {}
        return make_report(origin.model, self, origin.notes, ratios, comparisons, origin.bytes_of)

    def _ratios(self) -> dict[str, float]:
        """Return the signal-to-noise ratios of the layers, in decibels."""
        origin = self.origin
        reference = origin.reference or origin.model
        pairs = _same_names(reference, self) if origin.pairs is None else origin.pairs
        if not pairs:
            return {}
        exact: list[list[Array]] = []
        close: list[list[Array]] = []
        for start in range(0, len(origin.samples[0]), BATCH):
            batch = [array[start : start + BATCH] for array in origin.samples]
            exact.append(_values(reference, [first for first, _ in pairs.values()], batch))
            close.append(_values(self, [second for _, second in pairs.values()], batch))
        return {
            name: signal_to_noise(
                np.concatenate([values[number] for values in exact]),
                np.concatenate([values[number] for values in close]),
            )
            for number, name in enumerate(pairs)
        }

    def _empty(self, layers: list[Layer]) -> Model:
        clone = type(self).__new__(type(self))
        # The tensors of pairs are those of this model.
        clone.origin = Origin(self.origin.model, self.origin.notes, bytes_of=self.origin.bytes_of)
        return clone


def original_of(model: Model) -> Model:
    """Return the model from which ``model`` was made, step by step; ``model`` if it was not."""
    return model.origin.model if isinstance(model, CompressedModel) else model


def _same_names(original: Model, small: Model) -> dict[str, tuple[Tensor, Tensor]]:
    """Return the outputs of layers that both models have under one name, in one shape."""
    calls = first_calls(original)
    return {
        name: (calls[name].outputs[0], call.outputs[0])
        for name, call in first_calls(small).items()
        if name in calls and calls[name].outputs[0].shape == call.outputs[0].shape
    }


def _values(model: Any, tensors: list[Tensor], batch: Sequence[Array]) -> list[Array]:
    feeds = {
        tensor: array.astype(tensor.dtype)
        for tensor, array in zip(model.inputs, batch, strict=True)
    }
    values: list[Array] = model.session.run(tensors, feeds)
    return values


def _pair(data: Any) -> tuple[Any, Any]:
    x, y, *_ = data if isinstance(data, (list, tuple)) and len(data) >= 2 else (data, None)
    return x, y
